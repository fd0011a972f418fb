//! Searches a folder for what stays read-only in it: names, and repositories under any name.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, fstat, readlinkat, statat};
use rustix::io::Errno;

use super::clock::nanoseconds;
use super::folders::{FileNumber, When, inode, is_own, open_again, open_folder, unlock};
use crate::error::{RunError, RunErrorKind};
use crate::protected::{Protected, REPOSITORY_MARKS, is_repository};

/// Maximum entries of a writable folder: it is searched before and after each run.
const MAX_ENTRIES: usize = 1_000_000;

/// Maximum folders inside each other: each takes a descriptor while it is searched.
const MAX_DEPTH: usize = 64;

/// Something that stays read-only.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its path inside the folder.
    pub(super) inside: PathBuf,
    pub(super) inode: FileNumber,
    /// Where it leads, if it is a link.
    pub(super) target: Option<OsString>,
}

impl Part {
    /// Returns whether this is the same thing, maybe elsewhere. Numbers of deleted links are used again.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.inode == other.inode && self.target == other.target
    }
}

/// A part, and what to rename so that it is none.
pub(super) struct Found<'a> {
    pub(super) part: Part,
    pub(super) parent: BorrowedFd<'a>,
    pub(super) name: &'a CStr,
    /// The path of what to rename, inside the folder.
    pub(super) renamed: PathBuf,
    /// When the run could have created it at the latest, in nanoseconds.
    pub(super) changed: i128,
}

/// Whether a part was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
}

/// Why a folder is not written to.
pub(super) enum Stopped {
    TooLarge,
    TooDeep(PathBuf),
    Repository,
    Closed(PathBuf),
    Failed(PathBuf, Errno),
}

impl Stopped {
    pub(super) fn error(self, folder: &Path) -> RunError {
        let folder = |inside: PathBuf| {
            let parts = inside.components();
            parts.fold(folder.to_owned(), |path, part| path.join(part))
        };
        let unsearched = "Folder cannot be searched for what stays read-only in it";
        let shown = |inside| folder(inside).display().to_string();
        let (message, hint) = match self {
            Self::TooLarge => (
                format!(
                    "Folder has more than {MAX_ENTRIES} entries, too many to write to safely: `{}`",
                    shown(PathBuf::new())
                ),
                "Allow a folder inside it",
            ),
            Self::TooDeep(inside) => (
                format!(
                    "Folder is more than {MAX_DEPTH} folders deep, too many to write to safely: `{}`",
                    shown(inside)
                ),
                "Delete what is so deep, or allow another folder",
            ),
            Self::Repository => (
                format!(
                    "Folder is a repository, which no skill may write: `{}`",
                    shown(PathBuf::new())
                ),
                "Allow another folder",
            ),
            Self::Closed(inside) => (
                format!("{unsearched}: `{}`", shown(inside)),
                "Make it readable for yourself, or allow another folder",
            ),
            Self::Failed(inside, error) => (
                format!(
                    "{unsearched} ({}): `{}`",
                    io::Error::from(error),
                    shown(inside)
                ),
                "Remove the cause, or allow another folder",
            ),
        };
        RunError::new(RunErrorKind::NotPermitted, message, hint)
    }
}

/// A search of one folder.
pub(super) struct Search<'a> {
    pub(super) protected: &'a Protected,
    /// The names of the folder itself.
    pub(super) own_names: Vec<OsString>,
    pub(super) when: When,
    /// Receives each part.
    pub(super) visit: &'a mut dyn FnMut(Found<'_>) -> Known,
}

/// What a search found besides the parts.
#[derive(Default)]
pub(super) struct Rest {
    entries: usize,
    /// Links in the parts, before a run.
    pub(super) links: Vec<PathBuf>,
    /// What could not be searched after a run.
    pub(super) unsearched: Vec<PathBuf>,
}

impl Search<'_> {
    /// Visits everything that stays read-only in a folder.
    pub(super) fn run(mut self, folder: BorrowedFd<'_>) -> Result<Rest, Stopped> {
        let mut rest = Rest::default();
        if self.protected.read_only_names().is_empty() {
            return Ok(rest);
        }
        let top = Path::new("");
        let opened = match open_again(folder) {
            Err(Errno::ACCESS) if self.when == When::After && is_own(folder) => {
                unlock(folder).and_then(|()| open_again(folder))
            }
            opened => opened,
        };
        match opened {
            Ok(opened) => self.folder(opened, top, &mut rest)?,
            Err(error) => self.failed(top, error, &mut rest)?,
        }
        Ok(rest)
    }

    /// Before a run, what cannot be searched refuses it. After it, the rest is searched all the same.
    fn failed(&self, inside: &Path, error: Errno, rest: &mut Rest) -> Result<(), Stopped> {
        match (self.when, error) {
            (When::Before, Errno::ACCESS) => Err(Stopped::Closed(inside.to_owned())),
            (When::Before, _) => Err(Stopped::Failed(inside.to_owned(), error)),
            (When::After, _) => {
                rest.unsearched.push(inside.to_owned());
                Ok(())
            }
        }
    }

    fn folder(&mut self, folder: OwnedFd, inside: &Path, rest: &mut Rest) -> Result<(), Stopped> {
        let mut entries = match Dir::new(folder) {
            Ok(entries) => entries,
            Err(error) => return self.failed(inside, error, rest),
        };
        let listed = self.list(&mut entries, inside, rest)?;
        let folder = match entries.fd() {
            Ok(folder) => folder,
            Err(error) => return self.failed(inside, error, rest),
        };
        if listed.is_empty() || !self.can_search(folder, inside, rest)? {
            return Ok(());
        }
        if let Some(head) = &listed.head {
            if self.when == When::Before && inside.as_os_str().is_empty() {
                return Err(Stopped::Repository);
            }
            let known = self.repository(folder, head, inside, rest)?;
            match self.when {
                When::Before => return self.links_below(folder, inside, rest),
                When::After if known == Known::Yes => return Ok(()),
                When::After => {}
            }
        }
        for name in &listed.parts {
            self.part(folder, name, inside, rest)?;
        }
        for name in &listed.folders {
            let inside = inside.join(OsStr::from_bytes(name.to_bytes()));
            if let Some(below) = self.open(folder, name, &inside, rest)? {
                self.folder(below, &inside, rest)?;
            }
        }
        Ok(())
    }

    fn list(&self, entries: &mut Dir, inside: &Path, rest: &mut Rest) -> Result<Listed, Stopped> {
        let is = |name: &CStr, mark: &str| is_same(OsStr::from_bytes(name.to_bytes()), mark);
        let mut listed = Listed::default();
        let mut marks: Vec<CString> = Vec::new();
        while let Some(entry) = entries.read() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.failed(inside, error, rest)?;
                    break;
                }
            };
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            rest.entries += 1;
            if self.when == When::Before && rest.entries > MAX_ENTRIES {
                return Err(Stopped::TooLarge);
            }
            if self.is_read_only(inside, OsStr::from_bytes(name.to_bytes())) {
                listed.parts.push(name.to_owned());
            } else if matches!(entry.file_type(), FileType::Directory | FileType::Unknown) {
                listed.folders.push(name.to_owned());
            }
            if REPOSITORY_MARKS.iter().any(|mark| is(name, mark)) {
                marks.push(name.to_owned());
            }
        }
        let has = |mark: &str| marks.iter().any(|name| is(name, mark));
        if self.protected.keeps_repositories() && is_repository(has) {
            listed.head = marks.iter().find(|name| is(name, "HEAD")).cloned();
        }
        listed.parts.sort();
        listed.folders.sort();
        Ok(listed)
    }

    /// Returns whether what is in a folder can be looked at. What is closed to the user is closed to the run too.
    fn can_search(
        &self,
        folder: BorrowedFd<'_>,
        inside: &Path,
        rest: &mut Rest,
    ) -> Result<bool, Stopped> {
        let error = match statat(folder, c".", AtFlags::empty()) {
            Ok(_) => return Ok(true),
            Err(Errno::ACCESS) if !is_own(folder) => return Ok(false),
            Err(Errno::ACCESS) if self.when == When::After => match unlock(folder) {
                Ok(()) => return Ok(true),
                Err(error) => error,
            },
            Err(error) => error,
        };
        self.failed(inside, error, rest).map(|()| false)
    }

    /// Visits a folder that is a repository, whatever its name. Without its `HEAD` it is none.
    fn repository(
        &mut self,
        folder: BorrowedFd<'_>,
        head: &CStr,
        inside: &Path,
        rest: &mut Rest,
    ) -> Result<Known, Stopped> {
        let status = match fstat(folder) {
            Ok(status) => status,
            Err(error) => return self.failed(inside, error, rest).map(|()| Known::No),
        };
        let known = (self.visit)(Found {
            renamed: inside.join(OsStr::from_bytes(head.to_bytes())),
            part: Part {
                inside: inside.to_owned(),
                inode: inode(&status),
                target: None,
            },
            parent: folder,
            name: head,
            changed: nanoseconds(status.st_ctime, status.st_ctime_nsec),
        });
        Ok(known)
    }

    fn part(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        inside: &Path,
        rest: &mut Rest,
    ) -> Result<(), Stopped> {
        let place = inside.join(OsStr::from_bytes(name.to_bytes()));
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let (found, around) = match found.and_then(|found| Ok((found, fstat(folder)?))) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return self.failed(&place, error, rest),
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        let target = match kind {
            FileType::Symlink => readlinkat(folder, name, Vec::new()).ok(),
            _ => None,
        };
        let mut changed = nanoseconds(found.st_ctime, found.st_ctime_nsec);
        if !self.has_whole_name(OsStr::from_bytes(name.to_bytes())) {
            // Renaming the folder around it gives it its name too.
            changed = changed.max(nanoseconds(around.st_ctime, around.st_ctime_nsec));
        }
        (self.visit)(Found {
            renamed: place.clone(),
            part: Part {
                inside: place.clone(),
                inode: inode(&found),
                target: target.map(|target| OsStr::from_bytes(target.to_bytes()).to_owned()),
            },
            parent: folder,
            name,
            changed,
        });
        match (self.when, kind) {
            (When::Before, FileType::Symlink) => rest.links.push(place),
            (When::Before, FileType::Directory) => {
                if let Some(below) = self.open(folder, name, &place, rest)? {
                    self.links(below, &place, rest)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens a folder inside another one; `None` if it is not searched.
    fn open(
        &self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        inside: &Path,
        rest: &mut Rest,
    ) -> Result<Option<OwnedFd>, Stopped> {
        let opened = match open_folder(folder, name, self.when) {
            Ok(opened) => opened,
            Err(error) => return self.failed(inside, error, rest).map(|()| None),
        };
        let is_deep = opened.is_some() && inside.components().count() > MAX_DEPTH;
        match self.when {
            When::Before if is_deep => Err(Stopped::TooDeep(inside.to_owned())),
            // The next run is refused.
            When::After if is_deep => Ok(None),
            _ => Ok(opened),
        }
    }

    /// Adds the links in a part, which can lead to what a run could write.
    fn links(&self, folder: OwnedFd, inside: &Path, rest: &mut Rest) -> Result<(), Stopped> {
        let mut entries = match Dir::new(folder) {
            Ok(entries) => entries,
            Err(error) => return self.failed(inside, error, rest),
        };
        let mut folders: Vec<CString> = Vec::new();
        while let Some(entry) = entries.read() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.failed(inside, error, rest),
            };
            let name = entry.file_name();
            // Nothing in the objects of a repository is run, and there are many.
            if name == c"." || name == c".." || name == c"objects" {
                continue;
            }
            rest.entries += 1;
            if rest.entries > MAX_ENTRIES {
                return Err(Stopped::TooLarge);
            }
            let place = inside.join(OsStr::from_bytes(name.to_bytes()));
            let kind = match entry.file_type() {
                FileType::Unknown => kind_of(&entries, name),
                kind => Ok(kind),
            };
            match kind {
                Ok(FileType::Symlink) => rest.links.push(place),
                Ok(FileType::Directory) => folders.push(name.to_owned()),
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => self.failed(&place, error, rest)?,
            }
        }
        let folder = match entries.fd() {
            Ok(folder) => folder,
            Err(error) => return self.failed(inside, error, rest),
        };
        if folders.is_empty() || !self.can_search(folder, inside, rest)? {
            return Ok(());
        }
        for name in &folders {
            let inside = inside.join(OsStr::from_bytes(name.to_bytes()));
            if let Some(below) = self.open(folder, name, &inside, rest)? {
                self.links(below, &inside, rest)?;
            }
        }
        Ok(())
    }

    fn links_below(
        &self,
        folder: BorrowedFd<'_>,
        inside: &Path,
        rest: &mut Rest,
    ) -> Result<(), Stopped> {
        match open_again(folder) {
            Ok(folder) => self.links(folder, inside, rest),
            Err(error) => self.failed(inside, error, rest),
        }
    }

    fn has_whole_name(&self, name: &OsStr) -> bool {
        let mut known = self.protected.read_only_names().iter();
        known.any(|known| is_same(name, known))
    }

    /// Returns whether an entry stays read-only. Letters count in both cases: some file systems see no difference.
    fn is_read_only(&self, inside: &Path, name: &OsStr) -> bool {
        let is_below = |parent: &str| match inside.file_name() {
            Some(around) => is_same(around, parent),
            None => self.own_names.iter().any(|own| is_same(own, parent)),
        };
        let known = self.protected.read_only_names().iter();
        let mut pairs = known.filter_map(|known| known.split_once('/'));
        self.has_whole_name(name)
            || pairs.any(|(parent, known)| is_same(name, known) && is_below(parent))
    }
}

fn is_same(name: &OsStr, known: &str) -> bool {
    name.as_bytes().eq_ignore_ascii_case(known.as_bytes())
}

fn kind_of(entries: &Dir, name: &CStr) -> Result<FileType, Errno> {
    let found = statat(entries.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(found.st_mode))
}

/// The entries of a folder that count.
#[derive(Default)]
struct Listed {
    parts: Vec<CString>,
    folders: Vec<CString>,
    /// Makes the folder a repository.
    head: Option<CString>,
}

impl Listed {
    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.folders.is_empty() && self.head.is_none()
    }
}
