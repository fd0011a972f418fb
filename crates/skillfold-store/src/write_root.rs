//! A folder that is trusted, and what is written below it.

use std::ffi::OsStr;
use std::fs::File;
#[cfg(unix)]
use std::fs::Permissions;
use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use skillfold_core::{Error, FileBytes};

use crate::dir::{Dir, Identity, Kind, identity};
use crate::fault::{CHANGED, WriteFault, WriteResult};
use crate::flock::keep_out_others;
use crate::restore::{has_content, remove_aside};
use crate::staged::{Rights, Staged, is_temporary, temporary_name};

const READ_ONLY: &str = "The file may not be written; make it writable first";
const LINK: &str = "Skillfold does not write through links; name the link's target instead";
const NO_FILE: &str = "Only regular files are written";

/// Who may read what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Whom the umask lets: 0644 for a file, 0755 for a folder, less the umask. A file that is replaced keeps its mode.
    Ordinary,
    /// Its owner alone: 0600 for a file, 0700 for a folder, whatever the umask and the mode before.
    Private,
}

/// A file as it was read, which says what a write may replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    bytes: Vec<u8>,
    identity: Identity,
}

impl ReadFile {
    /// Returns the content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<FileBytes> for ReadFile {
    /// Takes what a source read; without a device and an inode, content alone is compared.
    fn from(content: FileBytes) -> Self {
        let revision = content.state.revision;
        let is_known = revision.inode != 0;
        Self {
            bytes: content.bytes,
            identity: is_known.then_some((revision.device, revision.inode)),
        }
    }
}

/// A folder that is trusted, held open. Everything is written below it, and no link below it is followed.
///
/// Paths are relative to it, without `..`. Temporary files are named `.skillfold-write-` and random characters; each write
/// removes those that killed writers left in the same folder, so its cost grows with the number of entries there. On a
/// file system without locks leftovers stay.
///
/// Elsewhere than on Unix there are no handles of folders: links are refused where they are seen, and somebody who swaps
/// one in at that moment can win.
#[derive(Debug)]
pub struct WriteRoot {
    path: PathBuf,
    pub(crate) dir: Dir,
}

impl WriteRoot {
    /// Opens a folder. Links on the way to it are followed: the caller trusts it.
    ///
    /// # Errors
    ///
    /// [`NotFound`](skillfold_core::ErrorKind::NotFound) if it is not there.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let dir = Dir::open(path).map_err(|error| Error::read(path.to_string_lossy(), error))?;
        let path = path.to_owned();
        Ok(Self { path, dir })
    }

    /// Opens a folder, and makes it and those above it where they are not there. Links on the way are followed: this is
    /// for folders of the person, and not for what a project has in it.
    ///
    /// With [`Access::Private`] the folder is its owner's alone afterwards, also if it was there before.
    pub fn open_or_create(path: &Path, access: Access) -> Result<Self, Error> {
        let made = || -> io::Result<Dir> {
            make_folder(path)?;
            let dir = Dir::open(path)?;
            if access == Access::Private {
                dir.set_mode(0o700)?;
            }
            Ok(dir)
        };
        let dir = made().map_err(|error| Error::write(path.to_string_lossy(), error))?;
        let path = path.to_owned();
        Ok(Self { path, dir })
    }

    /// Reads a file whole; nothing if it, or a folder on the way, is not there.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if it, or a folder on the way, is a link, or it is no regular file;
    /// [`Unreadable`](skillfold_core::ErrorKind::Unreadable) if it has more bytes than `limit` or the system could not do it.
    pub fn read(&self, file: &Path, limit: u64) -> Result<Option<ReadFile>, Error> {
        let read = || -> WriteResult<ReadFile> {
            let (dir, name) = self.enter(file)?;
            regular(&dir, name)?;
            let handle = dir.open_to_read(name)?;
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
            Ok(existing) => Ok(Some(existing)),
            Err(fault) if fault.is_missing() => Ok(None),
            Err(WriteFault::System(error)) => {
                Err(Error::read(self.shown(file).to_string_lossy(), error))
            }
            Err(fault) => Err(fault.at(&self.shown(file))),
        }
    }

    /// Creates a file that must not exist yet, with its content whole from the first moment.
    ///
    /// Folders on the way to it are made too, and stay if the write fails after that. Of several writers at once the first
    /// one wins.
    ///
    /// # Errors
    ///
    /// [`Exists`](skillfold_core::ErrorKind::Exists) if there is a file already; it stays as it is.
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if it, or a folder on the way, is a link, something else than a
    /// regular file is there, or the path does not end in a name, leads out of the folder or has the name of a temporary
    /// file. [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the system could not do it; nothing is there then,
    /// or, if only the last step of bringing the folder to the disk failed, the file.
    pub fn create(&self, file: &Path, bytes: &[u8], access: Access) -> Result<(), Error> {
        let create = || -> WriteResult<()> {
            let (dir, name) = self.enter_or_make(file, access)?;
            match regular(&dir, name) {
                Ok(_) => return Err(WriteFault::Exists),
                Err(fault) if fault.is_missing() => {}
                Err(fault) => return Err(fault),
            }
            let rights = match access {
                Access::Ordinary => Rights::Ordinary,
                Access::Private => Rights::Private,
            };
            let staged = Staged::write(&dir, bytes, &rights)?;
            staged
                .take_free_name(name)
                .map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => WriteFault::Exists,
                    _ => WriteFault::System(error),
                })?;
            Ok(dir.sync()?)
        };
        create().map_err(|fault| fault.at(&self.shown(file)))
    }

    /// Replaces a file that is still the one that was read: after a crash at any moment it has the old content or the
    /// new, never a part.
    ///
    /// Owner, group and attributes become those of a new file, and other hard links keep the old content.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the file is another one, has another content or is gone, if it
    /// may not be written, and as [`create`](Self::create). What was there is in place then; where several others write
    /// at that moment, one of them has the name, and the hint says where the other content is. If only the last step of
    /// bringing the folder to the disk failed, the new content may be in place.
    pub fn replace(
        &self,
        file: &Path,
        old: &ReadFile,
        bytes: &[u8],
        access: Access,
    ) -> Result<(), Error> {
        let replace = || -> WriteResult<()> {
            let (dir, name) = self.enter(file)?;
            let mut opened = unchanged(&dir, name, old)?;
            let rights = match access {
                Access::Ordinary => kept(&opened)?,
                Access::Private => Rights::Private,
            };
            // While it has the temporary name for a moment, no other writer may take it for a leftover.
            _ = opened.try_lock();
            let staged = Staged::write(&dir, bytes, &rights)?;
            keep_out_others(&dir);
            match dir.exchange(staged.name(), name) {
                Ok(()) => return staged.settle(name, &mut opened, &old.bytes),
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    drop(opened);
                    unchanged(&dir, name, old)?;
                    staged.take_name(name)?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(WriteFault::Refused(CHANGED));
                }
                Err(error) => return Err(error.into()),
            }
            Ok(dir.sync()?)
        };
        replace().map_err(|fault| gone_is_changed(fault).at(&self.shown(file)))
    }

    /// Removes a file that is still the one that was read.
    ///
    /// # Errors
    ///
    /// As [`replace`](Self::replace).
    pub fn remove(&self, file: &Path, old: &ReadFile) -> Result<(), Error> {
        let remove = || -> WriteResult<()> {
            let (dir, name) = self.enter(file)?;
            let mut opened = unchanged(&dir, name, old)?;
            let aside = temporary_name();
            _ = opened.try_lock();
            keep_out_others(&dir);
            // The new name is free: it is random.
            dir.rename(name, &aside)?;
            remove_aside(&dir, &aside, name, &mut opened, &old.bytes)?;
            Ok(dir.sync()?)
        };
        remove().map_err(|fault| gone_is_changed(fault).at(&self.shown(file)))
    }

    pub(crate) fn shown(&self, file: &Path) -> PathBuf {
        self.path.join(file)
    }

    /// Opens the folder that a file stands in, and returns it with the file's name.
    fn enter<'f>(&self, file: &'f Path) -> WriteResult<(Dir, &'f OsStr)> {
        self.walk(file, Dir::enter)
    }

    fn enter_or_make<'f>(&self, file: &'f Path, access: Access) -> WriteResult<(Dir, &'f OsStr)> {
        let mode = match access {
            Access::Ordinary => 0o755,
            Access::Private => 0o700,
        };
        self.walk(file, |dir, name| match dir.enter(name) {
            Err(fault) if fault.is_missing() => {
                match dir.make(name, mode) {
                    // Another writer may have been quicker.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error.into());
                    }
                    _ => dir.sync()?,
                }
                dir.enter(name)
            }
            entered => entered,
        })
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
                        "The path leaves the folder that may be written",
                    ));
                }
            }
        }
        let Some(name) = names.pop() else {
            return Err(WriteFault::Refused("A path ends in the name of a file"));
        };
        if is_temporary(name) {
            let rule = "Names that start with `.skillfold-write-` are those of temporary files";
            return Err(WriteFault::Refused(rule));
        }
        let mut dir = self.dir.enter(OsStr::new("."))?;
        for name in names {
            dir = step(&dir, name)?;
        }
        Ok((dir, name))
    }
}

/// Returns what stands under a name, if it is a regular file.
fn regular(dir: &Dir, name: &OsStr) -> WriteResult<Identity> {
    match dir.look(name)? {
        None => Err(WriteFault::System(io::ErrorKind::NotFound.into())),
        Some(found) => match found.kind {
            Kind::File => Ok(found.identity),
            Kind::Link => Err(WriteFault::Refused(LINK)),
            Kind::Folder | Kind::Other => Err(WriteFault::Refused(NO_FILE)),
        },
    }
}

/// Opens a file that may be written to and is still the one that was read.
fn unchanged(dir: &Dir, name: &OsStr, old: &ReadFile) -> WriteResult<File> {
    let looked_at = regular(dir, name)?;
    let mut file = dir
        .open_to_change(name)
        .map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => WriteFault::Refused(READ_ONLY),
            _ => WriteFault::System(error),
        })?;
    let metadata = file.metadata()?;
    // Who may write everything is asked to say so for what is marked read-only.
    if metadata.permissions().readonly() {
        return Err(WriteFault::Refused(READ_ONLY));
    }
    let opened = identity(&metadata);
    let is_read = old.identity.is_none() || opened.is_none() || opened == old.identity;
    if opened == looked_at && is_read && has_content(&mut file, &old.bytes)? {
        Ok(file)
    } else {
        Err(WriteFault::Refused(CHANGED))
    }
}

fn kept(file: &File) -> io::Result<Rights> {
    let permissions = file.metadata()?.permissions();
    // The new file belongs to its writer: whoever runs it must not become the writer.
    #[cfg(unix)]
    let permissions = Permissions::from_mode(permissions.mode() & 0o777);
    Ok(Rights::Kept(permissions))
}

/// A file that was read and is not there has changed.
fn gone_is_changed(fault: WriteFault) -> WriteFault {
    if fault.is_missing() {
        WriteFault::Refused(CHANGED)
    } else {
        fault
    }
}

/// Makes a folder and those above it, each with its name on the disk.
fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let above = if above.as_os_str().is_empty() {
        Path::new(".")
    } else {
        above
    };
    make_folder(above)?;
    let above = Dir::open(above)?;
    match above.make(name, 0o755) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        // Another writer may have been quicker.
        Err(_) if !path.is_dir() => return Err(io::ErrorKind::NotADirectory.into()),
        _ => {}
    }
    above.sync()
}
