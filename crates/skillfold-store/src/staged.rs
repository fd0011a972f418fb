//! A file written and synced under a temporary name before it is renamed to its final one.
//!
//! A writer that is killed leaves its temporary file behind. The next write into the folder removes it, but must not
//! remove the file of a live writer. So each writer holds a lock on its temporary file, which the system releases when
//! the process ends, however it ends: an unlocked file has no writer. A file that was created but is not locked yet
//! looks the same for a moment. Its writer then finds the lock taken, or the name gone once it has the lock, and
//! creates another file.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use crate::dir::{Dir, Identity, Kind, identity};
use crate::fault::{CHANGED, WriteFault, WriteResult};
use crate::restore::{is_unchanged, restore_name};

/// Prefix of temporary file names.
const TEMPORARY_PREFIX: &str = ".skillfold-write-";

/// How often another writer may remove a new temporary file as a leftover, each time just before it is locked.
const MAX_ATTEMPTS: usize = 64;

/// Permissions of the new file.
#[derive(Debug)]
pub(crate) enum FileMode {
    /// 0644 less the umask.
    Ordinary,
    /// 0600.
    Private,
    /// The permissions of the file it replaces.
    Preserved(Permissions),
}

/// A temporary file in an open folder, removed on drop unless persisted.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    /// Identity of the file to remove under the temporary name. Any other file with that name belongs to someone else.
    identity: Identity,
    is_persisted: bool,
}

impl<'a> Staged<'a> {
    /// Writes and syncs `bytes` under a temporary name, after removing what killed writers left.
    pub(crate) fn write(dir: &'a Dir, bytes: &[u8], mode: &FileMode) -> io::Result<Self> {
        remove_leftovers(dir);
        let mut staged = Self::create(dir, mode)?;
        staged.file.write_all(bytes)?;
        match mode {
            FileMode::Ordinary => {}
            #[cfg(unix)]
            FileMode::Private => staged.file.set_permissions(Permissions::from_mode(0o600))?,
            #[cfg(not(unix))]
            FileMode::Private => {}
            FileMode::Preserved(permissions) => staged.file.set_permissions(permissions.clone())?,
        }
        staged.file.sync_all()?;
        Ok(staged)
    }

    /// Creates and locks a temporary file, so that no other writer removes it as a leftover.
    fn create(dir: &'a Dir, mode: &FileMode) -> io::Result<Self> {
        let mode = match mode {
            FileMode::Ordinary => 0o644,
            // Private until the content is complete, since the file it replaces may be private.
            FileMode::Private | FileMode::Preserved(_) => 0o600,
        };
        for _ in 0..MAX_ATTEMPTS {
            let name = temporary_name();
            let file = match dir.create_file(&name, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let identity = identity(&file.metadata()?);
            let is_ours = match file.try_lock() {
                Ok(()) => dir
                    .stat(&name)?
                    .is_some_and(|found| found.identity == identity),
                Err(TryLockError::WouldBlock) => false,
                // If this writer cannot lock, no other writer can either.
                Err(TryLockError::Error(_)) => true,
            };
            if is_ours {
                return Ok(Self {
                    dir,
                    name,
                    file,
                    identity,
                    is_persisted: false,
                });
            }
        }
        Err(io::Error::other("the temporary file was removed each time"))
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Renames the file to `name`. Fails if `name` exists.
    pub(crate) fn persist_new(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename_no_replace(&self.name, name)?;
        self.is_persisted = true;
        Ok(())
    }

    /// Renames the file to `name`, replacing any file of that name.
    pub(crate) fn persist(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, name)?;
        self.is_persisted = true;
        Ok(())
    }

    /// Finishes an exchange of names: removes the old file if it is still the one that was opened, with the content
    /// that was read. Otherwise, and if the check or the sync fails, swaps the names back.
    pub(crate) fn finish_exchange(
        mut self,
        name: &OsStr,
        old: &mut File,
        bytes: &[u8],
    ) -> WriteResult<()> {
        let result = is_unchanged(self.dir, &self.name, old, bytes).and_then(|is_unchanged| {
            if is_unchanged {
                self.dir.sync()?;
                self.identity = identity(&old.metadata()?);
            }
            Ok(is_unchanged)
        });
        if let Ok(true) = result {
            return Ok(());
        }
        let swapped_back = self.dir.exchange(&self.name, name);
        if swapped_back.is_err() || !self.owns_temporary_name() {
            restore_name(self.dir, &self.name, name)?;
        }
        Err(result.map_or_else(WriteFault::System, |_| WriteFault::Refused(CHANGED)))
    }

    /// Returns whether the temporary name still belongs to this file.
    fn owns_temporary_name(&self) -> bool {
        let found = self.dir.stat(&self.name).ok().flatten();
        found.is_some_and(|found| found.identity == self.identity)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_persisted && self.owns_temporary_name() {
            _ = self.dir.remove(&self.name);
        }
    }
}

/// Removes the temporary files of dead writers.
///
/// A file that cannot be listed, opened, locked or removed stays: it only takes up space, which is no reason to fail
/// the write.
fn remove_leftovers(dir: &Dir) {
    for name in dir.names_with_prefix(TEMPORARY_PREFIX).unwrap_or_default() {
        let is_file = |kind| kind == Kind::File;
        let found = dir.stat(&name).ok().flatten();
        if !found.is_some_and(|found| is_file(found.kind)) {
            continue;
        }
        if let Ok(file) = dir.open_read(&name)
            && file.try_lock().is_ok()
        {
            // The lock is held until the name is gone, so that the file's writer cannot lock it and still find the
            // name.
            _ = dir.remove(&name);
        }
    }
}

/// Returns a random temporary name.
pub(crate) fn temporary_name() -> OsString {
    random_name(TEMPORARY_PREFIX)
}

pub(crate) fn random_name(prefix: &str) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    format!("{prefix}{random:016x}").into()
}

pub(crate) fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes()
        .starts_with(TEMPORARY_PREFIX.as_bytes())
}
