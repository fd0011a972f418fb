//! A trusted folder and the writes below it.

use std::ffi::OsStr;
use std::fs::File;
#[cfg(unix)]
use std::fs::Permissions;
use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use skillfold_core::Error;
use skillfold_core::source::FileBytes;

use crate::files::dir::{Dir, Identity, Kind, identity};
use crate::files::fault::{CHANGED, WriteFault, WriteResult};
use crate::files::flock::try_lock_folder;
use crate::files::restore::{has_content, remove_aside};
use crate::files::staged::{FileMode, Staged};
use crate::files::temporary_name::{is_temporary, temporary_name};

const READ_ONLY: &str = "The file is read-only; make it writable first";
const LINK_TARGET: &str = "Skillfold does not write through links; name the link's target instead";
const NOT_A_FILE: &str = "Only regular files are written";

/// Who may read a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Whoever the umask allows: 0644 for a file, 0755 for a folder, less the umask. A replaced file keeps its mode.
    Ordinary,
    /// Only the owner: 0600 for a file, 0700 for a folder, whatever the umask and the previous mode.
    Private,
}

/// A file as it was read. A write only replaces this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    bytes: Vec<u8>,
    identity: Identity,
}

impl ReadFile {
    pub(crate) fn new(bytes: Vec<u8>, identity: Identity) -> Self {
        Self { bytes, identity }
    }

    /// Returns the content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl From<FileBytes> for ReadFile {
    /// Converts a file read from a source. Without device and inode, only the content is compared.
    fn from(content: FileBytes) -> Self {
        Self {
            bytes: content.bytes,
            identity: content.state.revision.inode(),
        }
    }
}

/// A trusted folder, held open. All writes stay below it, and links below it are not followed.
///
/// Paths are relative to it, without `..`. Temporary files are named `.skillfold-write-` plus random characters. Each
/// write removes those left by killed writers in the same folder, so its cost grows with the number of entries there.
/// On a file system without locks, leftovers stay.
///
/// Systems other than Unix have no directory handles: links are refused when found, but an attacker who swaps one in
/// between check and use can win the race.
#[derive(Debug)]
pub struct WriteRoot {
    path: PathBuf,
    pub(crate) dir: Dir,
}

impl WriteRoot {
    /// Opens a folder. Follows links on the way: the caller trusts the path.
    ///
    /// # Errors
    ///
    /// [`NotFound`](skillfold_core::ErrorKind::NotFound) if it does not exist.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_folder(path).map_err(|error| Error::read(path.to_string_lossy(), error))
    }

    pub(crate) fn open_folder(path: &Path) -> io::Result<Self> {
        Ok(Self {
            dir: Dir::open(path)?,
            path: path.to_owned(),
        })
    }

    /// Opens a folder, creating it and its parents if missing. Follows links on the way: this is for the user's own
    /// folders, not for folders inside a project.
    ///
    /// With [`Access::Private`], restricts the folder to its owner, even if it already existed.
    pub fn open_or_create(path: &Path, access: Access) -> Result<Self, Error> {
        Self::open_or_create_folder(path, access)
            .map_err(|error| Error::write(path.to_string_lossy(), error))
    }

    pub(crate) fn open_or_create_folder(path: &Path, access: Access) -> io::Result<Self> {
        create_folder_all(path)?;
        let root = Self::open_folder(path)?;
        if access == Access::Private {
            root.dir.set_mode(0o700)?;
        }
        Ok(root)
    }

    /// Reads an entire file. Returns `None` if the file or a folder on the way does not exist.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the file or a folder on the way is a link, or the file is not
    /// a regular file; [`Unreadable`](skillfold_core::ErrorKind::Unreadable) if it has more than `limit` bytes or on an
    /// I/O error.
    pub fn read(&self, file: &Path, limit: u64) -> Result<Option<ReadFile>, Error> {
        let read = || -> WriteResult<ReadFile> {
            let (dir, name) = self.open_parent(file)?;
            stat_regular_file(&dir, name)?;
            let handle = dir.open_read(name)?;
            let mut bytes = Vec::new();
            let size = (&handle)
                .take(limit.saturating_add(1))
                .read_to_end(&mut bytes)?;
            if size as u64 > limit {
                let message = format!("larger than {} MiB", limit / 1024 / 1024);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message).into());
            }
            let identity = identity(&handle.metadata()?);
            Ok(ReadFile { bytes, identity })
        };
        match read() {
            Ok(file) => Ok(Some(file)),
            Err(fault) if fault.is_missing() => Ok(None),
            Err(WriteFault::System(error)) => {
                Err(Error::read(self.full_path(file).to_string_lossy(), error))
            }
            Err(fault) => Err(fault.into_error(&self.full_path(file))),
        }
    }

    /// Creates a new file, which appears with its full content.
    ///
    /// Also creates missing parent folders, which stay if the write then fails. Of several concurrent writers, the
    /// first wins.
    ///
    /// # Errors
    ///
    /// [`Exists`](skillfold_core::ErrorKind::Exists) if the file already exists; it is left unchanged.
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the file or a folder on the way is a link, something other
    /// than a regular file has that name, or the path does not end in a name, leaves the folder or names a temporary
    /// file. [`Unwritable`](skillfold_core::ErrorKind::Unwritable) on an I/O error. The file does not exist then,
    /// unless only the final sync of the folder failed.
    pub fn create(&self, file: &Path, bytes: &[u8], access: Access) -> Result<(), Error> {
        let create = || -> WriteResult<()> {
            let (dir, name) = self.open_or_create_parent(file, access)?;
            match stat_regular_file(&dir, name) {
                Ok(_) => return Err(WriteFault::Exists),
                Err(fault) if fault.is_missing() => {}
                Err(fault) => return Err(fault),
            }
            let mode = match access {
                Access::Ordinary => FileMode::Ordinary,
                Access::Private => FileMode::Private,
            };
            let staged = Staged::write(&dir, bytes, &mode)?;
            staged
                .persist_new(name)
                .map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => WriteFault::Exists,
                    _ => WriteFault::System(error),
                })?;
            Ok(dir.sync()?)
        };
        create().map_err(|fault| fault.into_error(&self.full_path(file)))
    }

    /// Replaces a file if it is still the one that was read. After a crash at any moment it has the old or the new
    /// content, never a mix.
    ///
    /// Owner, group and attributes become those of a new file, and other hard links keep the old content.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the file is a different one, has different content, is gone
    /// or is read-only, and as for [`create`](Self::create). The existing file stays in place then. If several others
    /// write at the same moment, one of them keeps the name, and the hint says where the other content is. If only the
    /// final sync of the folder failed, the new content may be in place.
    pub fn replace(
        &self,
        file: &Path,
        old: &ReadFile,
        bytes: &[u8],
        access: Access,
    ) -> Result<(), Error> {
        let replace = || -> WriteResult<()> {
            let (dir, name) = self.open_parent(file)?;
            let mut opened = open_unchanged(&dir, name, old)?;
            let mode = match access {
                Access::Ordinary => preserved_mode(&opened)?,
                Access::Private => FileMode::Private,
            };
            // The lock stops other writers from removing it as a leftover while it briefly has a temporary name.
            _ = opened.try_lock();
            let staged = Staged::write(&dir, bytes, &mode)?;
            try_lock_folder(&dir);
            match dir.exchange(staged.name(), name) {
                Ok(()) => return staged.finish_exchange(name, &mut opened, &old.bytes),
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    drop(opened);
                    open_unchanged(&dir, name, old)?;
                    staged.persist(name)?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(WriteFault::Refused(CHANGED));
                }
                Err(error) => return Err(error.into()),
            }
            Ok(dir.sync()?)
        };
        replace().map_err(|fault| missing_to_changed(fault).into_error(&self.full_path(file)))
    }

    /// Removes a file if it is still the one that was read.
    ///
    /// # Errors
    ///
    /// As for [`replace`](Self::replace).
    pub fn remove(&self, file: &Path, old: &ReadFile) -> Result<(), Error> {
        let remove = || -> WriteResult<()> {
            let (dir, name) = self.open_parent(file)?;
            let mut opened = open_unchanged(&dir, name, old)?;
            let aside = temporary_name();
            _ = opened.try_lock();
            try_lock_folder(&dir);
            // The name is random, so nothing is overwritten.
            dir.rename(name, &aside)?;
            remove_aside(&dir, &aside, name, &mut opened, &old.bytes)?;
            Ok(dir.sync()?)
        };
        remove().map_err(|fault| missing_to_changed(fault).into_error(&self.full_path(file)))
    }

    pub(crate) fn full_path(&self, file: &Path) -> PathBuf {
        self.path.join(file)
    }

    /// Opens a file's parent folder and returns it with the file's name.
    pub(crate) fn open_parent<'f>(&self, file: &'f Path) -> WriteResult<(Dir, &'f OsStr)> {
        self.walk(file, Dir::open_subfolder)
    }

    pub(crate) fn open_or_create_parent<'f>(
        &self,
        file: &'f Path,
        access: Access,
    ) -> WriteResult<(Dir, &'f OsStr)> {
        let mode = match access {
            Access::Ordinary => 0o755,
            Access::Private => 0o700,
        };
        self.walk(file, |dir, name| match dir.open_subfolder(name) {
            Err(fault) if fault.is_missing() => {
                match dir.create_folder(name, mode) {
                    // Another writer may have created it first.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error.into());
                    }
                    _ => dir.sync()?,
                }
                dir.open_subfolder(name)
            }
            entered => {
                let folder = entered?;
                flush_if_empty(dir, &folder)?;
                Ok(folder)
            }
        })
    }

    /// Flushes the names in a file's folder.
    pub(crate) fn flush_parent(&self, file: &Path) -> Result<(), Error> {
        let flush = || -> WriteResult<()> { Ok(self.open_parent(file)?.0.sync()?) };
        flush().map_err(|fault| fault.into_error(&self.full_path(file)))
    }

    fn walk<'f>(
        &self,
        file: &'f Path,
        step: impl Fn(&Dir, &OsStr) -> WriteResult<Dir>,
    ) -> WriteResult<(Dir, &'f OsStr)> {
        let mut names = Vec::new();
        for component in file.components() {
            match component {
                Component::Normal(name) => names.push(name),
                _ => {
                    return Err(WriteFault::Refused(
                        "The path leaves the folder that may be written to",
                    ));
                }
            }
        }
        let Some(name) = names.pop() else {
            return Err(WriteFault::Refused("The path must end with a file name"));
        };
        if is_temporary(name) {
            let rule = "Names that start with `.skillfold-write-` are reserved for temporary files";
            return Err(WriteFault::Refused(rule));
        }
        let mut dir = self.dir.open_subfolder(OsStr::new("."))?;
        for name in names {
            dir = step(&dir, name)?;
        }
        Ok((dir, name))
    }
}

/// Returns the identity of `name` if it is a regular file.
fn stat_regular_file(dir: &Dir, name: &OsStr) -> WriteResult<Identity> {
    match dir.stat(name)? {
        None => Err(WriteFault::System(io::ErrorKind::NotFound.into())),
        Some(found) => match found.kind {
            Kind::File => Ok(found.identity),
            Kind::Link => Err(WriteFault::Refused(LINK_TARGET)),
            Kind::Folder | Kind::Other => Err(WriteFault::Refused(NOT_A_FILE)),
        },
    }
}

/// Opens a file for writing if it is still the one that was read.
fn open_unchanged(dir: &Dir, name: &OsStr, old: &ReadFile) -> WriteResult<File> {
    let found = stat_regular_file(dir, name)?;
    let mut file = dir
        .open_read_write(name)
        .map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => WriteFault::Refused(READ_ONLY),
            _ => WriteFault::System(error),
        })?;
    let metadata = file.metadata()?;
    // Root can write a read-only file, but has to make it writable first.
    if metadata.permissions().readonly() {
        return Err(WriteFault::Refused(READ_ONLY));
    }
    let opened = identity(&metadata);
    let is_same_file = old.identity.is_none() || opened.is_none() || opened == old.identity;
    if opened == found && is_same_file && has_content(&mut file, &old.bytes)? {
        Ok(file)
    } else {
        Err(WriteFault::Refused(CHANGED))
    }
}

fn preserved_mode(file: &File) -> io::Result<FileMode> {
    let permissions = file.metadata()?.permissions();
    // Drops setuid and setgid: the new file belongs to its writer, and whoever runs it must not become the writer.
    #[cfg(unix)]
    let permissions = Permissions::from_mode(permissions.mode() & 0o777);
    Ok(FileMode::Preserved(permissions))
}

/// Maps a missing file to a changed one, since it was read before.
pub(crate) fn missing_to_changed(fault: WriteFault) -> WriteFault {
    if fault.is_missing() {
        WriteFault::Refused(CHANGED)
    } else {
        fault
    }
}

/// Flushes an empty folder's name: its creator may have been killed before doing so. A folder with entries already had
/// its name flushed.
fn flush_if_empty(above: &Dir, folder: &Dir) -> io::Result<()> {
    if folder.is_empty()? {
        above.sync()?;
    }
    Ok(())
}

/// Creates a folder and its parents, syncing each new name to the disk.
fn create_folder_all(path: &Path) -> io::Result<()> {
    let above = match path.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => path,
    };
    if path.is_dir() {
        // The parent folder may be unreadable.
        if let Ok(above) = Dir::open(above) {
            flush_if_empty(&above, &Dir::open(path)?)?;
        }
        return Ok(());
    }
    let Some(name) = path.file_name() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    create_folder_all(above)?;
    let above = Dir::open(above)?;
    match above.create_folder(name, 0o755) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        // Another writer may have created it first.
        Err(_) if !path.is_dir() => return Err(io::ErrorKind::NotADirectory.into()),
        _ => {}
    }
    above.sync()
}
