//! Waits for file and folder locks.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::files::dir::Dir;
use crate::files::fault::{WriteFault, WriteResult};

/// How long to wait for a lock. Work under a lock takes milliseconds.
const MAX_WAIT: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// How long to sleep between attempts.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) const LOCK_HELD: &str =
    "Another `skillfold` process holds the lock; try again when it is done";

/// Keeps other Skillfold writers out of a folder while names are exchanged in it, until its handle is dropped. Failing
/// to lock loses no content: two writers may then leave their files side by side.
pub(crate) fn try_lock_folder(dir: &Dir) {
    if let Some(handle) = dir.handle() {
        _ = lock_file(handle);
    }
}

/// Locks a file, waiting for the current holder.
pub(crate) fn lock_file(file: &File) -> WriteResult<()> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < MAX_WAIT => {
                thread::sleep(POLL_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => return Err(WriteFault::Refused(LOCK_HELD)),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}
