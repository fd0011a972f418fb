//! One process at a time.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use skillfold_core::Error;

use crate::base::Base;
use crate::dir::Kind;
use crate::fault::{Fault, Tried};

/// How long another process may hold a lock. What is done under one takes milliseconds.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// How long a wait for a lock sleeps.
const NAP: Duration = Duration::from_millis(5);

const HELD: &str =
    "Another `skillfold` is changing what this one would change; try again when it is done";
const NO_FILE: &str =
    "A link, or something else than a file, is where the lock should be; remove it and try again";

/// A lock that is free again when this is dropped, or when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Base {
    /// Takes a lock that no other process can have at the same time, on a file of this name, which is made and stays.
    /// Waits for up to ten seconds.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if another process holds it for longer, or something else than a
    /// regular file has the name;
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the system could not do it.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        let lock = || -> Tried<Lock> {
            let found = self.dir.look(OsStr::new(name))?;
            if found.is_some_and(|found| found.kind != Kind::File) {
                return Err(Fault::Refused(NO_FILE));
            }
            let file = self.dir.open_or_make(OsStr::new(name), 0o600)?;
            let start = Instant::now();
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(Lock { _file: file }),
                    Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                        thread::sleep(NAP);
                    }
                    Err(TryLockError::WouldBlock) => return Err(Fault::Refused(HELD)),
                    Err(TryLockError::Error(error)) => return Err(error.into()),
                }
            }
        };
        lock().map_err(|fault| fault.at(&self.shown(Path::new(name))))
    }
}

#[cfg(test)]
mod tests {
    use skillfold_core::ErrorKind;

    use crate::{Access, Base};

    #[test]
    fn wait_for_a_lock_ends() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::make(&folder.path().join("state"), Access::Private).unwrap();
        let lock = base.lock("lock").unwrap();
        let error = base.lock("lock").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert_eq!(error.hint(), super::HELD);
        drop(lock);
        base.lock("lock").unwrap();
    }
}
