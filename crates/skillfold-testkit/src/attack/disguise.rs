//! Paths that turn into `..` only when some layer decodes, folds or cleans them.

use crate::attack::attack_path::{AttackClass, AttackPath, ExpectedOutcome, attacks_of};

/// `..` and `/` percent-encoded once and twice, in overlong UTF-8, and in other notations.
pub(super) fn encoded() -> Vec<AttackPath> {
    let dots = [
        "%2e",
        "%2E",
        "%252e",
        "%25252e",
        "%c0%ae",
        "%c0%2e",
        "%e0%80%ae",
        "%f0%80%80%ae",
        "%uff0e",
        "%u002e",
        "%%32%65",
        "%25%32%65",
        "&#46;",
        "&#x2e;",
        "&period;",
        "=2E",
        "0x2e",
    ];
    let slashes = [
        "/",
        "%2f",
        "%2F",
        "%252f",
        "%5c",
        "%255c",
        "%c0%af",
        "%c0%2f",
        "%e0%80%af",
        "%c1%9c",
        "%u2215",
        "%%32%66",
        "&#47;",
        "&sol;",
        "=2F",
    ];
    let mut texts = Vec::new();
    for dot in dots {
        for slash in slashes {
            texts.push(format!("{dot}{dot}{slash}other{slash}secret.txt"));
        }
        texts.push(format!(".{dot}/other/secret.txt"));
    }
    for slash in &slashes[1..] {
        texts.push(format!("..{slash}other{slash}secret.txt"));
        texts.push(format!("{slash}etc{slash}passwd"));
        texts.push(format!("references{slash}..{slash}..{slash}secret.txt"));
    }
    let mut attacks = attacks_of(AttackClass::Encoded, ExpectedOutcome::NotFound, texts);
    // A name that ends with a dot is refused whatever precedes it.
    let half = dots.map(|dot| format!("{dot}./other/secret.txt"));
    attacks.extend(attacks_of(
        AttackClass::Encoded,
        ExpectedOutcome::Refused,
        half,
    ));
    let escapes = [
        "\\u002e\\u002e/secret.txt",
        "\\x2e\\x2e\\x2fsecret.txt",
        "\\056\\056/x",
    ];
    attacks.extend(attacks_of(
        AttackClass::Encoded,
        ExpectedOutcome::Refused,
        escapes,
    ));
    attacks
}

/// Dots and slashes in other scripts, and those that normalization turns into ASCII.
pub(super) fn look_alike() -> Vec<AttackPath> {
    let dots = [
        "\u{ff0e}\u{ff0e}",
        "\u{2024}\u{2024}",
        "\u{2025}",
        "\u{2026}",
        "\u{fe52}\u{fe52}",
        "\u{fe30}",
        "\u{3002}\u{3002}",
        "\u{ff61}\u{ff61}",
        "\u{b7}\u{b7}",
        "\u{701}\u{702}",
        "\u{a4f8}\u{a4f8}",
        "\u{10a50}\u{10a50}",
        "..",
    ];
    let slashes = [
        "\u{ff0f}", "\u{2215}", "\u{2044}", "\u{29f8}", "\u{2571}", "\u{27cb}", "\u{ff3c}",
        "\u{fe68}", "\u{2216}", "\u{29f5}", "\u{20e5}",
    ];
    let mut texts = Vec::new();
    for dot in dots {
        for slash in slashes {
            texts.push(format!("{dot}{slash}other{slash}secret.txt"));
        }
        if dot != ".." {
            texts.push(format!("{dot}/other/secret.txt"));
            texts.push(format!("references/{dot}/{dot}/secret.txt"));
        }
    }
    texts.extend(slashes.map(|slash| format!("{slash}etc{slash}passwd")));
    attacks_of(AttackClass::LookAlike, ExpectedOutcome::NotFound, texts)
}

/// Invisible characters between dots and next to them.
pub(super) fn invisible() -> Vec<AttackPath> {
    let characters = [
        '\u{ad}',
        '\u{34f}',
        '\u{180e}',
        '\u{200b}',
        '\u{200c}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{202d}',
        '\u{202e}',
        '\u{2060}',
        '\u{2066}',
        '\u{2069}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{e0001}',
        '\u{e002e}',
        '\u{a0}',
        '\u{3000}',
    ];
    let mut attacks = Vec::new();
    for character in characters {
        let between = [
            format!(".{character}./other/secret.txt"),
            format!("{character}../other/secret.txt"),
        ];
        attacks.extend(attacks_of(
            AttackClass::Invisible,
            ExpectedOutcome::Refused,
            between,
        ));
        let beside = [
            format!("..{character}/other/secret.txt"),
            format!("SKILL{character}.md"),
        ];
        attacks.extend(attacks_of(
            AttackClass::Invisible,
            ExpectedOutcome::NotFound,
            beside,
        ));
    }
    attacks
}

/// NUL and all other control characters.
pub(super) fn control() -> Vec<AttackPath> {
    let controls = (0..0x20_u8).chain(0x7f..=0x9f).map(char::from);
    let mut texts: Vec<String> = controls
        .map(|control| format!("references/{control}forms.md"))
        .collect();
    texts.extend(
        [
            "\0",
            "SKILL.md\0",
            "SKILL.md\0.png",
            "references/forms.md\0/../../secret.txt",
            "..\0/secret.txt",
            "../\0",
            "SKILL.md\n",
            "\rSKILL.md",
            "\u{1b}[2Jforms.md",
        ]
        .map(String::from),
    );
    attacks_of(AttackClass::Control, ExpectedOutcome::Refused, texts)
}
