//! Implementation based on directory handles: no path component is resolved twice.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawMode, linkat, mkdirat, openat, readlinkat, renameat,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::files::calls::{Step, flush, inode, reach};
use crate::files::dir::{EntryStat, Identity, Kind, LINK_IN_PATH};
use crate::files::fault::{WriteFault, WriteResult};

const FOLDER_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Do not block on a pipe, do not acquire a controlling terminal, and do not follow links.
const FILE_FLAGS: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(crate) struct Dir {
    handle: File,
}

impl Dir {
    /// Opens a folder, following links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let handle = openat(CWD, path, FOLDER_FLAGS, Mode::empty())?.into();
        Ok(Self { handle })
    }

    /// Opens a direct subfolder. Refuses a link.
    pub(crate) fn open_subfolder(&self, name: &OsStr) -> WriteResult<Self> {
        match openat(
            &self.handle,
            name,
            FOLDER_FLAGS | OFlags::NOFOLLOW,
            Mode::empty(),
        ) {
            Ok(handle) => Ok(Self {
                handle: handle.into(),
            }),
            // With `O_DIRECTORY`, Linux reports `ENOTDIR` for a link.
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) => match self.stat(name)? {
                Some(found) if found.kind == Kind::Link => Err(WriteFault::Refused(LINK_IN_PATH)),
                _ => Err(WriteFault::System(error.into())),
            },
            Err(error) => Err(WriteFault::System(error.into())),
        }
    }

    /// Creates a folder with permissions `mode`, less the umask.
    pub(crate) fn create_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        reach(|| Step::CreateFolder {
            folder: inode(&self.handle),
            name: text(name),
            inode: 0,
        })?;
        mkdirat(&self.handle, name, raw_mode(mode))?;
        #[cfg(feature = "faults")]
        if let Some((_, inode)) = self.stat(name)?.and_then(|found| found.identity) {
            crate::files::calls::created(inode);
        }
        Ok(())
    }

    /// Returns the kind and identity of `name`, or `None` if it does not exist. Links are not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<EntryStat>> {
        let stat = match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        #[allow(
            clippy::allow_attributes,
            clippy::cast_sign_loss,
            clippy::unnecessary_cast,
            reason = "field types differ between systems"
        )]
        let identity = Some((stat.st_dev as u64, stat.st_ino as u64));
        Ok(Some(EntryStat { kind, identity }))
    }

    pub(crate) fn open_read(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, FILE_FLAGS | OFlags::RDONLY, 0)
    }

    /// Opens an existing file for reading and writing.
    pub(crate) fn open_read_write(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, FILE_FLAGS | OFlags::RDWR, 0)
    }

    /// Opens a file for reading and writing, creating it if missing.
    pub(crate) fn open_or_create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        if let found @ Ok(_) = self.open_read_write(name) {
            return found;
        }
        reach(|| Step::CreateFile {
            folder: inode(&self.handle),
            name: text(name),
            inode: 0,
        })?;
        self.open_file(name, FILE_FLAGS | OFlags::RDWR | OFlags::CREATE, mode)
    }

    /// Creates a file. Fails if it exists.
    pub(crate) fn create_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        reach(|| Step::CreateFile {
            folder: inode(&self.handle),
            name: text(name),
            inode: 0,
        })?;
        let flags = FILE_FLAGS | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        self.open_file(name, flags, mode)
    }

    fn open_file(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        let file: File = openat(&self.handle, name, flags, raw_mode(mode))?.into();
        #[cfg(feature = "faults")]
        if flags.contains(OFlags::CREATE) {
            crate::files::calls::created(inode(&file));
        }
        Ok(file)
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        reach(|| Step::Rename {
            folder: inode(&self.handle),
            from: text(from),
            to: text(to),
        })?;
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Renames without overwriting.
    pub(crate) fn rename_no_replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        reach(|| Step::Rename {
            folder: inode(&self.handle),
            from: text(from),
            to: text(to),
        })?;
        match self.rename_with(from, to, RenameMode::NoReplace) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                // Folders cannot be hard-linked. Only an empty one could be overwritten after this check.
                if self.stat(from)?.is_some_and(|it| it.kind == Kind::Folder) {
                    if self.stat(to)?.is_some() {
                        return Err(io::ErrorKind::AlreadyExists.into());
                    }
                    return Ok(renameat(&self.handle, from, &self.handle, to)?);
                }
                linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?;
                self.remove(from)
            }
            renamed => Ok(renamed?),
        }
    }

    /// Swaps two names atomically. Fails with `Unsupported` where the system cannot.
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        reach(|| Step::Exchange {
            folder: inode(&self.handle),
            one: text(one),
            other: text(other),
        })?;
        match self.rename_with(one, other, RenameMode::Exchange) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            exchanged => Ok(exchanged?),
        }
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn rename_with(&self, from: &OsStr, to: &OsStr, mode: RenameMode) -> Result<(), Errno> {
        use rustix::fs::{RenameFlags, renameat_with};

        #[cfg(feature = "faults")]
        if !crate::files::calls::can_exchange() {
            return Err(Errno::NOSYS);
        }
        let flags = match mode {
            RenameMode::NoReplace => RenameFlags::NOREPLACE,
            RenameMode::Exchange => RenameFlags::EXCHANGE,
        };
        renameat_with(&self.handle, from, &self.handle, to, flags)
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn rename_with(&self, _: &OsStr, _: &OsStr, _: RenameMode) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        reach(|| Step::Remove {
            folder: inode(&self.handle),
            name: text(name),
        })?;
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        reach(|| Step::Remove {
            folder: inode(&self.handle),
            name: text(name),
        })?;
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Hard-links the file or link `name` into another folder under the same name.
    pub(crate) fn link_into(&self, name: &OsStr, other: &Self) -> io::Result<()> {
        reach(|| Step::Link {
            folder: inode(&self.handle),
            name: text(name),
            other: inode(&other.handle),
        })?;
        match linkat(&self.handle, name, &other.handle, name, AtFlags::empty()) {
            // A few systems cannot hard-link a symbolic link.
            Err(error) => match readlinkat(&self.handle, name, Vec::new()) {
                Ok(target) => Ok(symlinkat(target, &other.handle, name)?),
                Err(_) => Err(error.into()),
            },
            Ok(()) => Ok(()),
        }
    }

    /// Makes a symbolic link.
    pub(crate) fn symlink(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        reach(|| Step::LinkTo {
            folder: inode(&self.handle),
            name: text(name),
            target: target.to_string_lossy().into_owned(),
        })?;
        Ok(rustix::fs::symlinkat(target, &self.handle, name)?)
    }

    /// Returns where a symbolic link leads.
    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        use std::os::unix::ffi::OsStringExt;

        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    /// Returns the folder's permissions.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        Ok(self.handle.metadata()?.mode() & 0o777)
    }

    /// Returns the names that start with `prefix`.
    pub(crate) fn names_with_prefix(&self, prefix: &str) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") && name.starts_with(prefix.as_bytes()) {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    /// Returns whether the folder is empty.
    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        if self.handle.metadata()?.mode() & 0o7777 == mode {
            return Ok(());
        }
        self.handle.set_permissions(Permissions::from_mode(mode))
    }

    /// Returns the handle to lock.
    #[expect(clippy::unnecessary_wraps, reason = "other systems have no handle")]
    pub(crate) fn handle(&self) -> Option<&File> {
        Some(&self.handle)
    }

    /// Flushes the folder's entries to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match flush(&self.handle) {
            // Some network file systems do not support fsync on folders.
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

/// Converts a name for the call record.
fn text(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

#[derive(Clone, Copy)]
enum RenameMode {
    NoReplace,
    Exchange,
}

#[expect(clippy::unnecessary_wraps, reason = "other systems have no identity")]
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    Some((metadata.dev(), metadata.ino()))
}

#[allow(
    clippy::allow_attributes,
    clippy::cast_possible_truncation,
    reason = "a mode has 16 bits on some systems"
)]
fn raw_mode(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as RawMode)
}
