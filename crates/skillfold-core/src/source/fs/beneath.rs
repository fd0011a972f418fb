//! Opens files below a folder without following links.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

/// Opens read-only, never makes a device the controlling terminal, does not block on a pipe, and is not inherited by
/// child processes.
pub(super) const READ_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
pub(super) const FOLDER_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Opens a path, and retries if interrupted by a signal.
pub(super) fn openat<P: Arg + Copy>(
    folder: impl AsFd,
    path: P,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(&folder, path, flags, mode))
}

/// Stats a path, and retries if interrupted by a signal.
pub(super) fn statat<P: Arg + Copy>(
    folder: impl AsFd,
    path: P,
    flags: AtFlags,
) -> Result<Stat, Errno> {
    retry_on_intr(|| rustix::fs::statat(&folder, path, flags))
}

/// Stats an open file, and retries if interrupted by a signal.
pub(super) fn fstat(open: impl AsFd) -> Result<Stat, Errno> {
    retry_on_intr(|| rustix::fs::fstat(&open))
}

/// Opens only for `fstat`, not for reading.
#[cfg(target_os = "linux")]
pub(super) const STAT_FLAGS: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const STAT_FLAGS: OFlags = READ_FLAGS;

#[cfg(target_os = "linux")]
pub(super) fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match retry_on_intr(|| openat2(folder, path, flags, Mode::empty(), resolve)) {
        // Old kernels lack the call, some sandboxes forbid it, and it refuses long paths.
        Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => open_stepwise(folder, path, flags),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    open_stepwise(folder, path, flags)
}

/// Opens one component after the other; none may be a link.
pub(super) fn open_stepwise(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
) -> io::Result<OwnedFd> {
    let mut components = path.split('/').peekable();
    let mut parent = folder.try_clone_to_owned()?;
    while let Some(component) = components.next() {
        let last = components.peek().is_none();
        let step = if last { flags } else { FOLDER_FLAGS };
        let opened = openat(&parent, component, step | OFlags::NOFOLLOW, Mode::empty());
        // With `O_DIRECTORY`, Linux reports a link as "not a directory"; with `O_PATH`, it opens the link itself.
        let is_link = match &opened {
            Err(Errno::NOTDIR) => is_link(statat(&parent, component, AtFlags::SYMLINK_NOFOLLOW)),
            Ok(handle) if last => is_link(fstat(handle)),
            _ => false,
        };
        if is_link {
            return Err(Errno::LOOP.into());
        }
        parent = opened?;
    }
    Ok(parent)
}

fn is_link(stat: Result<Stat, Errno>) -> bool {
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
}
