//! Checks that cache folders and files belong to the user alone.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// Creates a folder for the user alone if it does not exist, and refuses one that others can write to: they could plant
/// cache entries that differ from the user's skills.
pub(crate) fn create_owned_folder(folder: &Path) -> io::Result<()> {
    create_folder(folder)?;
    check_owned_folder(folder)
}

/// Refuses a folder that others can write to, and anything that is not a folder.
pub(crate) fn check_owned_folder(folder: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(folder)?;
    if metadata.is_dir() {
        check_owned(&metadata)
    } else {
        Err(not_owned())
    }
}

/// Refuses a file or folder that belongs to or is writable by others, and a symbolic link.
pub(crate) fn check_owned(metadata: &Metadata) -> io::Result<()> {
    if is_owned(metadata) && !metadata.is_symlink() {
        Ok(())
    } else {
        Err(not_owned())
    }
}

fn not_owned() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "not owned by the user, or writable by others",
    )
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn is_owned(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

/// The user's cache folder is theirs alone by inherited permissions.
#[cfg(not(unix))]
fn is_owned(_: &Metadata) -> bool {
    true
}
