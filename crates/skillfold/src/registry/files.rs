//! `skills.toml` and `skills.lock` on the disk, changed together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::name::SkillName;
use skillfold_core::text::FormatNumber;
use skillfold_core::{Error, ErrorKind, Refusal};
use skillfold_registry::{LockedSkill, Lockfile, WantedSkill, WantedSkills};
use skillfold_store::{Access, Lock, Proposal, ReadFile, SkillFiles, SkillPath, WriteTarget};

use super::{InstallScope, Registry};
use crate::environment;

/// Maximum size of either file: a million skills.
const MAX_BYTES: u64 = 1 << 30;
/// The folder in the store's folder with a file for each lock that says what is being changed.
const JOURNALS: &str = "installing";
const MAX_JOURNAL_BYTES: u64 = 64 << 20;
/// How often a change is planned again because another process changed the lock.
const MAX_PLANS: usize = 10;
const CHANGING: &str = "Other processes kept changing it; try again";

/// The manifest and the lock as they are.
pub(super) struct Files {
    pub(super) wanted: WantedSkills,
    pub(super) lock: Lockfile,
    wanted_target: WriteTarget,
    lock_target: WriteTarget,
    read_wanted: Option<ReadFile>,
    read_lock: Option<ReadFile>,
}

impl Files {
    fn is_same(&self, other: &Self) -> bool {
        let is_same = |one: &Option<ReadFile>, other: &Option<ReadFile>| {
            one.as_ref().map(ReadFile::bytes) == other.as_ref().map(ReadFile::bytes)
        };
        is_same(&self.read_wanted, &other.read_wanted) && is_same(&self.read_lock, &other.read_lock)
    }

    /// Writes what changed: the manifest first.
    pub(super) fn write(&self) -> Result<(), Error> {
        let texts = [
            (
                &self.wanted_target,
                &self.read_wanted,
                self.wanted.to_text(),
            ),
            (&self.lock_target, &self.read_lock, self.lock.to_text()),
        ];
        for (target, old, text) in texts {
            if old.as_ref().map(ReadFile::bytes) != Some(text.as_bytes()) {
                target.write(old.as_ref(), text.as_bytes(), Access::Ordinary)?;
            }
        }
        Ok(())
    }
}

/// Skills that are being added, updated or removed.
#[derive(Serialize, Deserialize)]
struct Journal {
    format: FormatNumber<1>,
    /// For whoever looks at the file.
    lock: PathBuf,
    changes: Vec<Change>,
}

/// A skill that is being added, updated or removed: what the manifest and the lock say afterwards.
#[derive(Serialize, Deserialize)]
pub(super) struct Change {
    pub(super) name: SkillName,
    pub(super) place: SkillPath,
    /// The skill's digest once it is done; `None` if it is removed.
    pub(super) after: Option<Digest>,
    /// Its entry in the lock; `None` if it is removed.
    pub(super) locked: Option<LockedSkill>,
    /// Its entry in the manifest, if that changes.
    pub(super) wanted: Option<WantedSkill>,
}

/// What a proposal says about the entries of its skill.
#[derive(Serialize, Deserialize)]
struct ProposedEntry {
    locked: LockedSkill,
    wanted: Option<WantedSkill>,
    /// The entry of the lock that it takes the place of.
    replaces: Option<LockedSkill>,
}

impl Change {
    /// Reads the change that a proposal makes once it is approved.
    pub(super) fn of_proposal(proposal: &Proposal) -> Result<Self, Error> {
        let entry = ProposedEntry::of(proposal)?;
        let mut locked = entry.locked;
        locked.time.clone_from(&proposal.time);
        Ok(Self {
            name: locked.name.clone(),
            place: proposal.place.clone(),
            after: proposal.after,
            locked: Some(locked),
            wanted: entry.wanted,
        })
    }
}

impl ProposedEntry {
    fn of(proposal: &Proposal) -> Result<Self, Error> {
        let invalid = || Error::invalid(proposal.name(), "It does not say where the skill is from");
        let entry = proposal.origin.get("entry").ok_or_else(invalid)?;
        serde_json::from_str(entry).map_err(|_| invalid())
    }
}

/// Returns the fields of a proposal for a skill of a lock.
pub(super) fn origin(
    registry: &Registry<'_>,
    files: &Files,
    wanted: Option<&WantedSkill>,
    locked: &LockedSkill,
) -> Result<BTreeMap<String, String>, Error> {
    // The time is that of the proposal, so that the same version proposed again is the same.
    let untimed = |locked: &LockedSkill| {
        let mut untimed = locked.clone();
        untimed.time.clear();
        untimed
    };
    let entry = ProposedEntry {
        locked: untimed(locked),
        wanted: wanted.cloned(),
        replaces: files.lock.get(locked.name.as_str()).map(untimed),
    };
    let entry = serde_json::to_string(&entry)
        .map_err(|error| Error::invalid(locked.name.as_str(), error.to_string()))?;
    let source = format!("{} {}", locked.source, locked.pin);
    let lock = registry.lock.to_str();
    let lock = lock
        .ok_or_else(|| Error::invalid(registry.lock.to_string_lossy(), "Its path is not UTF-8"))?;
    Ok(BTreeMap::from([
        ("source".to_owned(), source),
        ("version".to_owned(), locked.digest.to_string()),
        ("lock".to_owned(), lock.to_owned()),
        ("entry".to_owned(), entry),
    ]))
}

impl Registry<'_> {
    /// Reads the manifest and the lock. One that is not there is empty; one that cannot be read is an error.
    pub(super) fn files(&self) -> Result<Files, Error> {
        let (wanted_target, lock_target) = (self.target(&self.wanted)?, self.target(&self.lock)?);
        let (read_wanted, read_lock) =
            (wanted_target.read(MAX_BYTES)?, lock_target.read(MAX_BYTES)?);
        let wanted = match wanted_target.text(read_wanted.as_ref())? {
            Some(text) => WantedSkills::parse(&self.wanted.to_string_lossy(), text)?,
            None => WantedSkills::default(),
        };
        let lock = match lock_target.text(read_lock.as_ref())? {
            Some(text) => Lockfile::parse(&self.lock.to_string_lossy(), text)?,
            None => Lockfile::default(),
        };
        Ok(Files {
            wanted,
            lock,
            wanted_target,
            lock_target,
            read_wanted,
            read_lock,
        })
    }

    pub(super) fn target(&self, path: &Path) -> Result<WriteTarget, Error> {
        match self.scope {
            InstallScope::Project => WriteTarget::within(&self.base, path),
            InstallScope::User => WriteTarget::for_user(path),
        }
    }

    /// Calls `plan` without the lock, since it may fetch, and then `act` under it, with the same manifest and lock.
    pub(super) fn planned<P, T>(
        &self,
        mut plan: impl FnMut(&Files) -> Result<P, Error>,
        act: impl FnOnce(Files, P) -> Result<T, Error>,
    ) -> Result<T, Error> {
        for _ in 0..MAX_PLANS {
            let files = self.current_files()?.1;
            let planned = plan(&files)?;
            let (_held, now) = self.current_files()?;
            if now.is_same(&files) {
                return act(now, planned);
            }
        }
        let lock = self.lock.to_string_lossy();
        Err(Error::refused(lock, Refusal::Changing, CHANGING))
    }

    /// Finishes what was interrupted and reads the manifest and the lock, which nobody changes while the result is there.
    pub(super) fn current_files(&self) -> Result<(Option<Lock>, Files), Error> {
        let held = self.hold()?;
        self.finish_interrupted()?;
        Ok((held, self.files()?))
    }

    /// Refuses proposals whose entry of the lock is another one now.
    pub(super) fn check_entries(
        &self,
        files: &Files,
        proposals: &[&Proposal],
    ) -> Result<(), Error> {
        for proposal in proposals {
            let proposed = ProposedEntry::of(proposal)?;
            let name = proposed.locked.name.as_str();
            let is_same = match (files.lock.get(name), &proposed.replaces) {
                (Some(now), Some(before)) => now.is_same(before),
                (now, before) => now.is_none() && before.is_none(),
            };
            if !is_same {
                let message = format!(
                    "The entry of `{name}` in `{}` changed since this was proposed",
                    self.lock.display()
                );
                let hint =
                    "Run `skillfold update` again, or `skillfold install` for what is locked now";
                return Err(Error::new(ErrorKind::Refused, message, hint));
            }
        }
        Ok(())
    }

    /// Makes changes: first they are written down, so that another process can finish them; then `act` changes the skills; then
    /// the manifest and the lock follow.
    pub(super) fn perform<T>(
        &self,
        changes: Vec<Change>,
        act: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        // What cannot be read or followed is said before anything is changed.
        self.npx_lock()?;
        let files = self.files()?;
        for change in changes.iter().filter(|it| it.locked.is_some()) {
            let known = files.wanted.get(change.name.as_str());
            if let Some(wanted) = change.wanted.as_ref().or(known) {
                self.check_clients_free(&change.name, &wanted.clients)?;
            }
        }
        let target = self.journal()?;
        let journal = Journal {
            format: FormatNumber::default(),
            lock: self.lock.clone(),
            changes,
        };
        let json = serde_json::to_vec(&journal)
            .map_err(|error| Error::invalid(self.lock.to_string_lossy(), error.to_string()))?;
        let old = target.read(MAX_JOURNAL_BYTES)?;
        target.write(old.as_ref(), &json, Access::Private)?;
        let done = act();
        // Whether it is done is read from the disk, also if something failed on the way.
        self.finish_interrupted()?;
        done
    }

    /// Finishes what another process began: the caller holds the lock.
    pub(super) fn finish_interrupted(&self) -> Result<(), Error> {
        let target = self.journal()?;
        let Some(file) = target.read(MAX_JOURNAL_BYTES)? else {
            return Ok(());
        };
        let path = self.journal_file()?;
        let journal: Journal = serde_json::from_slice(file.bytes()).map_err(|error| {
            let message = format!("Could not read `{}`: {error}", path.display());
            let hint = "Remove the file, and check the skills with `skillfold verify`";
            Error::new(ErrorKind::Invalid, message, hint)
        })?;
        // The store finds out what became of an operation that was interrupted.
        self.store()?.settle(self.skills.now())?;
        let mut done = Vec::new();
        for change in journal.changes {
            let found = change.place.read()?.as_ref().map(SkillFiles::digest);
            if found == change.after {
                done.push(change);
            }
        }
        let followed = if done.is_empty() {
            Ok(())
        } else {
            self.write_entries(&done)?;
            self.follow(&done)
        };
        // What could not follow is said once, and `install` tries it again.
        target.remove(&file)?;
        followed
    }

    /// Writes changes into the manifest and the lock.
    fn write_entries(&self, changes: &[Change]) -> Result<(), Error> {
        let mut files = self.files()?;
        for change in changes {
            if let Some(locked) = &change.locked {
                files.lock.insert(locked.clone());
            } else {
                files.wanted.remove(change.name.as_str());
                files.lock.remove(change.name.as_str());
            }
            if let Some(wanted) = &change.wanted {
                files.wanted.insert(change.name.clone(), wanted.clone());
            }
        }
        // Kept as the base of the next update, also if the skill has local edits.
        self.keep(&files.lock)?;
        files.write()
    }

    /// Brings the folders of clients and the lock of `npx skills` up to date. One failure does not stop the others.
    fn follow(&self, changes: &[Change]) -> Result<(), Error> {
        let files = self.files()?;
        let linked = changes.iter().map(|change| {
            let wanted = files.wanted.get(change.name.as_str());
            match (&change.locked, wanted) {
                (Some(_), Some(wanted)) => self.link_clients(&change.name, &wanted.clients),
                (Some(_), None) => Ok(()),
                (None, _) => self.unlink_clients(&change.name),
            }
        });
        let linked: Vec<Result<(), Error>> = linked.collect();
        self.follow_in_npx_lock(changes)?;
        linked.into_iter().collect()
    }

    /// Tells the store which contents the lock needs.
    pub(super) fn keep(&self, lock: &Lockfile) -> Result<(), Error> {
        let digests: BTreeSet<Digest> = lock.iter().map(|skill| skill.digest).collect();
        self.store()?
            .keep_for(&self.lock, digests, environment::now())
    }

    fn journal(&self) -> Result<WriteTarget, Error> {
        WriteTarget::for_user(&self.journal_file()?)
    }

    /// Returns the file that says what is being changed for this lock.
    fn journal_file(&self) -> Result<PathBuf, Error> {
        let data = self.skills.environment().data_folder();
        let data = data.ok_or_else(|| Error::not_found("home"))?;
        let digest = Digest::sha256(self.lock.as_os_str().as_encoded_bytes()).to_string();
        let name = &digest["sha256:".len()..][..32];
        Ok(data.join(JOURNALS).join(format!("{name}.json")))
    }
}

/// Returns whether a locked skill is what the manifest wants.
pub(super) fn fits(locked: &LockedSkill, wanted: &WantedSkill) -> bool {
    locked.source == wanted.source && locked.version == wanted.version
}
