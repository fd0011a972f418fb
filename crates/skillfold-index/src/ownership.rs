//! Whose a folder or a file of a cache is.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// Makes the folder for the person alone, where it is not there, and refuses one that others can write to: they could say
/// other things of the person's skills than their files do.
pub(crate) fn make_own(folder: &Path) -> io::Result<()> {
    make(folder)?;
    check_own(folder)
}

/// Refuses a folder that others can write to, and what is none.
pub(crate) fn check_own(folder: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(folder)?;
    if metadata.is_dir() {
        check(&metadata)
    } else {
        Err(refused())
    }
}

/// Refuses what others can write to, and a link.
pub(crate) fn check(metadata: &Metadata) -> io::Result<()> {
    if is_own(metadata) && !metadata.is_symlink() {
        Ok(())
    } else {
        Err(refused())
    }
}

fn refused() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "not owned by the user, or writable by others",
    )
}

#[cfg(unix)]
fn make(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(not(unix))]
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

/// The person's folder for caches is theirs alone by the rights that it inherits.
#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}
