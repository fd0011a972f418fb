//! Moves aside what a run created, and puts back links that it removed.

use std::ffi::{CStr, OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{readlinkat, symlinkat};
use rustix::io::Errno;

use super::folders::{is_own, make_inside, unlock};

/// Appended to the name of what a run may not create.
const ASIDE: &str = ".removed-by-skillfold";

/// Numbers that are appended before names are drawn: a run could take all of them.
const NUMBERS: std::ops::RangeInclusive<usize> = 2..=9;

/// Names that are drawn.
const DRAWN: usize = 8;

/// Renames something in a folder to what nothing is named, and returns its new name.
pub(super) fn move_aside(parent: BorrowedFd<'_>, name: &CStr) -> Option<OsString> {
    for new in new_names(OsStr::from_bytes(name.to_bytes())) {
        let rename = || rename_to_new(parent, name, &new);
        let renamed = match rename() {
            // The run took away the right to change the folder.
            Err(Errno::ACCESS) if is_own(parent) => unlock(parent).and_then(|()| rename()),
            renamed => renamed,
        };
        match renamed {
            Ok(()) => return Some(new),
            Err(Errno::EXIST | Errno::NAMETOOLONG) => {}
            Err(_) => return None,
        }
    }
    None
}

/// Returns the names to try. The last is short, whatever the old name.
fn new_names(name: &OsStr) -> impl Iterator<Item = OsString> {
    let mut first = name.to_owned();
    first.push(ASIDE);
    let with = move |end: String| {
        let mut new = first.clone();
        new.push(end);
        new
    };
    let drawn = || RandomState::new().hash_one(0);
    let numbers = NUMBERS.map(|number| format!("-{number}"));
    let ends = [String::new()].into_iter().chain(numbers);
    let ends = ends.chain((0..DRAWN).map(move |_| format!("-{:016x}", drawn())));
    let short = std::iter::once_with(move || format!("{:016x}{ASIDE}", drawn()).into());
    ends.map(with).chain(short)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_to_new(parent: BorrowedFd<'_>, name: &CStr, new: &OsStr) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(parent, name, parent, new, RenameFlags::NOREPLACE) {
        // Not every file system can do this.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_if_new(parent, name, new),
        renamed => renamed,
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_to_new(parent: BorrowedFd<'_>, name: &CStr, new: &OsStr) -> Result<(), Errno> {
    rename_if_new(parent, name, new)
}

fn rename_if_new(parent: BorrowedFd<'_>, name: &CStr, new: &OsStr) -> Result<(), Errno> {
    match rustix::fs::statat(parent, new, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(parent, name, parent, new),
        Err(error) => Err(error),
    }
}

/// Creates a link again, with the folders around it. Returns whether it was gone.
pub(super) fn put_back(folder: BorrowedFd<'_>, inside: &Path, target: &OsStr) -> io::Result<bool> {
    let parent = make_inside(folder, inside.parent().unwrap_or(Path::new("")))?;
    let name = inside.file_name().unwrap_or_default();
    match readlinkat(&parent, name, Vec::new()) {
        Ok(found) if found.to_bytes() == target.as_bytes() => Ok(false),
        _ => {
            let create = || symlinkat(target, &parent, name);
            match create() {
                Err(Errno::ACCESS) if is_own(parent.as_fd()) => {
                    unlock(parent.as_fd()).and_then(|()| create())?;
                }
                created => created?,
            }
            Ok(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_some_that_nobody_can_guess() {
        let names = || -> Vec<_> {
            let names = new_names(OsStr::new(".git"));
            names.map(|name| name.into_string().unwrap()).collect()
        };
        let (one, other) = (names(), names());
        assert_eq!(one[0], ".git.removed-by-skillfold");
        assert_eq!(one[1], ".git.removed-by-skillfold-2");
        let differing = one.iter().zip(&other).filter(|(one, other)| one != other);
        assert_eq!(differing.count(), DRAWN + 1);
    }
}
