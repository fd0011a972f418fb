//! The table of paths that try to leave a skill.

use std::collections::BTreeSet;

use crate::attack::attack_path::{AttackClass, AttackPath, ExpectedOutcome, attacks_of};
use crate::attack::disguise;

/// The links in the attacked skill's `links/` and their targets; `OUTSIDE` is the folder beside the root.
pub(super) const LINKS: [(&str, &str); 24] = [
    ("file", "../../../outside/secret.txt"),
    ("file-absolute", "OUTSIDE/secret.txt"),
    ("folder", "../../../outside"),
    ("folder-absolute", "OUTSIDE"),
    ("nested", "../../../outside/folder"),
    ("sibling", "../../other"),
    ("sibling-file", "../../other/secret.txt"),
    ("prefix", "../../pdf-secret"),
    ("root", "../.."),
    ("skill", ".."),
    ("self", "."),
    ("inside", "../references/forms.md"),
    ("inside-folder", "../references"),
    ("chain", "chain-2"),
    ("chain-2", "chain-3"),
    ("chain-3", "OUTSIDE"),
    ("loop", "loop"),
    ("loop-a", "loop-b"),
    ("loop-b", "loop-a"),
    ("dangling", "../../../outside/none"),
    ("proc-root", "/proc/self/root"),
    ("proc-fd", "/proc/self/fd"),
    ("zero", "/dev/zero"),
    ("slash", "/"),
];

/// The files to reach: in a sibling, in a folder whose name starts like the skill's, in the root, and outside.
const TARGETS: [&str; 4] = [
    "other/secret.txt",
    "pdf-secret/secret.txt",
    "secret.txt",
    "../outside/secret.txt",
];

/// Returns several hundred different attacks.
///
/// They target the skill `pdf` in a hostile tree. Against any other skill they are just as hostile, but lead nowhere.
pub fn attack_paths() -> Vec<AttackPath> {
    let parts = [
        absolute(),
        traversal(),
        disguise::encoded(),
        disguise::look_alike(),
        disguise::invisible(),
        disguise::control(),
        drives(),
        devices(),
        names(),
        expansion(),
        shape(),
        links(),
        special(),
    ];
    let mut seen = BTreeSet::new();
    let attacks = parts.into_iter().flatten();
    attacks
        .filter(|attack| seen.insert(attack.text.clone()))
        .collect()
}

fn absolute() -> Vec<AttackPath> {
    // Written out, a path through `root` would look like one on somebody's machine, so it is assembled here.
    let through_root = |text: &str| text.replace("ROOT", "root");
    let texts = [
        "/",
        "//",
        "///",
        "/.",
        "/..",
        "/etc/passwd",
        "//etc/passwd",
        "/./etc/passwd",
        "/../etc/passwd",
        "/etc/passwd/",
        "/proc/self/ROOT/etc/passwd",
        "/proc/self/cwd/secret.txt",
        "/proc/self/environ",
        "/proc/self/fd/3",
        "/proc/1/ROOT/etc/passwd",
        "/proc/thread-self/ROOT/etc/passwd",
        "/dev/zero",
        "/dev/stdin",
        "/dev/fd/0",
        "/ROOT/.ssh/id_rsa",
        "/SKILL.md",
        "/references/forms.md",
    ];
    let mut attacks = attacks_of(
        AttackClass::Absolute,
        ExpectedOutcome::Refused,
        texts.map(through_root),
    );
    let relative = [
        "proc/self/ROOT/etc/passwd",
        "proc/self/cwd/secret.txt",
        "etc/passwd",
        "dev/zero",
    ];
    attacks.extend(attacks_of(
        AttackClass::Absolute,
        ExpectedOutcome::NotFound,
        relative.map(through_root),
    ));
    attacks
}

fn traversal() -> Vec<AttackPath> {
    let ways = [
        "../",
        "./../",
        ".././",
        "..//",
        "../pdf/../",
        "references/../../",
        "references/./../../",
        "references/forms.md/../../../",
        "none/../../",
        "../../skills/",
        "..\\",
        ".\\..\\",
        "..\\/",
        "../.\\",
        "\\..\\",
        "references\\..\\..\\",
        "references/..\\../",
        "....//",
        "....\\\\",
        "...\\",
        ".../",
        "..../",
        ".. /",
        ". ./",
        ".. ./",
        " ../../",
        "../ /",
        "..;/../",
        "..\\..\\..\\",
        "//../",
    ];
    let mut texts: Vec<String> = ["..", "../", "../..", ".../..", "..\\", "references/.."]
        .map(String::from)
        .into();
    for way in ways {
        texts.extend(TARGETS.map(|target| format!("{way}{target}")));
    }
    let up = |steps: usize| format!("{}etc/passwd", "../".repeat(steps));
    texts.extend((1..=20).map(up));
    texts.push("../pdf/SKILL.md".to_owned());
    let mut attacks = attacks_of(AttackClass::Traversal, ExpectedOutcome::Refused, texts);
    let harmless = [
        "..;/other/secret.txt",
        "..a/other/secret.txt",
        "-secret/secret.txt",
    ];
    attacks.extend(attacks_of(
        AttackClass::Traversal,
        ExpectedOutcome::NotFound,
        harmless,
    ));
    let sibling = [
        "other/secret.txt",
        "other/SKILL.md",
        "pdf-secret/secret.txt",
        "pdf/SKILL.md",
        "secret.txt",
        "outside/secret.txt",
    ];
    attacks.extend(attacks_of(
        AttackClass::Sibling,
        ExpectedOutcome::NotFound,
        sibling,
    ));
    attacks
}

fn drives() -> Vec<AttackPath> {
    let texts = [
        "C:",
        "c:",
        "C:/",
        "C:\\",
        "C:secret.txt",
        "C:/Windows/win.ini",
        "C:\\Windows\\win.ini",
        "/C:/Windows/win.ini",
        "Z:/",
        "\\\\?\\C:\\Windows\\win.ini",
        "\\\\?\\UNC\\server\\share",
        "\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1",
        "\\\\.\\C:",
        "\\\\.\\PhysicalDrive0",
        "\\\\.\\pipe\\x",
        "\\??\\C:\\Windows",
        "\\\\server\\share\\secret.txt",
        "\\\\localhost\\c$\\Windows",
        "//server/share/secret.txt",
        "//?/C:/Windows",
        "//./C:/Windows",
        "\\Windows\\win.ini",
        "\\",
        "references\\forms.md",
    ];
    let mut attacks = attacks_of(AttackClass::Drive, ExpectedOutcome::Refused, texts);
    let streams = [
        ":",
        "a:b",
        "SKILL.md:secret",
        "SKILL.md::$DATA",
        "SKILL.md:Zone.Identifier",
        "references/forms.md::$DATA",
        "references::$INDEX_ALLOCATION/forms.md",
        "references:$I30:$INDEX_ALLOCATION/forms.md",
        ":secret",
    ];
    attacks.extend(attacks_of(
        AttackClass::Stream,
        ExpectedOutcome::Refused,
        streams,
    ));
    attacks
}

fn devices() -> Vec<AttackPath> {
    let mut names: Vec<String> = ["CON", "PRN", "AUX", "NUL", "CLOCK$", "CONIN$", "CONOUT$"]
        .map(String::from)
        .into();
    for port in ["COM", "LPT"] {
        let numbers = "0123456789\u{b9}\u{b2}\u{b3}".chars();
        names.extend(numbers.map(|number| format!("{port}{number}")));
    }
    let texts = names.iter().flat_map(|name| {
        [
            name.clone(),
            format!("{}.txt", name.to_lowercase()),
            format!("references/{name}.tar.gz"),
            format!("{name} .md"),
            format!("{name}/secret.txt"),
        ]
    });
    attacks_of(AttackClass::Device, ExpectedOutcome::Refused, texts)
}

/// Names that some file systems resolve to another file.
fn names() -> Vec<AttackPath> {
    let texts = [
        "SKILL~1.MD",
        "REFERE~1/forms.md",
        "REFERE~1/FORMS~1.MD",
        "PDF-SE~1/secret.txt",
        "SECRET~1.TXT",
        "skill.md",
        "Skill.MD",
        "REFERENCES/forms.md",
        "references/FORMS.md",
        "assets/\u{fc}ber.md",
        "assets/u\u{308}ber.md",
        "assets/\u{dc}ber.md",
        "assets/uber.md",
        "S\u{212a}ILL.md",
        "\u{17f}KILL.md",
        "SK\u{130}LL.md",
        "SK\u{131}LL.md",
        "\u{ff33}\u{ff2b}\u{ff29}\u{ff2c}\u{ff2c}.md",
        "\u{405}KILL.md",
        "re\u{fb00}erences/forms.md",
        ".HFS+ Private Directory Data",
        "references/forms.md/..namedfork/rsrc",
        ".git/config",
        ".g\u{200c}it/config",
    ];
    attacks_of(AttackClass::OtherName, ExpectedOutcome::Inside, texts)
}

fn expansion() -> Vec<AttackPath> {
    let plain = [
        "~",
        "~/.ssh/id_rsa",
        "~root/.ssh/id_rsa",
        "~+",
        "$HOME/.ssh/id_rsa",
        "${HOME}/.ssh/id_rsa",
        "$PWD/secret.txt",
        "%USERPROFILE%/secret.txt",
        "%HOME%",
        "$(cat secret.txt)",
        "`cat secret.txt`",
        "|cat secret.txt",
        ";cat secret.txt",
        "--help",
        "-",
        "*",
        "references/*",
        "SKILL.m?",
        "[S]KILL.md",
        "{SKILL.md,secret.txt}",
        "@secret.txt",
        "<secret.txt",
        "'SKILL.md'",
        "\"SKILL.md\"",
        "SKILL.md?raw=1",
        "SKILL.md#L1",
    ];
    let mut attacks = attacks_of(AttackClass::Expansion, ExpectedOutcome::NotFound, plain);
    let addresses = [
        "file:///etc/passwd",
        "file:secret.txt",
        "file://localhost/etc/passwd",
        "FILE:///etc/passwd",
        "http://127.0.0.1/secret.txt",
        "https://example.com/",
        "data:text/plain,x",
        "skill://other/secret.txt",
        "vscode://file/etc/passwd",
        "jar:file:/x!/y",
    ];
    attacks.extend(attacks_of(
        AttackClass::Expansion,
        ExpectedOutcome::Refused,
        addresses,
    ));
    attacks
}

fn shape() -> Vec<AttackPath> {
    let mut refused: Vec<String> = [
        "",
        ".",
        "./",
        "./SKILL.md",
        "references/",
        "references//forms.md",
        "references/./forms.md",
        "SKILL.md/",
        "SKILL.md.",
        "SKILL.md ",
        "SKILL.md. .",
        " ",
    ]
    .map(String::from)
    .into();
    refused.extend([
        "x".repeat(256),
        format!("references/{}", "x".repeat(4000)),
        "\u{fc}".repeat(128),
        "a/".repeat(16) + "a",
        "a/".repeat(3000) + "a",
        "deep/".repeat(20) + "file.md",
        "x".repeat(1 << 20),
    ]);
    let mut attacks = attacks_of(AttackClass::Shape, ExpectedOutcome::Refused, refused);
    let nothing = [
        "x".repeat(255),
        "a/".repeat(15) + "a",
        format!("{}a", format!("{}/", "x".repeat(255)).repeat(15)),
        "SKILL.md/x".to_owned(),
        " SKILL.md".to_owned(),
        "references/forms.md/x".to_owned(),
    ];
    attacks.extend(attacks_of(
        AttackClass::Shape,
        ExpectedOutcome::NotFound,
        nothing,
    ));
    let own = [
        "references",
        "folder.md",
        "folder.md/inner.md",
        "deep/deep/deep",
    ];
    attacks.extend(attacks_of(AttackClass::Shape, ExpectedOutcome::Inside, own));
    attacks
}

fn links() -> Vec<AttackPath> {
    let mut texts = Vec::new();
    for (name, _) in LINKS {
        texts.push(format!("links/{name}"));
        for below in [
            "secret.txt",
            "SKILL.md",
            "folder/secret.txt",
            "other/secret.txt",
            "etc/passwd",
            "0",
            "links/folder/secret.txt",
        ] {
            texts.push(format!("links/{name}/{below}"));
        }
    }
    let mut attacks = attacks_of(AttackClass::Link, ExpectedOutcome::Refused, texts);
    attacks.extend(attacks_of(
        AttackClass::HardLink,
        ExpectedOutcome::Inside,
        ["shared.txt"],
    ));
    attacks
}

fn special() -> Vec<AttackPath> {
    let mut attacks = attacks_of(
        AttackClass::Special,
        ExpectedOutcome::Refused,
        ["special/socket"],
    );
    // The tree reports which of these could not be created.
    let nodes = ["special/fifo", "special/device"];
    attacks.extend(attacks_of(
        AttackClass::Special,
        ExpectedOutcome::NotFound,
        nodes,
    ));
    attacks.extend(attacks_of(
        AttackClass::Special,
        ExpectedOutcome::Inside,
        ["special/sparse"],
    ));
    let below = ["special/fifo/x", "special/socket/x", "special/device/x"];
    attacks.extend(attacks_of(
        AttackClass::Special,
        ExpectedOutcome::NotFound,
        below,
    ));
    attacks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::attack_paths;

    #[test]
    fn table_has_hundreds_of_different_attacks() {
        let attacks = attack_paths();
        let texts: BTreeSet<&str> = attacks.iter().map(|attack| &*attack.text).collect();
        assert_eq!(texts.len(), attacks.len());
        assert!(texts.len() >= 500, "{}", texts.len());
        let classes: BTreeSet<_> = attacks.iter().map(|attack| attack.class).collect();
        assert_eq!(classes.len(), 16);
    }
}
