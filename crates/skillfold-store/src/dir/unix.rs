//! By handles: no step of a path is looked up twice.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawMode, linkat, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use crate::dir::{FileIdentity, Identity, Kind, LINK_ON_THE_WAY};
use crate::fault::{WriteFault, WriteResult};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// A pipe does not wait for its other end, a terminal does not become the process's own, a link is not followed.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(crate) struct Dir {
    handle: File,
}

impl Dir {
    /// Opens a folder; links on the way are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let handle = openat(CWD, path, FOLDER, Mode::empty())?.into();
        Ok(Self { handle })
    }

    /// Opens a folder in this one, if it is no link.
    pub(crate) fn enter(&self, name: &OsStr) -> WriteResult<Self> {
        match openat(&self.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(handle) => Ok(Self {
                handle: handle.into(),
            }),
            // Asked for a folder, Linux calls a link no folder.
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) => match self.look(name)? {
                Some(found) if found.kind == Kind::Link => {
                    Err(WriteFault::Refused(LINK_ON_THE_WAY))
                }
                _ => Err(WriteFault::System(error.into())),
            },
            Err(error) => Err(WriteFault::System(error.into())),
        }
    }

    /// Makes a folder with the rights of `mode`, less the umask.
    pub(crate) fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(mkdirat(&self.handle, name, permissions(mode))?)
    }

    /// Returns what stands under a name; a link itself, and not where it leads.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<FileIdentity>> {
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
            reason = "the fields' types differ between systems"
        )]
        let identity = Some((stat.st_dev as u64, stat.st_ino as u64));
        Ok(Some(FileIdentity { kind, identity }))
    }

    pub(crate) fn open_to_read(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, FILE | OFlags::RDONLY, 0)
    }

    /// Opens a file that may be written to; nothing is.
    pub(crate) fn open_to_change(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, FILE | OFlags::RDWR, 0)
    }

    /// Opens a file, and makes it where it is not there.
    pub(crate) fn open_or_make(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        self.open_file(name, FILE | OFlags::RDWR | OFlags::CREATE, mode)
    }

    /// Makes a file that is not there.
    pub(crate) fn make_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = FILE | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        self.open_file(name, flags, mode)
    }

    fn open_file(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        Ok(openat(&self.handle, name, flags, permissions(mode))?.into())
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Renames, and never overwrites.
    pub(crate) fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.rename_with(from, to, RenameMode::NoReplace) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?;
                self.remove(from)
            }
            renamed => Ok(renamed?),
        }
    }

    /// Lets two names change places; `Unsupported` where the system cannot.
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        match self.rename_with(one, other, RenameMode::Exchange) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            exchanged => Ok(exchanged?),
        }
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn rename_with(&self, from: &OsStr, to: &OsStr, how: RenameMode) -> Result<(), Errno> {
        use rustix::fs::{RenameFlags, renameat_with};

        let flags = match how {
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
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Returns the names that start in a certain way.
    pub(crate) fn names(&self, prefix: &str) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name.starts_with(prefix.as_bytes()) {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        if self.handle.metadata()?.mode() & 0o7777 == mode {
            return Ok(());
        }
        self.handle.set_permissions(Permissions::from_mode(mode))
    }

    /// Returns what can be locked.
    #[expect(clippy::unnecessary_wraps, reason = "not every system has it")]
    pub(crate) fn handle(&self) -> Option<&File> {
        Some(&self.handle)
    }

    /// Brings the names in the folder to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match self.handle.sync_all() {
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

#[derive(Clone, Copy)]
enum RenameMode {
    NoReplace,
    Exchange,
}

#[expect(clippy::unnecessary_wraps, reason = "not every system tells")]
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    Some((metadata.dev(), metadata.ino()))
}

#[allow(
    clippy::allow_attributes,
    clippy::cast_possible_truncation,
    reason = "a mode has sixteen bits on some systems"
)]
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as RawMode)
}
