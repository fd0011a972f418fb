//! A tree that would lead a careless reader out of the skill.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::attack::attack_path::{
    ATTACKED_SKILL, AttackClass, AttackPath, ExpectedOutcome, SECRET, SHARED, attacks_of,
};
use crate::attack::paths::{LINKS, attack_paths};

/// A root with a skill full of traps, a sibling, and secrets around it. Removed on drop.
#[derive(Debug)]
pub struct HostileTree {
    folder: TempDir,
    skipped: Vec<&'static str>,
}

impl HostileTree {
    /// Returns the skills folder: `pdf`, which is attacked, `pdf-secret` and `other`.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("skills")
    }

    /// Returns the folder beside the root, where everything is secret.
    pub fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Returns the traps that could not be created on this system.
    pub fn skipped(&self) -> &[&'static str] {
        &self.skipped
    }

    /// Returns all attacks, including those that name this tree's secrets by absolute path.
    pub fn attacks(&self) -> Vec<AttackPath> {
        let mut attacks = attack_paths();
        let secrets = [
            self.outside().join("secret.txt"),
            self.root().join("other/secret.txt"),
        ];
        for secret in secrets {
            let path = secret.to_string_lossy();
            let up = "../".repeat(8);
            let texts = [path.to_string(), format!("/{path}"), format!("{up}{path}")];
            attacks.extend(attacks_of(
                AttackClass::Absolute,
                ExpectedOutcome::Refused,
                texts,
            ));
            let magic = format!("links/proc-root{path}");
            attacks.extend(attacks_of(
                AttackClass::Link,
                ExpectedOutcome::Refused,
                [magic],
            ));
        }
        attacks
    }
}

/// Creates a hostile tree in a temporary folder.
///
/// # Panics
///
/// Panics if a trap that every system allows cannot be created.
pub fn hostile_tree() -> HostileTree {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let base = folder.path();
    write_files(base);
    let skill = base.join("skills").join(ATTACKED_SKILL);
    create_links(base, &skill);
    let skipped = create_special_files(&skill);
    HostileTree { folder, skipped }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests choose where fixtures are written"
)]
fn write_files(base: &Path) {
    let manifest = |name: &str, body: &str| {
        format!("---\nname: {name}\ndescription: Fills in forms\n---\n{body}\n")
    };
    let files = [
        (
            "skills/pdf/SKILL.md",
            manifest(ATTACKED_SKILL, "Fill in the form."),
        ),
        ("skills/pdf/references/forms.md", "Forms\n".to_owned()),
        ("skills/pdf/scripts/run.py", "print()\n".to_owned()),
        ("skills/pdf/assets/\u{fc}ber.md", "About\n".to_owned()),
        ("skills/pdf/folder.md/inner.md", "Inner\n".to_owned()),
        ("skills/other/SKILL.md", manifest("other", SECRET)),
        ("skills/other/secret.txt", SECRET.to_owned()),
        ("skills/pdf-secret/SKILL.md", manifest("pdf-secret", SECRET)),
        ("skills/pdf-secret/secret.txt", SECRET.to_owned()),
        ("skills/secret.txt", SECRET.to_owned()),
        ("secret.txt", SECRET.to_owned()),
        ("outside/secret.txt", SECRET.to_owned()),
        ("outside/SKILL.md", manifest("outside", SECRET)),
        ("outside/folder/secret.txt", SECRET.to_owned()),
        ("outside/shared.txt", SHARED.to_owned()),
    ];
    for (path, content) in files {
        let path = base.join(path);
        let parent = path.parent().expect("a file stands in a folder");
        fs::create_dir_all(parent).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }
    let deep = base.join("skills/pdf").join("deep/".repeat(20));
    fs::create_dir_all(&deep).expect("a deep folder can be made");
    fs::write(deep.join("file.md"), "Deep\n").expect("a deep file can be written");
}

/// Creates all kinds of links: to files and folders, absolute and relative, chains, loops, and into `/proc` and `/dev`.
fn create_links(base: &Path, skill: &Path) {
    fs::create_dir(skill.join("links")).expect("a folder can be made");
    let outside = base.join("outside");
    for (name, target) in LINKS {
        let target = match target.strip_prefix("OUTSIDE") {
            Some(rest) => outside.join(rest.trim_start_matches('/')),
            None => PathBuf::from(target),
        };
        symlink(target, skill.join("links").join(name)).expect("a link can be made");
    }
    fs::hard_link(outside.join("shared.txt"), skill.join("shared.txt"))
        .expect("a hard link can be made");
}

/// Creates special files, and a file of one tebibyte. Returns what the system does not allow.
fn create_special_files(skill: &Path) -> Vec<&'static str> {
    let special = skill.join("special");
    fs::create_dir(&special).expect("a folder can be made");
    drop(UnixListener::bind(special.join("socket")).expect("a socket can be made"));
    let mut skipped = create_nodes(&special);
    let sparse = fs::File::create(special.join("sparse")).expect("a file can be made");
    if sparse.set_len(1 << 40).is_err() {
        skipped.push("a file of one tebibyte is too large for this file system");
    }
    skipped
}

#[cfg(not(target_vendor = "apple"))]
fn create_nodes(special: &Path) -> Vec<&'static str> {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, special.join("fifo"), FileType::Fifo, mode, 0).expect("a pipe can be made");
    let (device, zero) = (special.join("device"), makedev(1, 5));
    match mknodat(CWD, device, FileType::CharacterDevice, mode, zero) {
        Ok(()) => Vec::new(),
        Err(_) => vec!["a device needs an administrator"],
    }
}

#[cfg(target_vendor = "apple")]
fn create_nodes(_: &Path) -> Vec<&'static str> {
    vec!["pipes and devices cannot be made without unsafe code here"]
}
