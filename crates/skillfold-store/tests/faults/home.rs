//! A user's home folder with a store, a skill, and a list of trusted folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold_core::Error;
use skillfold_store::{Approval, Author, NewProposal, Proposal, Proposed, SkillPath, Store};
use tempfile::TempDir;

pub(crate) const PDF: &str = "---\nname: pdf\ndescription: Fills in forms\n---\nUse pdftk.\n";

/// Changes one file.
pub(crate) const ONE: &str =
    "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use pdftk.\n+Use qpdf.\n";

/// Changes a file, deletes one, and creates two, one of them in a new folder.
pub(crate) const SEVERAL: &str = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use pdftk.\n+Use qpdf.\n\
     --- a/references/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-Old.\n\
     --- a/references/deep/er/note.md\n+++ b/references/deep/er/note.md\n@@ -1 +1,2 @@\n Note.\n+More.\n\
     --- /dev/null\n+++ b/references/deep/new.md\n@@ -0,0 +1 @@\n+New.\n\
     --- /dev/null\n+++ b/scripts/fill.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo filled\n";

/// Files that `SEVERAL` leaves alone: ordinary ones, hidden ones and a link.
const UNTOUCHED: [(&str, &str); 4] = [
    ("references/other.md", "Other.\n"),
    ("assets/form.txt", "Name: ____\n"),
    (".hidden", "mine"),
    (".git/refs/head", "main"),
];

pub(crate) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_794_900_000)
}

/// Creates a folder in memory if the system supports it: nothing there has to survive, and flushing takes no time.
pub(crate) fn folder() -> TempDir {
    let in_memory = TempDir::new_in("/dev/shm");
    in_memory.or_else(|_| TempDir::new()).unwrap()
}

pub(crate) struct Home(pub(crate) PathBuf);

impl Home {
    /// Opens the store, creating it if missing.
    pub(crate) fn open(&self) -> Result<Store, Error> {
        Store::open(&self.data())
    }

    /// Opens the store without injected faults.
    pub(crate) fn store(&self) -> Store {
        self.open().unwrap()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    /// The list of trusted folders.
    pub(crate) fn list(&self) -> PathBuf {
        self.0.join("state/skillfold/trusted")
    }

    /// The existing skill.
    pub(crate) fn pdf(&self) -> SkillPath {
        let skills = self.0.join("skills");
        SkillPath::new(&skills, &skills.join("pdf")).unwrap()
    }

    /// A skill that does not exist yet, nor does its root.
    pub(crate) fn csv(&self) -> SkillPath {
        let skills = self.0.join("more/skills");
        SkillPath::new(&skills, &skills.join("team/csv")).unwrap()
    }

    /// Writes one of the skill's files.
    pub(crate) fn write(&self, file: &str, content: &str) {
        let file = self.0.join("skills/pdf").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(crate) fn make_skill(&self) {
        self.write("SKILL.md", PDF);
        self.write("references/old.md", "Old.\n");
        self.write("references/deep/er/note.md", "Note.\n");
        for (file, content) in UNTOUCHED {
            self.write(file, content);
        }
        symlink("references/old.md", self.0.join("skills/pdf/.link")).unwrap();
    }

    pub(crate) fn propose(&self, place: &SkillPath, diff: &str) -> Result<Proposed, Error> {
        let new = NewProposal {
            skill: "pdf",
            place,
            diff,
            author: Author::named("claude-code"),
            justification: "pdftk is gone",
            evidence: None,
            checks: &[],
        };
        self.open()?.propose(&new, now())
    }

    /// Returns the pending proposal.
    pub(crate) fn waiting(&self) -> Option<Proposal> {
        let waiting = self.store().proposals().unwrap().waiting.pop();
        waiting.map(|it| it.proposal)
    }
}

pub(crate) fn approve(store: &Store, proposal: &Proposal) -> Result<(), Error> {
    let approval = Approval::at_terminal("anna");
    store
        .approve(proposal.digest, proposal.base, &approval, now())
        .map(|_| ())
}
