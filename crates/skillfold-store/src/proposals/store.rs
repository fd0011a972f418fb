//! The store: a folder with proposals, skill versions and the log of decisions.
//!
//! Each operation logs a start and a finish around one atomic change. A process that dies in between leaves the old or
//! the new state, and the next one to open the store logs which.

use std::path::Path;
use std::time::SystemTime;

use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};

use crate::files::lock::Lock;
use crate::files::skill_files::SkillFiles;
use crate::files::write_root::{Access, WriteRoot};
use crate::proposals::approval::{
    self, Approval, CheckedProofs, PASSPHRASE_FILE, Requirement, new_passphrase,
};
use crate::proposals::contents::Contents;
use crate::proposals::log::{
    self, Allowance, ApprovedBy, Event, Log, LogRecords, Operation, OperationOutcome,
    RecordedApproval, Target,
};

/// The lock file's name in the store's folder.
const LOCK_NAME: &str = "lock";
/// Maximum size of a file changed by an operation.
const MAX_TARGET_BYTES: u64 = 16 << 20;
/// Default number of versions kept per skill.
pub const KEPT_VERSIONS: usize = 50;

/// A user's store.
#[derive(Debug)]
pub struct Store {
    pub(crate) root: WriteRoot,
    pub(crate) requirement: Requirement,
    pub(crate) kept_versions: usize,
}

impl Store {
    /// Opens the store in a folder, creating it if missing. Only the user can access it.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the folder cannot be created.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self {
            root: WriteRoot::open_or_create(folder, Access::Private)?,
            requirement: Requirement::default(),
            kept_versions: KEPT_VERSIONS,
        })
    }

    /// Sets what an approval requires.
    #[must_use]
    pub fn require(mut self, requirement: Requirement) -> Self {
        self.requirement = requirement;
        self
    }

    /// Sets how many versions of each skill are kept, at least one.
    #[must_use]
    pub fn keep_versions(mut self, number: usize) -> Self {
        self.kept_versions = number.max(1);
        self
    }

    /// Reads the log without changing it. Damage is reported in the result.
    pub fn log(&self) -> Result<LogRecords, Error> {
        log::read(&self.root)
    }

    /// Returns a version of a skill; `None` if it is not stored.
    pub fn version(&self, digest: Digest) -> Result<Option<SkillFiles>, Error> {
        self.contents().get_skill(digest)
    }

    pub(crate) fn contents(&self) -> Contents<'_> {
        Contents(&self.root)
    }

    /// Returns whether a passphrase is set.
    pub fn has_passphrase(&self) -> Result<bool, Error> {
        approval::has_passphrase(&self.root)
    }

    /// Sets or changes the passphrase. A change needs the old one.
    pub fn set_passphrase(
        &self,
        new: &str,
        old: Option<&str>,
        now: SystemTime,
    ) -> Result<(), Error> {
        let mut locked = self.write(now)?;
        let path = Path::new(PASSPHRASE_FILE);
        let (old, json) = new_passphrase(&self.root, new, old)?;
        let target = Target::File(self.root.full_path(path));
        let before = old.as_ref().map(|file| Digest::sha256(file.bytes()));
        let after = Some(Digest::sha256(&json));
        let write = || match &old {
            Some(old) => self.root.replace(path, old, &json, Access::Private),
            None => self.root.create(path, &json, Access::Private),
        };
        locked.perform(Operation::SetPassphrase, target, before, after, now, write)
    }

    /// Checks an approval to run a skill. Returns it as logged.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the settings do not accept the approval.
    pub fn check_allowance(
        &self,
        allowance: &Allowance,
        approval: &Approval,
    ) -> Result<RecordedApproval, Error> {
        if approval.how() == ApprovedBy::Client {
            if !self.clients_may_ask()? {
                let rule = "Clients may not ask for permission; allow the skill at a terminal";
                return Err(Error::refused("the run", Refusal::Approval, rule));
            }
            return Ok(approval.recorded());
        }
        let what = allowance.signed_text();
        approval::check(&self.root, approval, self.requirement, &what)
    }

    /// Returns whether the log allows a skill to run. Always true unless a passphrase is required. Then the last
    /// decision about its folder must be this allowance, with the passphrase's signature: a list edited by something
    /// else is not enough, nor is a log that is damaged, forged or from another version.
    ///
    /// # Errors
    ///
    /// Fails if the log or the passphrase's file cannot be read.
    pub fn has_allowance(&self, allowance: &Allowance) -> Result<bool, Error> {
        if self.requirement != Requirement::Passphrase {
            return Ok(true);
        }
        let log = self.log()?;
        if log.damage.is_some() || log.unknown().is_some() {
            return Ok(false);
        }
        let decided = log.done().filter_map(|record| match &record.event {
            Event::Started { operation, .. } => Some(operation),
            _ => None,
        });
        let last = decided.filter(|operation| match operation {
            Operation::Allow { allowance: of, .. } => of.folder == allowance.folder,
            Operation::Disallow { folder } => *folder == allowance.folder,
            _ => false,
        });
        match last.last() {
            Some(Operation::Allow {
                allowance: of,
                approval,
            }) if **of == *allowance => {
                approval::is_proven(&self.root, approval, &allowance.signed_text())
            }
            _ => Ok(false),
        }
    }

    /// Returns whether clients may ask to run a skill, as last decided. They may not if the log is damaged or from a
    /// newer version, or if a passphrase is required.
    pub fn clients_may_ask(&self) -> Result<bool, Error> {
        if self.requirement == Requirement::Passphrase {
            return Ok(false);
        }
        let log = self.log()?;
        let decided = log
            .records
            .iter()
            .rev()
            .find_map(|record| match record.event {
                Event::ClientsMayAsk { allowed, .. } => Some(allowed),
                _ => None,
            });
        Ok(log.damage.is_none() && log.unknown().is_none() && decided == Some(true))
    }

    /// Sets whether clients may ask to run a skill.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the settings do not accept the approval.
    pub fn set_client_approval(
        &self,
        allowed: bool,
        approval: &Approval,
        now: SystemTime,
    ) -> Result<(), Error> {
        let what = approval::clients_may_ask(allowed);
        let approval = approval::check(&self.root, approval, self.requirement, &what)?;
        let event = Event::ClientsMayAsk { allowed, approval };
        self.write(now)?.log.append(event, now)?;
        Ok(())
    }

    /// Checks the proofs of the approvals given since the passphrase was set.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the passphrase is wrong or none is set.
    pub fn check_proofs(&self, passphrase: &str) -> Result<CheckedProofs, Error> {
        approval::check_proofs(&self.root, &self.log()?, passphrase)
    }

    /// Changes a user's file, such as the list of trusted folders, and logs it. `change` writes the file; `after` is
    /// the content it writes, `None` if it removes the file.
    pub fn record_change(
        &self,
        operation: Operation,
        file: &Path,
        after: Option<&[u8]>,
        now: SystemTime,
        change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut locked = self.write(now)?;
        let target = Target::File(file.to_owned());
        let before = locked.settle(&target, None)?;
        let after = after.map(Digest::sha256);
        locked.perform(operation, target, before, after, now, change)
    }

    /// Finishes what another process left unfinished.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn settle(&self, now: SystemTime) -> Result<(), Error> {
        self.write(now).map(drop)
    }

    /// Locks the store, then finishes what another process left unfinished.
    pub(crate) fn write(&self, now: SystemTime) -> Result<LockedStore<'_>, Error> {
        let lock = self.root.lock(LOCK_NAME)?;
        let mut locked = LockedStore {
            store: self,
            log: Log::open(&self.root)?,
            _lock: lock,
        };
        locked.recover(now)?;
        Ok(locked)
    }
}

/// The locked store.
pub(crate) struct LockedStore<'s> {
    pub(crate) store: &'s Store,
    pub(crate) log: Log<'s>,
    _lock: Lock,
}

impl LockedStore<'_> {
    pub(crate) fn contents(&self) -> Contents<'_> {
        Contents(&self.store.root)
    }

    /// Performs an operation that changes more than the log.
    pub(crate) fn perform(
        &mut self,
        operation: Operation,
        target: Target,
        before: Option<Digest>,
        after: Option<Digest>,
        now: SystemTime,
        change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        // If the end of the one before could not be logged, it is now.
        self.finish(false, now)?;
        let started = Event::Started {
            operation,
            target,
            before,
            after,
        };
        self.log.append(started, now)?;
        let changed = change();
        match self.finish(changed.is_ok(), now) {
            Ok(Some(OperationOutcome::Done)) => Ok(()),
            // If this failed, the next one to open the store finds out whether it is done, and logs that.
            _ => changed,
        }
    }

    /// Logs how the last started operation ended, if not logged yet. `is_done` means it succeeded, whatever others
    /// changed since; otherwise the outcome is read from the disk.
    fn finish(
        &mut self,
        is_done: bool,
        now: SystemTime,
    ) -> Result<Option<OperationOutcome>, Error> {
        let Some(record) = self.log.read.unfinished() else {
            return Ok(None);
        };
        let number = record.number;
        let Event::Started {
            target,
            before,
            after,
            ..
        } = &record.event
        else {
            return Ok(None);
        };
        let found = self.settle(target, *before)?;
        if !is_done {
            // The state found may not be on disk yet.
            flush(target)?;
        }
        let outcome = if is_done || found == *after {
            OperationOutcome::Done
        } else if found == *before {
            OperationOutcome::Undone
        } else {
            OperationOutcome::Overtaken
        };
        let event = Event::Finished {
            started: number,
            outcome,
        };
        self.log.append(event, now)?;
        Ok(Some(outcome))
    }

    fn recover(&mut self, now: SystemTime) -> Result<(), Error> {
        self.finish(false, now)?;
        self.restore_proposal()?;
        self.finish_replacing(now)
    }

    /// Cleans up after an operation, and returns its target's digest.
    fn settle(&self, target: &Target, before: Option<Digest>) -> Result<Option<Digest>, Error> {
        match target {
            Target::Skill(place, staging) => {
                let old = || before.map_or(Ok(None), |before| self.contents().get_skill(before));
                place.recover(before, old, staging)
            }
            Target::File(path) => {
                let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                    return Ok(None);
                };
                let Ok(root) = WriteRoot::open_folder(folder) else {
                    return Ok(None);
                };
                let file = root.read(Path::new(name), MAX_TARGET_BYTES)?;
                Ok(file.map(|file| Digest::sha256(file.bytes())))
            }
        }
    }
}

/// Flushes the names changed by an operation.
fn flush(target: &Target) -> Result<(), Error> {
    match target {
        Target::Skill(place, _) => place.flush(),
        Target::File(path) => {
            let folder = path.parent().and_then(|it| WriteRoot::open_folder(it).ok());
            let flushed = folder.map_or(Ok(()), |root| root.dir.sync());
            flushed.map_err(|error| Error::write(path.to_string_lossy(), error))
        }
    }
}
