//! Links to skills, in the folders of clients that do not look where the skills are.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use skillfold_core::Error;

use crate::files::dir::Kind;
use crate::files::fault::{WriteFault, WriteResult};
use crate::files::write_root::{Access, WriteRoot};

/// What became of a link that was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkMade {
    /// It was made, or was there.
    Done,
    /// The system makes no links here.
    Unsupported,
}

impl WriteRoot {
    /// Makes a link to a relative path, and the folders it is in.
    ///
    /// # Errors
    ///
    /// [`Exists`](skillfold_core::ErrorKind::Exists) if something else has the name; it is left as it is.
    pub fn link(&self, path: &Path, target: &Path) -> Result<LinkMade, Error> {
        let link = || -> WriteResult<LinkMade> {
            let (dir, name) = self.open_or_create_parent(path, Access::Ordinary)?;
            match dir.symlink(name, target) {
                Ok(()) => Ok(dir.sync().map(|()| LinkMade::Done)?),
                Err(error) => match error.kind() {
                    io::ErrorKind::AlreadyExists if leads_to(&dir, name, target) => {
                        Ok(LinkMade::Done)
                    }
                    io::ErrorKind::AlreadyExists => Err(WriteFault::Exists),
                    io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => {
                        Ok(LinkMade::Unsupported)
                    }
                    _ => Err(error.into()),
                },
            }
        };
        link().map_err(|fault| fault.into_error(&self.full_path(path)))
    }

    /// Removes a link if it leads to `target`. Returns whether it did.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) on an I/O error.
    pub fn remove_link(&self, path: &Path, target: &Path) -> Result<bool, Error> {
        let remove = || -> WriteResult<bool> {
            let (dir, name) = self.open_parent(path)?;
            if !leads_to(&dir, name, target) {
                return Ok(false);
            }
            dir.remove(name)?;
            Ok(dir.sync().map(|()| true)?)
        };
        match remove() {
            // Behind a link or a file is nothing of ours.
            Err(WriteFault::Refused(_)) => Ok(false),
            Err(fault) if fault.is_missing() || fault.is_no_folder() => Ok(false),
            removed => removed.map_err(|fault| fault.into_error(&self.full_path(path))),
        }
    }

    /// Returns where a link leads; `None` if there is no link.
    pub fn link_target(&self, path: &Path) -> Option<PathBuf> {
        let (dir, name) = self.open_parent(path).ok()?;
        let found = dir.stat(name).ok()??;
        (found.kind == Kind::Link).then(|| dir.read_link(name).ok())?
    }
}

fn leads_to(dir: &crate::files::dir::Dir, name: &OsStr, target: &Path) -> bool {
    let is_link = dir
        .stat(name)
        .ok()
        .flatten()
        .is_some_and(|found| found.kind == Kind::Link);
    is_link && dir.read_link(name).is_ok_and(|found| found == target)
}
