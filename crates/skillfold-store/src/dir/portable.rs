//! By paths, where the standard library has no handles of folders: a link is refused where it is seen, and somebody who
//! swaps one in at that moment can win.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::dir::{Found, Identity, Kind, LINK_ON_THE_WAY};
use crate::fault::{Fault, Tried};

#[derive(Debug)]
pub(crate) struct Dir {
    path: PathBuf,
}

impl Dir {
    /// Names a folder; links on the way are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() {
            let path = path.to_owned();
            Ok(Self { path })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Names a folder in this one, if it is no link.
    pub(crate) fn enter(&self, name: &OsStr) -> Tried<Self> {
        match self.look(name)?.map(|found| found.kind) {
            Some(Kind::Folder) => Ok(Self {
                path: self.path.join(name),
            }),
            Some(Kind::Link) => Err(Fault::Refused(LINK_ON_THE_WAY)),
            Some(_) => Err(Fault::System(io::ErrorKind::NotADirectory.into())),
            None => Err(Fault::System(io::ErrorKind::NotFound.into())),
        }
    }

    pub(crate) fn make(&self, name: &OsStr, _mode: u32) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// Returns what stands under a name; a link itself, and not where it leads.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<Found>> {
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
        Ok(Some(Found {
            kind,
            identity: None,
        }))
    }

    pub(crate) fn open_to_read(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OpenOptions::new().read(true))
    }

    /// Opens a file that may be written to; nothing is.
    pub(crate) fn open_to_change(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OpenOptions::new().read(true).write(true))
    }

    /// Opens a file, and makes it where it is not there.
    pub(crate) fn open_or_make(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        self.open_file(name, &options)
    }

    /// Makes a file that is not there.
    pub(crate) fn make_file(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        self.open_file(name, options.read(true).write(true).create_new(true))
    }

    fn open_file(&self, name: &OsStr, options: &OpenOptions) -> io::Result<File> {
        options.open(self.path.join(name))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Renames, and never overwrites.
    pub(crate) fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.path.join(from), self.path.join(to))?;
        self.remove(from)
    }

    /// Says that two names cannot change places here.
    #[expect(clippy::unused_self, reason = "the same call as elsewhere")]
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Returns the names that start in a certain way.
    #[expect(clippy::disallowed_methods, reason = "only the store writes")]
    pub(crate) fn names(&self, prefix: &str) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Leaves the rights to the folder above.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same call as elsewhere"
    )]
    pub(crate) fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Returns what can be locked: nothing.
    #[expect(clippy::unused_self, reason = "the same call as elsewhere")]
    pub(crate) fn handle(&self) -> Option<&File> {
        None
    }

    /// Leaves it to the system when names come to the disk.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same call as elsewhere"
    )]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn identity(_: &Metadata) -> Identity {
    None
}
