//! A file to write: the user's own, or one in a project, whose content may come from anyone.

use std::path::{Path, PathBuf};

use skillfold_core::{Error, ErrorKind, Refusal};

use crate::files::lock::Lock;
use crate::files::write_root::{Access, ReadFile, WriteRoot};

/// The name of the lock file in the user's state folder.
const LOCK_NAME: &str = "lock";

/// A file to write, relative to a folder whose path is trusted.
#[derive(Clone, Debug)]
pub struct WriteTarget {
    base: PathBuf,
    file: PathBuf,
    owner: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    User,
    Project,
}

impl WriteTarget {
    /// Creates the target for a user's file. Follows links on the way to its folder: they are the user's own.
    pub fn for_user(path: &Path) -> Result<Self, Error> {
        let (Some(base), Some(file)) = (path.parent(), path.file_name()) else {
            let rule = "The path must end with a file name";
            return Err(Error::refused(path.to_string_lossy(), Refusal::Write, rule));
        };
        Ok(Self {
            base: base.to_owned(),
            file: file.into(),
            owner: Owner::User,
        })
    }

    /// Creates the target for a file inside the folder `base`. Links below that folder are not followed.
    pub fn within(base: &Path, path: &Path) -> Result<Self, Error> {
        let Ok(file) = path.strip_prefix(base) else {
            let rule = "It leaves the folder that may be written to";
            return Err(Error::refused(path.to_string_lossy(), Refusal::Write, rule));
        };
        Ok(Self {
            base: base.to_owned(),
            file: file.to_owned(),
            owner: Owner::Project,
        })
    }

    /// Reads the file; `None` if it does not exist.
    pub fn read(&self, limit: u64) -> Result<Option<ReadFile>, Error> {
        match WriteRoot::open(&self.base) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            base => base?.read(&self.file, limit),
        }
    }

    /// Returns a read file as text.
    pub fn text<'f>(&self, file: Option<&'f ReadFile>) -> Result<Option<&'f str>, Error> {
        let text = file.map(|file| str::from_utf8(file.bytes()));
        text.transpose().map_err(|error| {
            let path = self.base.join(&self.file);
            Error::invalid(path.to_string_lossy(), error.to_string())
        })
    }

    /// Replaces the file if it is still what was read, or creates it if it did not exist.
    pub fn write(&self, old: Option<&ReadFile>, bytes: &[u8], access: Access) -> Result<(), Error> {
        let base = match self.owner {
            Owner::User => WriteRoot::open_or_create(&self.base, access)?,
            Owner::Project => WriteRoot::open(&self.base)?,
        };
        match old {
            Some(old) => base.replace(&self.file, old, bytes, access),
            None => base.create(&self.file, bytes, access),
        }
    }

    /// Removes the file if it is still what was read.
    pub fn remove(&self, old: &ReadFile) -> Result<(), Error> {
        WriteRoot::open(&self.base)?.remove(&self.file, old)
    }
}

/// Takes the lock held by every read-modify-write of our files, so that no change is lost.
///
/// The lock is in the user's state folder. If that is missing or not writable there is no lock, and the second of two
/// concurrent changes is refused because the file has changed.
pub fn lock_state(folder: Option<&Path>) -> Result<Option<Lock>, Error> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let locked =
        WriteRoot::open_or_create(folder, Access::Ordinary).and_then(|base| base.lock(LOCK_NAME));
    match locked {
        Err(error) if error.kind() == ErrorKind::Unwritable => Ok(None),
        locked => locked.map(Some),
    }
}
