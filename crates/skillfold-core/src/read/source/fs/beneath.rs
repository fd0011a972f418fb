//! Opens files below a folder without following a link.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

/// A device is not opened for writing or as a terminal, a pipe does not wait for its other end, a child inherits nothing.
pub(super) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Opens a path; a signal that comes meanwhile is no fault.
pub(super) fn openat<P: Arg + Copy>(
    folder: impl AsFd,
    path: P,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(&folder, path, flags, mode))
}

/// Looks at a path, likewise.
pub(super) fn statat<P: Arg + Copy>(
    folder: impl AsFd,
    path: P,
    flags: AtFlags,
) -> Result<Stat, Errno> {
    retry_on_intr(|| rustix::fs::statat(&folder, path, flags))
}

/// Looks at what is open, likewise.
pub(super) fn fstat(open: impl AsFd) -> Result<Stat, Errno> {
    retry_on_intr(|| rustix::fs::fstat(&open))
}

/// Opens to look at, not to read.
#[cfg(target_os = "linux")]
pub(super) const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const LOOK: OFlags = READ;

#[cfg(target_os = "linux")]
pub(super) fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match retry_on_intr(|| openat2(folder, path, flags, Mode::empty(), resolve)) {
        // Old kernels lack the call, and some sandboxes forbid it; a long path fits step by step.
        Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => walk(folder, path, flags),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    walk(folder, path, flags)
}

/// Opens one component after the other, none of which may be a link.
pub(super) fn walk(folder: BorrowedFd<'_>, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    let mut components = path.split('/').peekable();
    let mut parent = folder.try_clone_to_owned()?;
    while let Some(component) = components.next() {
        let last = components.peek().is_none();
        let step = if last { flags } else { FOLDER };
        let opened = openat(&parent, component, step | OFlags::NOFOLLOW, Mode::empty());
        // Asked for a folder, Linux calls a link no folder; opened only to look at, a link opens as itself.
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

fn is_link(looked_at: Result<Stat, Errno>) -> bool {
    looked_at.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
}
