//! A file or folder of the host, as it was when it was allowed.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{RunError, RunErrorKind};

#[cfg(unix)]
pub(crate) use self::handles::device;
#[cfg(target_os = "linux")]
pub(crate) use self::handles::open_without_links;

/// A file or folder of the host, as it was when it was allowed.
///
/// A name says where something is, not what: whoever may write above it can put something else there. So this holds
/// the folder's identity (its file system and inode), and a run that finds another folder, or a link on the way, is
/// refused. Editors replace files, so of a file it is the folder around it. A path that does not exist yet is to be
/// created below the deepest folder that does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedPath {
    path: PathBuf,
    real: PathBuf,
    access: PathAccess,
    kind: PathKind,
    folder: PathBuf,
    identity: Identity,
}

/// What an [`ApprovedPath`] was when it was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PathKind {
    /// A folder with everything in it.
    Folder,
    /// A file, found by its name in its folder.
    File,
    /// Nothing yet.
    Missing,
    /// A socket, a device or a pipe, which no run gets.
    Special,
}

/// Which folder it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// The file system's id; its device number if it has no id. Device numbers can change when the system starts.
    system: u64,
    inode: u64,
}

/// What a run may do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PathAccess {
    /// Read it.
    Read,
    /// Read and change it.
    Write,
}

/// An approved path, found unchanged and held open.
#[derive(Debug)]
pub(crate) struct OpenedPath {
    /// Where the run sees it.
    pub(crate) path: PathBuf,
    pub(crate) real: PathBuf,
    pub(crate) access: PathAccess,
    /// The device and the inode that is mounted.
    #[cfg(unix)]
    pub(crate) inode: (u64, u64),
    /// Keeps the inode from being used for something else.
    #[cfg(unix)]
    handle: std::os::fd::OwnedFd,
}

#[cfg(unix)]
impl OpenedPath {
    pub(crate) fn handle(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.handle)
    }
}

impl ApprovedPath {
    /// Finds out what a path is now. The path is where a run will see it; links in it are followed here, and never
    /// again.
    pub fn resolve(path: impl Into<PathBuf>, access: PathAccess) -> Self {
        let path = path.into();
        let (real, kind) = match path.canonicalize() {
            Ok(real) => {
                let kind = fs::metadata(&real).map_or(PathKind::Special, |found| {
                    match (found.is_dir(), found.is_file()) {
                        (true, _) => PathKind::Folder,
                        (_, true) => PathKind::File,
                        _ => PathKind::Special,
                    }
                });
                (real, kind)
            }
            Err(_) => (below_real_ancestor(&path), PathKind::Missing),
        };
        let folder = match kind {
            PathKind::Folder => real.as_path(),
            PathKind::File | PathKind::Special => real.parent().unwrap_or(&real),
            PathKind::Missing => {
                let mut above = real.ancestors();
                above.find(|above| above.is_dir()).unwrap_or(&real)
            }
        };
        Self {
            identity: identity_of(folder),
            folder: folder.to_owned(),
            path,
            real,
            access,
            kind,
        }
    }

    /// Returns where a run sees it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path without links.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Returns what a run may do with it.
    pub fn access(&self) -> PathAccess {
        self.access
    }

    /// Returns what it was.
    pub fn kind(&self) -> PathKind {
        self.kind
    }

    /// Returns the folder whose identity counts: itself, the folder of a file, or the one to create it below.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Checks that it is still what was allowed.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted`, and says what changed.
    pub fn check(&self) -> Result<(), RunError> {
        self.look().map(|_| ())
    }

    /// Returns the same to read; `None` if it is to be created.
    pub(crate) fn read_only(&self) -> Option<Self> {
        let is_to_create = self.access == PathAccess::Write && matches!(self.look(), Ok(None));
        let access = PathAccess::Read;
        (!is_to_create).then(|| Self {
            access,
            ..self.clone()
        })
    }

    /// Returns whether this permission covers another one: nested permissions are one.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        let inside = |of: &Path, it: &Path| it.strip_prefix(of).ok().map(Path::to_owned);
        let real = inside(&self.real, &other.real);
        let is_inside = real.is_some() && real == inside(&self.path, &other.path);
        is_inside && self.access >= other.access
    }

    fn refused(&self, what: &str, hint: &str) -> RunError {
        let message = format!("{what}: `{}`", self.path.display());
        RunError::new(RunErrorKind::NotPermitted, message, hint)
    }

    fn replaced(&self, what: &str) -> RunError {
        let hint = "Check who changed it; if it is right, allow the skill again";
        self.refused(what, hint)
    }

    fn missing(&self) -> RunError {
        let hint = "Create it first, or remove it from the skill's permissions";
        self.refused("Granted path does not exist", hint)
    }
}

/// Returns a path that does not exist, below the deepest part of it that does.
fn below_real_ancestor(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        Some(above.canonicalize().ok()?.join(rest))
    });
    found.unwrap_or_else(|| path.to_owned())
}

#[cfg(unix)]
mod handles {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::{Component, Path};

    use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fstatvfs, mkdirat, openat};
    use rustix::io::Errno;

    use super::{ApprovedPath, Identity, OpenedPath, PathAccess, PathKind};
    use crate::error::RunError;

    /// Refers to a file without opening it, where the system can do that.
    #[cfg(target_os = "linux")]
    const REFERENCE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    const REFERENCE: OFlags = OFlags::NONBLOCK
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);

    /// Opens an absolute path as a reference, name by name. A link anywhere in it is an error. Allocates nothing.
    pub(crate) fn open_without_links(path: &Path) -> Result<OwnedFd, Errno> {
        let mut here = openat(CWD, c"/", REFERENCE | OFlags::DIRECTORY, Mode::empty())?;
        let mut parts = path.components();
        if parts.next() != Some(Component::RootDir) {
            return Err(Errno::INVAL);
        }
        for part in parts {
            here = step(&here, part)?;
        }
        Ok(here)
    }

    /// Opens a name in a folder as a reference, unless it is a link.
    fn step(folder: impl AsFd, part: Component<'_>) -> Result<OwnedFd, Errno> {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL);
        };
        let found = openat(folder, name, REFERENCE, Mode::empty())?;
        match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Symlink => Err(Errno::LOOP),
            _ => Ok(found),
        }
    }

    #[cfg_attr(
        target_os = "linux",
        expect(
            clippy::useless_conversion,
            reason = "its type differs between systems"
        )
    )]
    pub(crate) fn device(number: rustix::fs::Dev) -> u64 {
        u64::try_from(number).unwrap_or_default()
    }

    fn identity(handle: &OwnedFd) -> io::Result<Identity> {
        let found = fstat(handle)?;
        let device = device(found.st_dev);
        let system = match fstatvfs(handle).map_or(0, |system| system.f_fsid) {
            0 => device,
            id => id,
        };
        Ok(Identity {
            system,
            inode: found.st_ino,
        })
    }

    /// Returns a folder's identity; one that nothing has if it cannot be opened.
    pub(super) fn identity_of(folder: &Path) -> Identity {
        let found = open_without_links(folder).map_err(io::Error::from);
        let found = found.and_then(|handle| identity(&handle));
        found.unwrap_or(Identity {
            system: 0,
            inode: 0,
        })
    }

    impl ApprovedPath {
        /// Opens it, unless it is no longer what was allowed. `None` if it does not exist yet.
        pub(super) fn look(&self) -> Result<Option<OwnedFd>, RunError> {
            let mut here = self.open_folder()?;
            let rest = self.real.strip_prefix(&self.folder);
            for part in rest.unwrap_or(Path::new("")).components() {
                here = match step(&here, part) {
                    Ok(found) => found,
                    Err(Errno::NOENT) if self.kind == PathKind::Missing => return Ok(None),
                    Err(error) => return Err(self.explain(error)),
                };
            }
            let found = fstat(&here).map_err(|error| self.explain(error))?;
            match (FileType::from_raw_mode(found.st_mode), self.kind) {
                (FileType::RegularFile, PathKind::Folder) => {
                    Err(self.replaced("Granted folder is now a file"))
                }
                (FileType::Directory, PathKind::File) => {
                    Err(self.replaced("Granted file is now a folder"))
                }
                (FileType::RegularFile | FileType::Directory, _) => Ok(Some(here)),
                _ => {
                    let hint = "Sockets, devices and pipes are never granted; remove it from the skill's permissions";
                    Err(self.refused("Granted path is neither a file nor a folder", hint))
                }
            }
        }

        fn open_folder(&self) -> Result<OwnedFd, RunError> {
            let opened = open_without_links(&self.folder).map_err(|error| self.explain(error))?;
            let found = identity(&opened).ok();
            if found != Some(self.identity) {
                let what = match self.kind {
                    PathKind::Folder => "Granted folder was replaced by another one",
                    _ => "Folder of the granted path was replaced by another one",
                };
                return Err(self.replaced(what));
            }
            Ok(opened)
        }

        /// Opens it for a run. A folder to write to that does not exist yet is created.
        pub(crate) fn open(&self) -> Result<OpenedPath, RunError> {
            let handle = match (self.look()?, self.access) {
                (Some(handle), _) => handle,
                (None, PathAccess::Write) => self.create()?,
                (None, PathAccess::Read) => return Err(self.missing()),
            };
            let inode = fstat(&handle).map(|found| (device(found.st_dev), found.st_ino));
            Ok(OpenedPath {
                path: self.path.clone(),
                real: self.real.clone(),
                access: self.access,
                inode: inode.map_err(|error| self.explain(error))?,
                handle,
            })
        }

        fn create(&self) -> Result<OwnedFd, RunError> {
            let mut here = self.open_folder()?;
            let rest = self.real.strip_prefix(&self.folder);
            for part in rest.unwrap_or(Path::new("")).components() {
                let made = mkdirat(&here, part.as_os_str(), Mode::from_raw_mode(0o777));
                let made = match made {
                    Err(Errno::EXIST) => Ok(()),
                    made => made,
                };
                let opened = made.and_then(|()| step(&here, part));
                here = opened.map_err(|error| self.explain(error))?;
            }
            Ok(here)
        }

        /// Says why it could not be opened, with the part of the path that is the cause.
        fn explain(&self, error: Errno) -> RunError {
            let parts: Vec<&Path> = self.real.ancestors().collect();
            let mut parts = parts.into_iter().rev();
            let cause = parts.find_map(|part| match part.symlink_metadata() {
                Err(error) => Some((part, Some(error))),
                Ok(found) => found.is_symlink().then_some((part, None)),
            });
            match cause {
                Some((part, None)) if part == self.real => {
                    self.replaced("Granted path is now a link")
                }
                Some((part, None)) => {
                    let part = part.display();
                    self.replaced(&format!("Granted path now leads through the link `{part}`"))
                }
                Some((_, Some(error))) if error.kind() == io::ErrorKind::NotFound => self.missing(),
                _ => {
                    let why = io::Error::from(error);
                    self.replaced(&format!("Granted path cannot be opened ({why})"))
                }
            }
        }
    }
}

#[cfg(unix)]
use self::handles::identity_of;

#[cfg(not(unix))]
fn identity_of(_: &Path) -> Identity {
    Identity {
        system: 0,
        inode: 0,
    }
}

/// Without handles the path is compared: nothing is enforced on these systems anyway.
#[cfg(not(unix))]
impl ApprovedPath {
    fn look(&self) -> Result<Option<()>, RunError> {
        match self.path.canonicalize() {
            Ok(real) if real == self.real => Ok(Some(())),
            Ok(_) => Err(self.replaced("Granted path now leads elsewhere")),
            Err(_) if self.kind == PathKind::Missing => Ok(None),
            Err(_) => Err(self.missing()),
        }
    }

    pub(crate) fn open(&self) -> Result<OpenedPath, RunError> {
        self.look()?.ok_or_else(|| self.missing())?;
        Ok(OpenedPath {
            path: self.path.clone(),
            real: self.real.clone(),
            access: self.access,
        })
    }
}
