//! An inter-process lock.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

use skillfold_core::Error;

use crate::files::dir::Kind;
use crate::files::fault::{WriteFault, WriteResult};
use crate::files::flock::lock_file;
use crate::files::write_root::WriteRoot;

const NOT_A_LOCK_FILE: &str =
    "The lock's path is a link or not a regular file; remove it and try again";

/// An exclusive lock, released when this is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl WriteRoot {
    /// Takes an exclusive inter-process lock on the file `name`, which is created if missing and never removed. Waits
    /// at most ten seconds.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if another process holds the lock for longer, or `name` is not a
    /// regular file;
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) on an I/O error.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        let lock = || -> WriteResult<Lock> {
            let found = self.dir.stat(OsStr::new(name))?;
            if found.is_some_and(|found| found.kind != Kind::File) {
                return Err(WriteFault::Refused(NOT_A_LOCK_FILE));
            }
            let file = self.dir.open_or_create(OsStr::new(name), 0o600)?;
            lock_file(&file)?;
            Ok(Lock { _file: file })
        };
        lock().map_err(|fault| fault.into_error(&self.full_path(Path::new(name))))
    }
}

#[cfg(test)]
mod tests {
    use skillfold_core::ErrorKind;

    use crate::{Access, WriteRoot};

    #[test]
    fn waiting_for_a_lock_times_out() {
        let folder = tempfile::tempdir().unwrap();
        let base =
            WriteRoot::open_or_create(&folder.path().join("state"), Access::Private).unwrap();
        let lock = base.lock("lock").unwrap();
        let error = base.lock("lock").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert_eq!(error.hint(), crate::files::flock::LOCK_HELD);
        drop(lock);
        base.lock("lock").unwrap();
    }
}
