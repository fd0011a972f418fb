//! One process at a time.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

use skillfold_core::Error;

use crate::dir::Kind;
use crate::fault::{WriteFault, WriteResult};
use crate::flock::wait_for;
use crate::write_root::WriteRoot;

const NO_FILE: &str = "The lock's path is a link or not a regular file; remove it and try again";

/// A lock that is free again when this is dropped, or when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl WriteRoot {
    /// Takes a lock that no other process can have at the same time, on a file of this name, which is made and stays.
    /// Waits for up to ten seconds.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if another process holds it for longer, or something else than a
    /// regular file has the name;
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the system could not do it.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        let lock = || -> WriteResult<Lock> {
            let found = self.dir.look(OsStr::new(name))?;
            if found.is_some_and(|found| found.kind != Kind::File) {
                return Err(WriteFault::Refused(NO_FILE));
            }
            let file = self.dir.open_or_make(OsStr::new(name), 0o600)?;
            wait_for(&file)?;
            Ok(Lock { _file: file })
        };
        lock().map_err(|fault| fault.at(&self.shown(Path::new(name))))
    }
}

#[cfg(test)]
mod tests {
    use skillfold_core::ErrorKind;

    use crate::{Access, WriteRoot};

    #[test]
    fn wait_for_a_lock_ends() {
        let folder = tempfile::tempdir().unwrap();
        let base =
            WriteRoot::open_or_create(&folder.path().join("state"), Access::Private).unwrap();
        let lock = base.lock("lock").unwrap();
        let error = base.lock("lock").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert_eq!(error.hint(), crate::flock::HELD);
        drop(lock);
        base.lock("lock").unwrap();
    }
}
