//! Proposes what an author wrote: a folder with a skill, or its `SKILL.md`.

use std::path::Path;

use skillfold_core::catalog::Lookup;
use skillfold_core::source::SKILL_FILE;
use skillfold_core::{Error, ErrorKind};
use skillfold_store::change::{FileEdit, unified};
use skillfold_store::{Author, NewProposal, Preview, SkillFiles, SkillPath, Store, WriteTarget};

use super::MadeProposal;
use crate::author::scaffold::find_problem;
use crate::environment::real_path;
use crate::skills::Skills;

/// Maximum bytes of a `SKILL.md` that is proposed.
const MAX_FILE_BYTES: u64 = 16 << 20;

impl Skills {
    /// Proposes that a skill becomes what is at a path: a folder with all its files, or a file that is its `SKILL.md`. If
    /// there is no skill of that id, it is a new one of the user. A person decides; until then nothing changes.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if there is nothing at the path; [`Invalid`](ErrorKind::Invalid) if it is no skill, or
    /// the same as now.
    pub fn propose_from(
        &self,
        id: &str,
        path: &Path,
        justification: &str,
        evidence: Option<&str>,
        author: Author,
    ) -> Result<MadeProposal, Error> {
        self.check_trust();
        let catalog = self.catalog();
        let is_new = matches!(catalog.resolve(id), Lookup::NotFound);
        let (id, place) = if is_new {
            (id.to_owned(), self.new_place(id)?)
        } else {
            let entry = catalog.resolve_for_user(id)?;
            (entry.id().to_owned(), self.place_of(&entry)?)
        };
        let before = place.read()?.unwrap_or_default();
        let after = self.files_at(path, &before)?;
        let Some(text) = after.get(SKILL_FILE) else {
            let why = format!("It has no `{SKILL_FILE}`");
            return Err(Error::invalid(path.to_string_lossy(), why));
        };
        if is_new && let Some(why) = find_problem(&id, &String::from_utf8_lossy(text)) {
            return Err(Error::invalid(&id, why));
        }
        let diff = unified(&before.edits_to(&after));
        if diff.is_empty() {
            let hint = "Change a copy of the skill, and propose the copy";
            let message = format!("`{id}` would not change");
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        }
        let preview = Preview::of(&place, &diff)?;
        let new = NewProposal {
            skill: &id,
            place: &place,
            diff: &diff,
            author,
            justification,
            evidence,
            checks: &[],
        };
        self.propose(new, &preview, Store::propose)
    }

    /// Returns the files that a skill would have.
    fn files_at(&self, path: &Path, before: &SkillFiles) -> Result<SkillFiles, Error> {
        let named = self.environment().directory().join(path);
        let not_found = || Error::not_found(path.to_string_lossy());
        let path = real_path(&named).ok_or_else(not_found)?;
        if path.is_dir() {
            let files = SkillPath::new(&path, &path)?.read()?;
            return files.ok_or_else(not_found);
        }
        let read = WriteTarget::for_user(&path)?.read(MAX_FILE_BYTES)?;
        let new = read.ok_or_else(not_found)?.bytes().to_vec();
        let file = SKILL_FILE
            .parse()
            .map_err(|_| Error::not_found(SKILL_FILE))?;
        let old = before.get(SKILL_FILE).map(<[u8]>::to_vec);
        Ok(before.edited(&[FileEdit::new(file, old, Some(new))]))
    }
}
