//! Test fixtures: file trees written as text, the conformance cases for every frontend, attacks and races that must
//! all fail, and tests that are left out where the system refuses the sandbox.

mod attack;
mod case;
mod cost;
pub mod envelope;
mod hidden;
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod race;
mod sandbox;

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod arena;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub use arena::{Arena, expect_no_leak};
pub use attack::{
    ATTACKED_SKILL, AttackClass, AttackPath, ExpectedOutcome, SECRET, SHARED, attack_paths,
    contains_secret,
};
#[cfg(unix)]
pub use attack::{HostileTree, hostile_tree};
pub use case::{Case, Disagreement, disagreements, lay_out};
pub use cost::min_cpu_time;
pub use hidden::{
    CANARY, HIDDEN_ID, HIDING_SETTINGS, VISIBLE_SKILLS, accepted_list, hidden_skills,
    queries_for_hidden,
};
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub use race::{RaceCounts, RaceOutcome, Swap, race_time};
pub use sandbox::is_left_out;

/// Returns a path in the checkout whose tests Cargo runs. Two checkouts may share what was built, so it is not the path that
/// was known to the compiler.
///
/// # Panics
///
/// Panics if Cargo does not run the tests.
#[expect(
    clippy::disallowed_methods,
    reason = "tests read the files of their checkout"
)]
pub fn in_checkout(path: &str) -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo runs the tests");
    let checkout = Path::new(&package)
        .ancestors()
        .find(|folder| folder.join("crates").is_dir())
        .expect("the package is in a checkout");
    checkout.join(path)
}

/// Returns a time long after every file change, so that every revision is settled.
pub fn far_future() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(7_000_000_000)
}

/// Writes the skill `golden` with a hidden file and a version control folder, and returns its digest: SHA-256 over
/// `path NUL sha256 LF` of `.hidden`, `SKILL.md` and `refs/guide.md`, computed by another program.
pub fn write_golden_skill(skills: &Path) -> &'static str {
    let file = |path: &str, content: &str| (format!("golden/{path}"), content.to_owned());
    let head = "---\nname: golden\ndescription: Golden vector\n---\n# Skill\n";
    let files = [
        file("SKILL.md", head),
        file("refs/guide.md", "guide"),
        file(".hidden", "hidden"),
        file(".git/config", "[core]"),
    ];
    write(skills, &files);
    "sha256:c8dcddeff7cdd7a484cbc6456f8ded5e1518a06d4d67c9f7ba74555716fb848f"
}

/// Parses a file tree written as text into paths and contents.
///
/// A line `//- path` starts a file; the lines below it, without the first one's indentation, are its content.
///
/// ```
/// let files = skillfold_testkit::files("
///     //- a/SKILL.md
///     ---
///     name: a
///     ---
/// ");
/// assert_eq!(files, [("a/SKILL.md".to_owned(), "---\nname: a\n---\n".to_owned())]);
/// ```
pub fn files(text: &str) -> Vec<(String, String)> {
    let indent = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .map_or(0, |line| line.len() - line.trim_start().len());
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let line = line.get(indent..).unwrap_or_default();
        if let Some(path) = line.strip_prefix("//- ") {
            files.push((path.trim().to_owned(), String::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.push_str(line);
            content.push('\n');
        }
    }
    // The line that closes the literal does not belong to the last file.
    if let Some((_, content)) = files.last_mut()
        && content.ends_with(
            "

",
        )
    {
        content.pop();
    }
    files
}

/// Writes files below a folder, creating parent folders.
///
/// # Panics
///
/// Panics if a file cannot be written: the test cannot continue without it.
#[expect(
    clippy::disallowed_methods,
    reason = "tests choose where fixtures are written"
)]
pub fn write(root: &Path, files: &[(String, String)]) {
    for (path, content) in files {
        let path = root.join(path);
        let folder = path.parent().expect("a file stands in a folder");
        std::fs::create_dir_all(folder).expect("a fixture's folder can be made");
        std::fs::write(&path, content).expect("a fixture can be written");
    }
}

/// Writes a file tree given as text into a temporary folder.
///
/// # Panics
///
/// Panics if the folder cannot be created.
pub fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write(folder.path(), &files(text));
    folder
}

/// Creates a named pipe.
///
/// # Panics
///
/// Panics if the pipe cannot be created.
#[cfg(unix)]
#[expect(
    clippy::disallowed_methods,
    reason = "`rustix` makes no pipes on Apple systems, the standard library none at all"
)]
pub fn make_pipe(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "a pipe can be made"
    );
}
