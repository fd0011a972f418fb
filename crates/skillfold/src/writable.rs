//! A file that is changed: the person's own, or one of a project, which may come from anyone.

use std::path::{Path, PathBuf};

use skillfold_core::{Error, ErrorKind};
use skillfold_store::{Access, Lock, ReadFile, WriteRoot};

use crate::environment::Environment;

/// The name of the lock on what this program keeps for the person.
const LOCK: &str = "lock";

/// A file below a folder that is trusted.
#[derive(Clone, Debug)]
pub(crate) struct Writable {
    base: PathBuf,
    file: PathBuf,
    owner: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Person,
    Project,
}

impl Writable {
    /// Names a file of the person. The folder that it stands in is trusted: its links are the person's.
    pub(crate) fn of_person(path: &Path) -> Result<Self, Error> {
        let (Some(base), Some(file)) = (path.parent(), path.file_name()) else {
            let rule = "A path ends in the name of a file";
            return Err(Error::refused_write(path.to_string_lossy(), rule));
        };
        Ok(Self {
            base: base.to_owned(),
            file: file.into(),
            owner: Owner::Person,
        })
    }

    /// Names a file in a folder. No link below the folder is followed.
    pub(crate) fn below(base: &Path, path: &Path) -> Result<Self, Error> {
        let Ok(file) = path.strip_prefix(base) else {
            let rule = "It leaves the folder that may be written";
            return Err(Error::refused_write(path.to_string_lossy(), rule));
        };
        Ok(Self {
            base: base.to_owned(),
            file: file.to_owned(),
            owner: Owner::Project,
        })
    }

    /// Reads the file, if it is there.
    pub(crate) fn read(&self, limit: u64) -> Result<Option<ReadFile>, Error> {
        match WriteRoot::open(&self.base) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            base => base?.read(&self.file, limit),
        }
    }

    /// Returns the text of what was read.
    pub(crate) fn text<'e>(
        &self,
        existing: Option<&'e ReadFile>,
    ) -> Result<Option<&'e str>, Error> {
        let text = existing.map(|existing| str::from_utf8(existing.bytes()));
        text.transpose().map_err(|error| {
            let path = self.base.join(&self.file);
            Error::invalid(path.to_string_lossy(), error.to_string())
        })
    }

    /// Writes the file in the place of what was read of it, or makes it where nothing was.
    pub(crate) fn write(
        &self,
        old: Option<&ReadFile>,
        bytes: &[u8],
        access: Access,
    ) -> Result<(), Error> {
        let base = match self.owner {
            Owner::Person => WriteRoot::open_or_create(&self.base, access)?,
            Owner::Project => WriteRoot::open(&self.base)?,
        };
        match old {
            Some(old) => base.replace(&self.file, old, bytes, access),
            None => base.create(&self.file, bytes, access),
        }
    }

    /// Removes the file, if it is still what was read of it.
    #[cfg(feature = "setup")]
    pub(crate) fn remove(&self, old: &ReadFile) -> Result<(), Error> {
        WriteRoot::open(&self.base)?.remove(&self.file, old)
    }
}

/// Takes the lock under which every file of ours is read, changed and written, so that no change is lost.
///
/// It is in the person's state. Where that cannot be written there is none, and of two changes at once the second is
/// refused, as the file changed meanwhile.
pub(crate) fn lock(environment: &Environment) -> Result<Option<Lock>, Error> {
    let Some(state) = environment.state() else {
        return Ok(None);
    };
    let locked =
        WriteRoot::open_or_create(&state, Access::Ordinary).and_then(|base| base.lock(LOCK));
    match locked {
        Err(error) if error.kind() == ErrorKind::Unwritable => Ok(None),
        locked => locked.map(Some),
    }
}
