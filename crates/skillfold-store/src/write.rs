//! One write that is whole or not there.
//!
//! The bytes go into a temporary file beside the target and from there to the disk; only then does the file take the
//! target's name, and the folder goes to the disk too.
//!
//! A writer that is killed leaves its temporary file. The next write into the folder removes it, and must not remove
//! the file of a writer that lives. So a writer holds a lock on its temporary file, which the system drops when the
//! process ends, however it ends; a file whose lock is free has no writer. A file that was made and not locked yet
//! looks the same for a moment. Its writer then finds the lock taken, or the name gone once it has the lock, and makes
//! another file.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions, TryLockError};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use skillfold_core::Error;
use tempfile::{Builder, NamedTempFile};

/// How the name of a temporary file starts.
const PREFIX: &str = ".skillfold-write-";

/// Random characters of a name: no name comes twice, so a name that is there is the file that was made under it.
const RANDOM: usize = 16;

/// How often another writer may take a temporary file for a leftover, each time in the moment before it is locked.
const ATTEMPTS: usize = 64;

/// Replaces or creates a file: after a crash at any moment it holds the old content or the new, never a part.
///
/// The folder must be there. Where the file is there, its mode stays as it is (`rwx` bits; elsewhere than on Unix,
/// whether it is read-only); owner, group and attributes become those of a new file, and other hard links keep the old
/// content. A new file has the mode 0644 less the umask. On Unix the rights of the folder decide whether a file may be
/// replaced, and not its own. Of several writers at once the last one wins.
///
/// Temporary files are named `.skillfold-write-` and random characters. The call removes those that killed writers left
/// in the folder, so its cost grows with the number of entries there. On a file system without locks leftovers stay.
///
/// # Errors
///
/// [`Refused`](skillfold_core::ErrorKind::Refused) if the path is a symbolic link or no regular file, does not end in a name, or
/// has the name of a temporary file. Links above the last component are followed. [`Unwritable`](skillfold_core::ErrorKind::Unwritable)
/// if the system could not do it; the old content is in place then, or, if only the last step of bringing the folder to
/// the disk failed, the new.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |cause| Error::write(path.to_string_lossy(), cause);
    let target = Target::new(path)?;
    let rights = match target.existing()? {
        Some(metadata) => Rights::kept(&metadata),
        None => Rights::Ordinary,
    };
    let folder = Folder::open(target.folder).map_err(failed)?;
    let staged = folder.stage(bytes, &rights).map_err(failed)?;
    staged
        .persist(&target.file)
        .map_err(|error| failed(error.error))?;
    folder.sync().map_err(failed)
}

/// Creates a file that must not exist yet, with its content whole from the first moment.
///
/// Folders on the way to it are created too, and stay if the write fails after that. The file has the mode 0644 less
/// the umask. Of several writers at once the first one wins. Leftovers are removed as by [`replace`].
///
/// # Errors
///
/// [`Exists`](skillfold_core::ErrorKind::Exists) if there is a file already; it stays as it is. Otherwise as [`replace`], with no
/// file in place of the old content.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |cause| Error::write(path.to_string_lossy(), cause);
    let target = Target::new(path)?;
    if target.existing()?.is_some() {
        return Err(Error::exists(path.to_string_lossy()));
    }
    make_folder(target.folder).map_err(failed)?;
    let folder = Folder::open(target.folder).map_err(failed)?;
    let staged = folder.stage(bytes, &Rights::Ordinary).map_err(failed)?;
    staged
        .persist_noclobber(&target.file)
        .map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => Error::exists(path.to_string_lossy()),
            _ => failed(error.error),
        })?;
    folder.sync().map_err(failed)
}

/// Removes a regular file: after a crash at any moment it is whole or not there.
///
/// # Errors
///
/// [`NotFound`](skillfold_core::ErrorKind::NotFound) if there is none. Otherwise as [`replace`].
pub fn remove(path: &Path) -> Result<(), Error> {
    let failed = |cause| Error::write(path.to_string_lossy(), cause);
    let target = Target::new(path)?;
    if target.existing()?.is_none() {
        return Err(Error::not_found(path.to_string_lossy()));
    }
    let folder = Folder::open(target.folder).map_err(failed)?;
    fs::remove_file(&target.file).map_err(failed)?;
    folder.sync().map_err(failed)
}

/// Where a file is written.
struct Target<'a> {
    /// The path as the caller knows it.
    path: &'a Path,
    folder: &'a Path,
    /// The path without a trailing slash, which would lead through a link.
    file: PathBuf,
}

impl<'a> Target<'a> {
    fn new(path: &'a Path) -> Result<Self, Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::refused_write(
                path.to_string_lossy(),
                "A path ends in the name of a file",
            ));
        };
        if is_temporary(name) {
            return Err(Error::refused_write(
                path.to_string_lossy(),
                "Names that start with `.skillfold-write-` are those of temporary files",
            ));
        }
        let folder = folder_of(path);
        Ok(Self {
            path,
            folder,
            file: folder.join(name),
        })
    }

    /// Returns what stands at the path, if it is a regular file, and nothing if nothing does.
    ///
    /// A link that is put there later is replaced itself: a rename does not follow it.
    fn existing(&self) -> Result<Option<Metadata>, Error> {
        let metadata = match self.file.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::write(self.path.to_string_lossy(), error)),
        };
        if metadata.is_symlink() {
            let rule = "Links are not written through; name the file that the link leads to";
            return Err(Error::refused_write(self.path.to_string_lossy(), rule));
        }
        if !metadata.is_file() {
            return Err(Error::refused_write(
                self.path.to_string_lossy(),
                "Only regular files are written",
            ));
        }
        Ok(Some(metadata))
    }
}

/// The rights that a file gets.
enum Rights {
    Ordinary,
    Kept(Permissions),
}

impl Rights {
    fn kept(metadata: &Metadata) -> Self {
        let permissions = metadata.permissions();
        // The new file belongs to its writer: whoever runs it must not become the writer.
        #[cfg(unix)]
        let permissions = Permissions::from_mode(permissions.mode() & 0o777);
        Self::Kept(permissions)
    }
}

/// A folder that is written into.
struct Folder<'a> {
    path: &'a Path,
    /// Opened before anything is written, so that what cannot be brought to the disk is not begun. Windows has no such
    /// handle.
    handle: Option<File>,
}

impl<'a> Folder<'a> {
    #[expect(clippy::disallowed_methods, reason = "only the store writes")]
    fn open(path: &'a Path) -> io::Result<Self> {
        let handle = if cfg!(unix) {
            Some(File::open(path)?)
        } else {
            None
        };
        Ok(Self { path, handle })
    }

    /// Writes the bytes to the disk under a temporary name.
    fn stage(&self, bytes: &[u8], rights: &Rights) -> io::Result<NamedTempFile> {
        self.remove_leftovers();
        let mut temporary = self.temporary(rights)?;
        temporary.as_file_mut().write_all(bytes)?;
        if let Rights::Kept(permissions) = rights {
            temporary.as_file().set_permissions(permissions.clone())?;
        }
        temporary.as_file().sync_all()?;
        Ok(temporary)
    }

    /// Removes the temporary files of writers that are dead.
    ///
    /// What cannot be listed, opened, locked or removed stays: it takes room and does no harm, and is no reason not to
    /// write.
    #[expect(clippy::disallowed_methods, reason = "only the store writes")]
    fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(self.path) else {
            return;
        };
        for entry in entries.flatten() {
            // Opening a pipe would wait for its other end.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if !is_file || !is_temporary(&entry.file_name()) {
                continue;
            }
            if let Ok(file) = File::open(entry.path())
                && file.try_lock().is_ok()
            {
                // The lock is held until the name is gone, so that its writer cannot get the one and see the other.
                _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Creates a temporary file that no other writer takes for a leftover.
    fn temporary(&self, rights: &Rights) -> io::Result<NamedTempFile> {
        let mut builder = Builder::new();
        builder.prefix(PREFIX).rand_bytes(RANDOM);
        match rights {
            #[cfg(unix)]
            Rights::Ordinary => _ = builder.permissions(Permissions::from_mode(0o644)),
            // It is private until the content is complete: what it replaces may be.
            _ => {}
        }
        for _ in 0..ATTEMPTS {
            let temporary = builder.tempfile_in(self.path)?;
            let is_ours = match temporary.as_file().try_lock() {
                Ok(()) => temporary.path().exists(),
                Err(TryLockError::WouldBlock) => false,
                // Where this writer gets no lock, no other does.
                Err(TryLockError::Error(_)) => true,
            };
            if is_ours {
                return Ok(temporary);
            }
        }
        Err(io::Error::other("the temporary file was removed each time"))
    }

    /// Brings the names in the folder to the disk.
    fn sync(&self) -> io::Result<()> {
        let Some(handle) = &self.handle else {
            return Ok(());
        };
        match handle.sync_all() {
            // Some network file systems have no such call for folders.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            result => result,
        }
    }
}

/// Creates a folder and those above it, each with its name on the disk.
fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = folder_of(path);
    make_folder(above)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        // Another writer may have been quicker.
        Err(_) if !path.is_dir() => return Err(io::ErrorKind::NotADirectory.into()),
        _ => {}
    }
    Folder::open(above)?.sync()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}
