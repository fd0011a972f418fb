//! Access relative to an open folder; the kernel refuses to leave it.

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::error::is_transient;
use crate::name::ResourcePath;
use crate::source::folder::Reached;
use crate::source::fs::beneath::{self, FOLDER_FLAGS, READ_FLAGS, fstat, openat, statat};
use crate::source::fs::tree::{
    AccessRule, Encoding, EntryKind, OpenedSkillFile, RawEntry, Stat, Tree,
};
use crate::source::fs::tree::{is_link_refusal, join};
use crate::source::{Folder, FolderIdentity, IdentityRepr, LinkPolicy, Revision, SKILL_FILE};

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct UnixTree {
    root: OwnedFd,
    links: LinkPolicy,
}

impl UnixTree {
    pub(super) fn open(path: &Path, links: LinkPolicy) -> io::Result<Self> {
        Ok(Self {
            root: openat(CWD, path, FOLDER_FLAGS, Mode::empty())?,
            links,
        })
    }

    /// Opens a folder for the walk. Its path may contain links if the policy follows them.
    fn open_for_walk(&self, folder: &str) -> io::Result<OwnedFd> {
        match (folder, self.links) {
            ("", _) => Ok(openat(&self.root, ".", FOLDER_FLAGS, Mode::empty())?),
            (_, LinkPolicy::Follow) => Ok(openat(&self.root, folder, FOLDER_FLAGS, Mode::empty())?),
            (_, LinkPolicy::Refuse | LinkPolicy::Strict) => {
                beneath::open(self.root.as_fd(), folder, FOLDER_FLAGS)
            }
        }
    }

    /// Opens the folder of a skill that was reached through a link. The target must still be a skill.
    fn open_linked(&self, folder: &Folder) -> io::Result<OwnedFd> {
        if self.links != LinkPolicy::Follow {
            return Err(AccessRule::LinkOnPath.into());
        }
        let handle = match openat(&self.root, folder.path(), FOLDER_FLAGS, Mode::empty()) {
            Err(Errno::LOOP) => return Err(AccessRule::LinkToNonSkill.into()),
            opened => opened?,
        };
        match statat(&handle, SKILL_FILE, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => Ok(handle),
            Err(error) if is_transient(&error.into()) => Err(error.into()),
            Ok(_) | Err(_) => Err(AccessRule::LinkToNonSkill.into()),
        }
    }

    /// Opens the folder of a listed skill.
    fn open_skill(&self, folder: &Folder) -> io::Result<OwnedFd> {
        match (folder.reached(), folder.path()) {
            (Reached::Direct, "") => Ok(openat(&self.root, ".", FOLDER_FLAGS, Mode::empty())?),
            (Reached::Direct, path) => beneath::open(self.root.as_fd(), path, FOLDER_FLAGS)
                .map_err(|error| map_link_refusal(error, AccessRule::LinkOnPath)),
            (Reached::Linked, _) => self.open_linked(folder),
        }
    }

    /// Opens a file or folder inside a listed skill, in one step if the skill was reached without links.
    fn open_inside(&self, folder: &Folder, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        if folder.reached() == Reached::Linked {
            return beneath::open(self.open_linked(folder)?.as_fd(), path, flags)
                .map_err(|error| map_link_refusal(error, AccessRule::LinkInside));
        }
        beneath::open(self.root.as_fd(), &join(folder.path(), path), flags).map_err(|error| {
            let on_the_way = |rule| AccessRule::from_error(rule) == Some(AccessRule::LinkOnPath);
            if is_link_refusal(&error) && self.open_skill(folder).as_ref().is_err_and(on_the_way) {
                AccessRule::LinkOnPath.into()
            } else {
                map_link_refusal(error, AccessRule::LinkInside)
            }
        })
    }

    /// Calls `with` with a handle and the path of a folder's `SKILL.md` relative to it.
    fn with_skill_file<T>(
        &self,
        folder: &str,
        with: impl FnOnce(BorrowedFd<'_>, &str) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.links {
            LinkPolicy::Follow => with(self.root.as_fd(), &join(folder, SKILL_FILE)),
            LinkPolicy::Refuse | LinkPolicy::Strict => {
                with(self.open_for_walk(folder)?.as_fd(), SKILL_FILE)
            }
        }
    }

    fn to_stat_with_identity(&self, found: &rustix::fs::Stat, folder: &str) -> io::Result<Stat> {
        // A file with one hard link is in one folder. With several, only the folder itself identifies it.
        let identity = match found.st_nlink {
            1 => inode(found),
            _ => inode(&fstat(self.open_for_walk(folder)?)?),
        };
        Ok(Stat {
            identity: Some(identity),
            ..self.to_stat(found)
        })
    }

    fn to_stat(&self, found: &rustix::fs::Stat) -> Stat {
        let kind = match kind(FileType::from_raw_mode(found.st_mode)) {
            EntryKind::File if self.links == LinkPolicy::Strict && found.st_nlink > 1 => {
                EntryKind::HardLinked
            }
            kind => kind,
        };
        Stat {
            kind,
            revision: revision(found),
            identity: None,
        }
    }
}

/// Maximum attempts to open a file that is replaced between `stat` and `open`, as editors and installers do.
const MAX_OPEN_ATTEMPTS: usize = 32;

/// Maximum length of a path built on the stack, including the terminating NUL.
const SHORT_PATH_BYTES: usize = 128;

/// Builds the path of a folder's `SKILL.md` in the buffer. Returns `None` if it does not fit.
fn short_path<'b>(folder: &str, buffer: &'b mut [u8; SHORT_PATH_BYTES]) -> Option<&'b CStr> {
    let slash = if folder.is_empty() { "" } else { "/" };
    let mut length = 0;
    for part in [folder, slash, SKILL_FILE, "\0"] {
        let end = length + part.len();
        buffer
            .get_mut(length..end)?
            .copy_from_slice(part.as_bytes());
        length = end;
    }
    CStr::from_bytes_with_nul(&buffer[..length]).ok()
}

impl Tree for UnixTree {
    fn links(&self) -> LinkPolicy {
        self.links
    }

    fn identity(&self, folder: &str) -> io::Result<FolderIdentity> {
        Ok(inode(&fstat(self.open_for_walk(folder)?)?))
    }

    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>> {
        list_entries(&self.open_for_walk(folder)?, limit)
    }

    fn stat(&self, folder: &str) -> io::Result<Stat> {
        let found = self.with_skill_file(folder, |handle, path| {
            Ok(statat(handle, path, AtFlags::SYMLINK_NOFOLLOW)?)
        })?;
        self.to_stat_with_identity(&found, folder)
    }

    /// Stats relative to the open folder, so that its path is resolved only once. Links among the entries are followed,
    /// so this is only for [`LinkPolicy::Follow`].
    fn stats(&self, folder: &str, entries: &[RawEntry]) -> Option<Vec<io::Result<Stat>>> {
        if self.links != LinkPolicy::Follow {
            return None;
        }
        let handle = self.open_for_walk(folder).ok()?;
        let stat = |entry: &RawEntry| {
            if !matches!(entry.kind, EntryKind::Folder | EntryKind::Link) {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            let mut short = [0; SHORT_PATH_BYTES];
            let found = match short_path(&entry.name, &mut short) {
                Some(path) => statat(&handle, path, AtFlags::SYMLINK_NOFOLLOW),
                None => statat(
                    &handle,
                    &*join(&entry.name, SKILL_FILE),
                    AtFlags::SYMLINK_NOFOLLOW,
                ),
            }?;
            match found.st_nlink {
                1 => Ok(Stat {
                    identity: Some(inode(&found)),
                    ..self.to_stat(&found)
                }),
                _ => self.to_stat_with_identity(&found, &join(folder, &entry.name)),
            }
        };
        Some(entries.iter().map(stat).collect())
    }

    fn lstat(&self, path: &str) -> io::Result<EntryKind> {
        let stat = statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind(FileType::from_raw_mode(stat.st_mode)))
    }

    fn target_kind(&self, path: &str) -> io::Result<EntryKind> {
        let stat = statat(&self.root, path, AtFlags::empty())?;
        Ok(kind(FileType::from_raw_mode(stat.st_mode)))
    }

    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        let handle = self
            .open_inside(folder, SKILL_FILE, READ_FLAGS)
            .map_err(|error| {
                match Errno::from_io_error(&error) {
                    // A socket cannot be opened.
                    Some(Errno::NXIO | Errno::OPNOTSUPP) => AccessRule::NotAFile.into(),
                    _ => error,
                }
            })?;
        let opened = self.to_stat(&fstat(&handle)?);
        AccessRule::check_readable(opened.kind)?;
        let before = opened.revision;
        Ok((
            before,
            read_range(&handle, before, &(0..bytes as u64), into)?,
        ))
    }

    fn revision(&self, folder: &Folder) -> io::Result<Stat> {
        if folder.reached() == Reached::Linked && self.links != LinkPolicy::Follow {
            return Err(AccessRule::LinkOnPath.into());
        }
        // Every cached load calls this; a short path needs no allocation.
        let mut short = [0; SHORT_PATH_BYTES];
        let found = match short_path(folder.path(), &mut short) {
            Some(path) => statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW),
            None => statat(
                &self.root,
                &*join(folder.path(), SKILL_FILE),
                AtFlags::SYMLINK_NOFOLLOW,
            ),
        };
        Ok(self.to_stat(&found?))
    }

    fn entries_beneath(
        &self,
        folder: &Folder,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>> {
        let handle = match path {
            None => self.open_skill(folder)?,
            Some(path) => self.open_inside(folder, path.as_str(), FOLDER_FLAGS)?,
        };
        list_entries(&handle, limit)
    }

    fn stat_beneath(&self, folder: &Folder, path: &ResourcePath) -> io::Result<Stat> {
        let found = fstat(self.open_inside(folder, path.as_str(), beneath::STAT_FLAGS)?)?;
        Ok(self.to_stat(&found))
    }

    fn read_beneath(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: &Range<u64>,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        for _ in 0..MAX_OPEN_ATTEMPTS {
            // On Linux, the `O_PATH` check keeps devices closed: opening one can have side effects.
            let checked = fstat(self.open_inside(folder, path.as_str(), beneath::STAT_FLAGS)?)?;
            AccessRule::check_readable(self.to_stat(&checked).kind)?;
            let handle = self.open_inside(folder, path.as_str(), READ_FLAGS)?;
            let opened = fstat(&handle)?;
            if inode(&opened) != inode(&checked) {
                continue;
            }
            let opened = self.to_stat(&opened);
            AccessRule::check_readable(opened.kind)?;
            let before = opened.revision;
            return Ok((before, read_range(&handle, before, range, into)?));
        }
        let what = "the file kept being replaced while it was opened";
        Err(io::Error::other(what))
    }

    fn open_head(
        &self,
        folder: &str,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<OpenedSkillFile> {
        let opened = self.with_skill_file(folder, |handle, path| {
            match openat(handle, path, READ_FLAGS | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(handle) => Ok(Some(handle)),
                // A link or a socket cannot be opened, but can be statted.
                Err(Errno::LOOP | Errno::NXIO | Errno::OPNOTSUPP) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })?;
        let Some(handle) = opened else {
            let stat = self.stat(folder)?;
            return Ok(OpenedSkillFile {
                after: stat.revision,
                stat,
            });
        };
        let stat = self.to_stat_with_identity(&fstat(&handle)?, folder)?;
        let after = if stat.kind == EntryKind::File {
            read_range(&handle, stat.revision, &(0..bytes as u64), into)?
        } else {
            stat.revision
        };
        Ok(OpenedSkillFile { stat, after })
    }
}

/// Replaces the kernel's refusal of a link with the rule that it enforces.
fn map_link_refusal(error: io::Error, rule: AccessRule) -> io::Error {
    if is_link_refusal(&error) {
        rule.into()
    } else {
        error
    }
}

/// Reads a range of a regular file, at most up to its end, into an empty buffer. Returns the revision afterwards.
fn read_range(
    handle: &OwnedFd,
    before: Revision,
    range: &Range<u64>,
    into: &mut Vec<u8>,
) -> io::Result<Revision> {
    let wanted = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    // The size is only a hint: the file may grow while it is read. The result is bounded by `wanted` anyway.
    let available = usize::try_from(before.size.saturating_sub(range.start)).unwrap_or(usize::MAX);
    into.try_reserve(wanted.min(available.saturating_add(1)))?;
    // The system rejects offsets beyond any file size; treat them as the end of the file.
    while into.len() < wanted && range.start < i64::MAX as u64 - (1 << 32) {
        if into.len() == into.capacity() {
            into.try_reserve((wanted - into.len()).min(64 * 1024))?;
        }
        let room = into.capacity() - into.len();
        let offset = range.start.saturating_add(into.len() as u64);
        let read = retry_on_intr(|| {
            rustix::io::pread(handle, rustix::buffer::spare_capacity(into), offset)
        })?;
        // A short read at or past the known size means the end of the file.
        if read == 0 || (read < room && into.len() >= available) {
            break;
        }
    }
    into.truncate(wanted);
    Ok(revision(&fstat(handle)?))
}

/// Buffer size for directory entries.
#[cfg(target_os = "linux")]
const LIST_BUFFER_BYTES: usize = 32 * 1024;

/// Lists a freshly opened folder.
#[cfg(target_os = "linux")]
fn list_entries(handle: &OwnedFd, limit: usize) -> io::Result<Vec<RawEntry>> {
    let mut buffer = Vec::with_capacity(LIST_BUFFER_BYTES);
    let mut raw = rustix::fs::RawDir::new(handle, buffer.spare_capacity_mut());
    let mut entries = Vec::new();
    while let Some(entry) = raw.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        if !push_entry(
            handle,
            entry.file_name(),
            entry.file_type(),
            limit,
            &mut entries,
        )? {
            break;
        }
    }
    Ok(entries)
}

/// Lists a freshly opened folder.
#[cfg(not(target_os = "linux"))]
fn list_entries(handle: &OwnedFd, limit: usize) -> io::Result<Vec<RawEntry>> {
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::read_from(handle)? {
        let entry = entry?;
        if !push_entry(
            handle,
            entry.file_name(),
            entry.file_type(),
            limit,
            &mut entries,
        )? {
            break;
        }
    }
    Ok(entries)
}

/// Adds an entry of a folder. Returns `false` once the limit is reached.
pub(super) fn push_entry(
    handle: &OwnedFd,
    name: &CStr,
    file_type: FileType,
    limit: usize,
    entries: &mut Vec<RawEntry>,
) -> io::Result<bool> {
    if matches!(name.to_bytes(), b"." | b"..") {
        return Ok(true);
    }
    if entries.len() >= limit {
        return Ok(false);
    }
    let kind = match file_type {
        FileType::Unknown => match statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => kind(FileType::from_raw_mode(stat.st_mode)),
            // It was removed after it was listed.
            Err(Errno::NOENT) => return Ok(true),
            Err(error) => return Err(error.into()),
        },
        known => kind(known),
    };
    let (name, encoding) = decode_name(name);
    entries.push(RawEntry::new(name, encoding, kind));
    Ok(true)
}

fn decode_name(name: &CStr) -> (Box<str>, Encoding) {
    match name.to_str() {
        Ok(name) => (name.into(), Encoding::Utf8),
        Err(_) => (
            name.to_bytes().escape_ascii().to_string().into(),
            Encoding::Other,
        ),
    }
}

fn kind(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

#[allow(
    clippy::allow_attributes,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "field types differ between systems"
)]
fn inode(stat: &rustix::fs::Stat) -> FolderIdentity {
    FolderIdentity(IdentityRepr::Inode(stat.st_dev as u64, stat.st_ino as u64))
}

#[allow(
    clippy::allow_attributes,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    clippy::cast_possible_wrap,
    reason = "field types differ between systems"
)]
fn revision(stat: &rustix::fs::Stat) -> Revision {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Revision {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
        size: stat.st_size as u64,
        modified_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    }
}
