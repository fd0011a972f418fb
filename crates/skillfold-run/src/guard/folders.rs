//! Opens folders by handles, also those that a run closed.

use std::ffi::CStr;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd as _;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat};
use rustix::io::Errno;

use crate::approved_path::device;

/// A device and a number on it.
pub(super) type FileNumber = (u64, u64);

/// Whether a folder is searched before a run or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Before,
    /// The run could close folders and fill them, so all of them are opened, and nothing ends the search.
    After,
}

pub(super) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a folder that a handle refers to.
pub(super) fn open_again(folder: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    openat(folder, c".", READ, Mode::empty())
}

/// Opens a folder inside another one. A link on the way is an error.
pub(super) fn open_inside(folder: BorrowedFd<'_>, inside: &Path) -> Result<OwnedFd, Errno> {
    let mut here = open_again(folder)?;
    for part in inside.components() {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL);
        };
        here = openat(&here, name, READ, Mode::empty())?;
    }
    Ok(here)
}

/// Opens a folder inside another one, and creates what is missing of it.
pub(super) fn make_inside(folder: BorrowedFd<'_>, inside: &Path) -> Result<OwnedFd, Errno> {
    let mut here = open_again(folder)?;
    for part in inside.components() {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL);
        };
        match mkdirat(&here, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        here = openat(&here, name, READ, Mode::empty())?;
    }
    Ok(here)
}

/// Returns whether an open file or folder belongs to the user.
pub(super) fn is_own(handle: BorrowedFd<'_>) -> bool {
    fstat(handle).is_ok_and(|found| is_of_user(&found))
}

fn is_of_user(found: &Stat) -> bool {
    found.st_uid == rustix::process::geteuid().as_raw()
}

/// Gives the owner of a folder all rights to it.
pub(super) fn unlock(folder: BorrowedFd<'_>) -> Result<(), Errno> {
    fchmod(folder, mode(&fstat(folder)?) | Mode::RWXU)
}

/// Opens a folder, also one that its owner may not read, after a run. `None` if the name leads to no folder, or to one
/// of another user that is closed: it is closed to the run too.
pub(super) fn open_folder(
    parent: BorrowedFd<'_>,
    name: &CStr,
    when: When,
) -> Result<Option<OwnedFd>, Errno> {
    match openat(parent, name, READ, Mode::empty()) {
        Ok(folder) => Ok(Some(folder)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(Errno::ACCESS) => open_closed(parent, name, when),
        Err(error) => Err(error),
    }
}

/// The mode is changed through a handle: what has the name by now does not count.
#[cfg(target_os = "linux")]
fn open_closed(parent: BorrowedFd<'_>, name: &CStr, when: When) -> Result<Option<OwnedFd>, Errno> {
    use std::os::fd::AsRawFd as _;
    let reference = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(parent, name, reference, Mode::empty())?;
    let status = fstat(&found)?;
    match (is_own_folder(&status), when) {
        (false, _) => Ok(None),
        (true, When::Before) => Err(Errno::ACCESS),
        (true, When::After) => {
            let reference = format!("/proc/self/fd/{}", found.as_raw_fd());
            rustix::fs::chmod(reference, mode(&status) | Mode::RWXU)?;
            open_again(found.as_fd()).map(Some)
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn open_closed(parent: BorrowedFd<'_>, name: &CStr, when: When) -> Result<Option<OwnedFd>, Errno> {
    let no_links = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let status = rustix::fs::statat(parent, name, no_links)?;
    match (is_own_folder(&status), when) {
        (false, _) => Ok(None),
        (true, When::Before) => Err(Errno::ACCESS),
        (true, When::After) => {
            rustix::fs::chmodat(parent, name, mode(&status) | Mode::RWXU, no_links)?;
            openat(parent, name, READ, Mode::empty()).map(Some)
        }
    }
}

fn is_own_folder(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Directory && is_of_user(found)
}

fn mode(found: &Stat) -> Mode {
    Mode::from_raw_mode(found.st_mode)
}

pub(super) fn inode_of(handle: BorrowedFd<'_>) -> Result<FileNumber, Errno> {
    fstat(handle).map(|found| inode(&found))
}

pub(super) fn inode(found: &Stat) -> FileNumber {
    (device(found.st_dev), found.st_ino)
}
