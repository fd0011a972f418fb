//! A skill and an outside folder to swap in races.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::{RaceCounts, SECRET, Swap, write};

/// A root with a skill `pdf`, an outside folder with the same names and some more, and a path for what is swapped in.
/// Removed on drop.
#[derive(Debug)]
pub struct Arena {
    folder: TempDir,
}

impl Arena {
    /// Creates `root/pdf` with `SKILL.md`, `file.txt` and `inner/file.txt`, and the same names containing [`SECRET`] in
    /// `outside` and `outside/skill`.
    ///
    /// # Panics
    ///
    /// Panics if the files cannot be written.
    #[expect(clippy::new_without_default, reason = "it writes files")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let secret_skill = format!("---\nname: pdf\ndescription: {SECRET}\n---\n{SECRET}\n");
        let files = [
            (
                "root/pdf/SKILL.md",
                "---\nname: pdf\ndescription: d\n---\ninside\n",
            ),
            ("root/pdf/file.txt", "inside"),
            ("root/pdf/inner/file.txt", "inside"),
            ("outside/file.txt", SECRET),
            ("outside/inner/file.txt", SECRET),
            ("outside/skill/SKILL.md", &*secret_skill),
            ("outside/skill/inner/file.txt", SECRET),
        ];
        write(
            folder.path(),
            &files.map(|(path, text)| (path.to_owned(), text.to_owned())),
        );
        for folder_name in ["outside", "outside/inner", "outside/skill"] {
            let name = format!("{folder_name}/{SECRET}");
            write(folder.path(), &[(name, SECRET.to_owned())]);
        }
        Self { folder }
    }

    /// Returns a path inside the arena.
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Returns a swap between a path and a link to something outside.
    ///
    /// # Panics
    ///
    /// Panics if `swap` was already called.
    pub fn swap(&self, path: &str, outside: &str) -> Swap {
        let link = self.at("link");
        symlink(self.at(outside), &link).expect("a link can be made");
        Swap::new(self.at(path), link)
    }
}

/// Asserts that a race returned no secret and had both outcomes.
///
/// # Panics
///
/// Panics otherwise.
#[track_caller]
#[expect(clippy::print_stderr, reason = "the counts are the result of a race")]
pub fn expect_no_leak(name: &str, counts: RaceCounts) {
    eprintln!("{name}: {counts}");
    assert_eq!(counts.leaked, 0, "{name}: {counts}");
    assert!(counts.given > 0 && counts.refused > 0, "{name}: {counts}");
}
