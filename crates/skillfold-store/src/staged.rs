//! A file under a temporary name, whole and on the disk, before it takes the name that it is for.
//!
//! A writer that is killed leaves its temporary file. The next write into the folder removes it, and must not remove
//! the file of a writer that lives. So a writer holds a lock on its temporary file, which the system drops when the
//! process ends, however it ends; a file whose lock is free has no writer. A file that was made and not locked yet
//! looks the same for a moment. Its writer then finds the lock taken, or the name gone once it has the lock, and makes
//! another file.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use crate::dir::{Dir, Identity, Kind, identity};
use crate::fault::{CHANGED, WriteFault, WriteResult};
use crate::restore::{is_still, put_back};

/// How the name of a temporary file starts.
const PREFIX: &str = ".skillfold-write-";

/// How often another writer may take a temporary file for a leftover, each time in the moment before it is locked.
const ATTEMPTS: usize = 64;

/// The rights that a file gets.
#[derive(Debug)]
pub(crate) enum Rights {
    /// 0644 less the umask.
    Ordinary,
    /// 0600.
    Private,
    /// Those of the file that it replaces.
    Kept(Permissions),
}

/// A file under a temporary name in an open folder, which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    /// What goes with the temporary name; anything else under it is somebody's.
    own: Identity,
    has_taken_name: bool,
}

impl<'a> Staged<'a> {
    /// Writes the bytes to the disk under a temporary name, and removes what killed writers left.
    pub(crate) fn write(dir: &'a Dir, bytes: &[u8], rights: &Rights) -> io::Result<Self> {
        remove_leftovers(dir);
        let mut staged = Self::make(dir, rights)?;
        staged.file.write_all(bytes)?;
        match rights {
            Rights::Ordinary => {}
            #[cfg(unix)]
            Rights::Private => staged.file.set_permissions(Permissions::from_mode(0o600))?,
            #[cfg(not(unix))]
            Rights::Private => {}
            Rights::Kept(permissions) => staged.file.set_permissions(permissions.clone())?,
        }
        staged.file.sync_all()?;
        Ok(staged)
    }

    /// Makes a temporary file that no other writer takes for a leftover.
    fn make(dir: &'a Dir, rights: &Rights) -> io::Result<Self> {
        let mode = match rights {
            Rights::Ordinary => 0o644,
            // Private until the content is complete: what it replaces may be.
            Rights::Private | Rights::Kept(_) => 0o600,
        };
        for _ in 0..ATTEMPTS {
            let name = temporary_name();
            let file = match dir.make_file(&name, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let own = identity(&file.metadata()?);
            let is_ours = match file.try_lock() {
                Ok(()) => dir.look(&name)?.is_some_and(|found| found.identity == own),
                Err(TryLockError::WouldBlock) => false,
                // Where this writer gets no lock, no other does.
                Err(TryLockError::Error(_)) => true,
            };
            if is_ours {
                return Ok(Self {
                    dir,
                    name,
                    file,
                    own,
                    has_taken_name: false,
                });
            }
        }
        Err(io::Error::other("the temporary file was removed each time"))
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Takes a name that is free.
    pub(crate) fn take_free_name(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename_to_free(&self.name, name)?;
        self.has_taken_name = true;
        Ok(())
    }

    /// Takes a name from whatever has it.
    pub(crate) fn take_name(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, name)?;
        self.has_taken_name = true;
        Ok(())
    }

    /// Ends an exchange of names: what had the name before goes if it is still the file that was opened, with the content
    /// that was read. Otherwise, and if that cannot be told or brought to the disk, the names change back.
    pub(crate) fn settle(mut self, name: &OsStr, old: &mut File, bytes: &[u8]) -> WriteResult<()> {
        let settled = is_still(self.dir, &self.name, old, bytes).and_then(|is_still| {
            if is_still {
                self.dir.sync()?;
                self.own = identity(&old.metadata()?);
            }
            Ok(is_still)
        });
        if let Ok(true) = settled {
            return Ok(());
        }
        let changed_back = self.dir.exchange(&self.name, name);
        if changed_back.is_err() || !self.has_temporary_name() {
            put_back(self.dir, &self.name, name)?;
        }
        Err(settled.map_or_else(WriteFault::System, |_| WriteFault::Refused(CHANGED)))
    }

    /// Returns whether the temporary name is that of what goes with it.
    fn has_temporary_name(&self) -> bool {
        let found = self.dir.look(&self.name).ok().flatten();
        found.is_some_and(|found| found.identity == self.own)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.has_taken_name && self.has_temporary_name() {
            _ = self.dir.remove(&self.name);
        }
    }
}

/// Removes the temporary files of writers that are dead.
///
/// What cannot be listed, opened, locked or removed stays: it takes room and does no harm, and is no reason not to
/// write.
fn remove_leftovers(dir: &Dir) {
    for name in dir.names(PREFIX).unwrap_or_default() {
        let is_file = |kind| kind == Kind::File;
        let found = dir.look(&name).ok().flatten();
        if !found.is_some_and(|found| is_file(found.kind)) {
            continue;
        }
        if let Ok(file) = dir.open_to_read(&name)
            && file.try_lock().is_ok()
        {
            // The lock is held until the name is gone, so that its writer cannot get the one and see the other.
            _ = dir.remove(&name);
        }
    }
}

/// Returns a name that was not there before.
pub(crate) fn temporary_name() -> OsString {
    random_name(PREFIX)
}

pub(crate) fn random_name(prefix: &str) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    format!("{prefix}{random:016x}").into()
}

pub(crate) fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}
