//! Only one run at a time writes to a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, Mode, flock, openat};
use rustix::io::Errno;

use super::folders::{FileNumber, READ, inode_of, is_own, open_again};
use crate::approved_path::OpenedPath;
use crate::error::{RunError, RunErrorKind};
use crate::protected::{Protected, is_grantable};

/// How often to look whether another run has ended.
const POLL: Duration = Duration::from_millis(5);

/// A lock that a run waits for.
struct WantedLock<'a> {
    handle: OwnedFd,
    operation: FlockOperation,
    granted: &'a Path,
}

/// Locks folders for this run alone, and the folders around them against runs that could write to all of them. Waits
/// until it has all locks, or `is_over`.
pub(super) fn lock(
    granted: &[&OpenedPath],
    protected: &Protected,
    is_over: &impl Fn() -> bool,
) -> Result<Vec<OwnedFd>, RunError> {
    let mut locks = Vec::new();
    // In the same order in every run, so that no two wait for each other.
    for (_, wanted) in wanted_locks(granted, protected) {
        // A file system without locks has none to wait for.
        while let Err(Errno::WOULDBLOCK) = flock(&wanted.handle, wanted.operation) {
            if is_over() {
                let path = wanted.granted.display();
                let message = format!("Another run still writes to the folder: `{path}`");
                let hint = "Wait until it has ended, and run it again";
                return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
            }
            thread::sleep(POLL);
        }
        locks.push(wanted.handle);
    }
    Ok(locks)
}

/// Returns each folder once, whatever its names: a second lock would wait for the first.
fn wanted_locks<'a>(
    granted: &[&'a OpenedPath],
    protected: &Protected,
) -> BTreeMap<FileNumber, WantedLock<'a>> {
    let inodes = granted.iter().filter_map(|it| inode_of(it.handle()).ok());
    let own: BTreeSet<FileNumber> = inodes.collect();
    let mut wanted = BTreeMap::new();
    for granted in granted {
        let around: Vec<(&Path, OwnedFd, FileNumber)> = folders_around(&granted.real).collect();
        // The lock on a folder around it that is granted too is enough.
        if around.iter().any(|(.., inode)| own.contains(inode)) {
            continue;
        }
        let exclusive = open_again(granted.handle()).ok();
        let exclusive = exclusive.map(|handle| (handle, FlockOperation::NonBlockingLockExclusive));
        let can_be_granted =
            |folder: &Path| is_grantable(folder) && protected.write_exposes(folder).is_none();
        // Every user can lock what belongs to others, and keep all runs waiting.
        let shared = around
            .into_iter()
            .filter(|(path, handle, _)| can_be_granted(path) && is_own(handle.as_fd()));
        let shared = shared.map(|(_, handle, _)| (handle, FlockOperation::NonBlockingLockShared));
        for (handle, operation) in exclusive.into_iter().chain(shared) {
            let Ok(inode) = inode_of(handle.as_fd()) else {
                continue;
            };
            wanted.entry(inode).or_insert(WantedLock {
                handle,
                operation,
                granted: &granted.path,
            });
        }
    }
    wanted
}

fn folders_around(path: &Path) -> impl Iterator<Item = (&Path, OwnedFd, FileNumber)> {
    path.ancestors().skip(1).filter_map(|folder| {
        let handle = openat(CWD, folder, READ, Mode::empty()).ok()?;
        let inode = inode_of(handle.as_fd()).ok()?;
        Some((folder, handle, inode))
    })
}
