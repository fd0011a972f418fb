//! Removes skills that were installed from a source.

use skillfold_core::{Error, ErrorKind};
use skillfold_store::SkillFiles;

use super::files::Change;
use super::{Registry, not_installed};
use crate::environment;

const EDITED: &str = "Your edits would be gone; save them, or pass `--discard-edits`";

/// A skill that was removed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemovedSkill {
    /// Its name.
    pub name: String,
    /// Whether its folder was there.
    pub was_installed: bool,
}

impl Registry<'_> {
    /// Removes a skill: its folder, its links in folders of clients, its copy in the vendor folder, and its entries in `skills.toml` and `skills.lock`. The
    /// version that was installed is kept for `rollback`.
    ///
    /// # Errors
    ///
    /// [`NotFound`](skillfold_core::ErrorKind::NotFound) if it is not in the lock; [`Refused`](skillfold_core::ErrorKind::Refused) if
    /// it was edited, unless `discard_edits` is set.
    pub fn remove(&self, name: &str, discard_edits: bool) -> Result<RemovedSkill, Error> {
        let (_held, files) = self.current_files()?;
        let known = files.lock.get(name);
        let named = files
            .wanted
            .iter()
            .find(|(known, _)| known.as_str() == name);
        let named = known.map(|it| &it.name).or(named.map(|(name, _)| name));
        let named = named.ok_or_else(|| not_installed(name))?;
        let place = self.place(name)?;
        let current = place.read()?;
        if let (Some(current), Some(known)) = (&current, known)
            && current.digest() != known.digest
            && !discard_edits
        {
            let message = format!("`{name}` was edited here");
            return Err(Error::new(ErrorKind::Refused, message, EDITED));
        }
        // What is not locked was not installed by us, and stays.
        let staying = current.as_ref().filter(|_| known.is_none());
        let change = Change {
            name: named.clone(),
            place: place.clone(),
            after: staying.map(SkillFiles::digest),
            locked: None,
            wanted: None,
        };
        self.perform(vec![change], || match &current {
            Some(current) if known.is_some() => {
                let reason = format!("Removed from {}", self.lock.display());
                self.store()?
                    .remove(&place, current, &reason, environment::now())
            }
            _ => Ok(()),
        })?;
        if let Some(known) = known {
            let copy = self.vendored(name)?;
            if let Some(files) = copy.read()?.filter(|it| it.digest() == known.digest) {
                self.store()?
                    .remove(&copy, &files, "Removed", environment::now())?;
            }
        }
        Ok(RemovedSkill {
            name: name.to_owned(),
            was_installed: current
                .as_ref()
                .is_some_and(|it: &SkillFiles| !it.is_empty()),
        })
    }
}
