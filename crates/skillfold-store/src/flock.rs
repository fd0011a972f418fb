//! Waits for locks of files and folders.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::dir::Dir;
use crate::fault::{WriteFault, WriteResult};

/// How long another process may hold a lock. What is done under one takes milliseconds.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// How long a wait for a lock sleeps.
const NAP: Duration = Duration::from_millis(5);

pub(crate) const HELD: &str =
    "Another `skillfold` process holds the lock; try again when it is done";

/// Keeps other writers of ours out of a folder, until its handle is dropped, while names are exchanged in it. Where that
/// cannot be, nobody else's content is lost either: two writers may then leave theirs side by side.
pub(crate) fn keep_out_others(dir: &Dir) {
    if let Some(handle) = dir.handle() {
        _ = wait_for(handle);
    }
}

/// Locks a file, and waits for whoever has it.
pub(crate) fn wait_for(file: &File) -> WriteResult<()> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => thread::sleep(NAP),
            Err(TryLockError::WouldBlock) => return Err(WriteFault::Refused(HELD)),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}
