//! One process at a time.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use skillfold_core::Error;

use crate::base::Base;
use crate::fault::{Fault, Tried};

/// How long another process may hold a lock. What is done under one takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a wait for a lock sleeps.
const NAP: Duration = Duration::from_millis(5);

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
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if another process holds it for longer, or the file is a link;
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the system could not do it.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        let rule =
            "Another `skillfold` is changing what this one would change; try again when it is done";
        let lock = || -> Tried<Lock> {
            let file = self.dir.open_or_make(OsStr::new(name), 0o600)?;
            let start = Instant::now();
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(Lock { _file: file }),
                    Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                        thread::sleep(NAP);
                    }
                    Err(TryLockError::WouldBlock) => return Err(Fault::Refused(rule)),
                    Err(TryLockError::Error(error)) => return Err(error.into()),
                }
            }
        };
        lock().map_err(|fault| fault.at(&self.shown(Path::new(name))))
    }
}
