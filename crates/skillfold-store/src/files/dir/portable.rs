//! Path-based implementation for systems where the standard library has no directory handles. Links are refused when
//! found, but an attacker who swaps one in between check and use can win the race.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::dir::{EntryStat, Identity, Kind, LINK_IN_PATH};
use crate::files::fault::{WriteFault, WriteResult};

#[derive(Debug)]
pub(crate) struct Dir {
    path: PathBuf,
}

impl Dir {
    /// Opens a folder, following links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() {
            let path = path.to_owned();
            Ok(Self { path })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens a direct subfolder. Refuses a link.
    pub(crate) fn open_subfolder(&self, name: &OsStr) -> WriteResult<Self> {
        match self.stat(name)?.map(|found| found.kind) {
            Some(Kind::Folder) => Ok(Self {
                path: self.path.join(name),
            }),
            Some(Kind::Link) => Err(WriteFault::Refused(LINK_IN_PATH)),
            Some(_) => Err(WriteFault::System(io::ErrorKind::NotADirectory.into())),
            None => Err(WriteFault::System(io::ErrorKind::NotFound.into())),
        }
    }

    pub(crate) fn create_folder(&self, name: &OsStr, _mode: u32) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// Returns the kind and identity of `name`, or `None` if it does not exist. Links are not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<EntryStat>> {
        let metadata = match self.path.join(name).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        let kind = match metadata.file_type() {
            kind if kind.is_symlink() => Kind::Link,
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            _ => Kind::Other,
        };
        Ok(Some(EntryStat {
            kind,
            identity: None,
        }))
    }

    pub(crate) fn open_read(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OpenOptions::new().read(true))
    }

    /// Opens an existing file for reading and writing.
    pub(crate) fn open_read_write(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OpenOptions::new().read(true).write(true))
    }

    /// Opens a file for reading and writing, creating it if missing.
    pub(crate) fn open_or_create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        self.open_file(name, &options)
    }

    /// Creates a file. Fails if it exists.
    pub(crate) fn create_file(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        self.open_file(name, options.read(true).write(true).create_new(true))
    }

    fn open_file(&self, name: &OsStr, options: &OpenOptions) -> io::Result<File> {
        options.open(self.path.join(name))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Renames without overwriting.
    pub(crate) fn rename_no_replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        // Folders cannot be hard-linked.
        if self.stat(from)?.is_some_and(|it| it.kind == Kind::Folder) {
            if self.stat(to)?.is_some() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            return self.rename(from, to);
        }
        fs::hard_link(self.path.join(from), self.path.join(to))?;
        self.remove(from)
    }

    /// Always fails with `Unsupported`.
    #[expect(clippy::unused_self, reason = "same signature as on Unix")]
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    /// Hard-links the file `name` into another folder under the same name.
    pub(crate) fn link_into(&self, name: &OsStr, other: &Self) -> io::Result<()> {
        fs::hard_link(self.path.join(name), other.path.join(name))
    }

    /// Always fails with `Unsupported`.
    #[expect(clippy::unused_self, reason = "same signature as on Unix")]
    pub(crate) fn symlink(&self, _name: &OsStr, _target: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(self.path.join(name))
    }

    /// Returns nothing useful: permissions are inherited from the parent folder.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "same signature as on Unix"
    )]
    pub(crate) fn mode(&self) -> io::Result<u32> {
        Ok(0o755)
    }

    /// Returns the names that start with `prefix`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the store accesses the disk itself"
    )]
    pub(crate) fn names_with_prefix(&self, prefix: &str) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Returns whether the folder is empty.
    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.names_with_prefix("")?.is_empty())
    }

    /// Does nothing: permissions are inherited from the parent folder.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "same signature as on Unix"
    )]
    pub(crate) fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Returns `None`: there is no handle to lock.
    #[expect(clippy::unused_self, reason = "same signature as on Unix")]
    pub(crate) fn handle(&self) -> Option<&File> {
        None
    }

    /// Does nothing: the system decides when names reach the disk.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "same signature as on Unix"
    )]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn identity(_: &Metadata) -> Identity {
    None
}
