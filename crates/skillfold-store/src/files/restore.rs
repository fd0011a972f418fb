//! Restores a file that a write displaced, unless it is the one that was read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};

use crate::files::dir::{Dir, identity};
use crate::files::fault::{CHANGED, WriteFault, WriteResult};
use crate::files::temporary_name::random_name;

/// Prefix of names that are never cleaned up.
pub(crate) const KEPT_PREFIX: &str = ".skillfold-kept-";
pub(crate) const KEPT_ASIDE: &str = "The file changed twice in the meantime; the other content is beside it, in the newest file whose name starts \
     with `.skillfold-kept-`";

/// Removes a file that was renamed aside, if it is still the one that was opened, with the content that was read.
/// Otherwise restores its name.
pub(crate) fn remove_aside(
    dir: &Dir,
    aside: &OsStr,
    name: &OsStr,
    opened: &mut File,
    bytes: &[u8],
) -> WriteResult<()> {
    let removed = is_unchanged(dir, aside, opened, bytes).and_then(|is_unchanged| {
        if is_unchanged {
            dir.remove(aside)?;
        }
        Ok(is_unchanged)
    });
    if let Ok(true) = removed {
        return Ok(());
    }
    restore_name(dir, aside, name)?;
    Err(removed.map_or_else(WriteFault::System, |_| WriteFault::Refused(CHANGED)))
}

/// Renames a temporary file back to `name`, or to a name that is never cleaned up if `name` is taken.
pub(crate) fn restore_name(dir: &Dir, temporary: &OsStr, name: &OsStr) -> WriteResult<()> {
    match dir.rename_no_replace(temporary, name) {
        Ok(()) => Ok(()),
        // Another process removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            dir.rename_no_replace(temporary, &random_name(KEPT_PREFIX))?;
            Err(WriteFault::Refused(KEPT_ASIDE))
        }
    }
}

/// Returns whether `name` is still the opened file with the content that was read; false if it is missing.
pub(crate) fn is_unchanged(
    dir: &Dir,
    name: &OsStr,
    opened: &mut File,
    bytes: &[u8],
) -> io::Result<bool> {
    let found = dir.stat(name)?;
    let opened_identity = identity(&opened.metadata()?);
    Ok(found.is_some_and(|found| found.identity == opened_identity) && has_content(opened, bytes)?)
}

pub(crate) fn has_content(file: &mut File, bytes: &[u8]) -> io::Result<bool> {
    file.rewind()?;
    let mut current = Vec::with_capacity(bytes.len() + 1);
    file.take(bytes.len() as u64 + 1)
        .read_to_end(&mut current)?;
    Ok(current == bytes)
}
