//! Files relative to an open folder, with the kernel refusing to leave it.

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::error::is_transient;
use crate::name::ResourcePath;
use crate::read::source::folder::Reached;
use crate::read::source::fs::beneath::{self, FOLDER, READ, fstat, openat, statat};
use crate::read::source::fs::tree::{
    AccessRule, Encoding, EntryKind, OpenedSkillFile, RawEntry, Stat, Tree,
};
use crate::read::source::fs::{is_link_refusal, join};
use crate::read::source::{Folder, FolderIdentity, IdentityRepr, LinkPolicy, Revision, SKILL_FILE};

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct UnixTree {
    root: OwnedFd,
    links: LinkPolicy,
}

impl UnixTree {
    pub(super) fn open(path: &Path, links: LinkPolicy) -> io::Result<Self> {
        Ok(Self {
            root: openat(CWD, path, FOLDER, Mode::empty())?,
            links,
        })
    }

    /// Opens a folder for the walk. The way to it may have links, if they are followed.
    fn walked(&self, folder: &str) -> io::Result<OwnedFd> {
        match (folder, self.links) {
            ("", _) => Ok(openat(&self.root, ".", FOLDER, Mode::empty())?),
            (_, LinkPolicy::Follow) => Ok(openat(&self.root, folder, FOLDER, Mode::empty())?),
            (_, LinkPolicy::Refuse | LinkPolicy::Strict) => {
                beneath::open(self.root.as_fd(), folder, FOLDER)
            }
        }
    }

    /// Opens the folder of a skill that was found over a link: what it leads to must still be a skill.
    fn linked(&self, folder: &Folder) -> io::Result<OwnedFd> {
        if self.links != LinkPolicy::Follow {
            return Err(AccessRule::LinkOnTheWay.into());
        }
        let handle = match openat(&self.root, folder.path(), FOLDER, Mode::empty()) {
            Err(Errno::LOOP) => return Err(AccessRule::LinkElsewhere.into()),
            opened => opened?,
        };
        match statat(&handle, SKILL_FILE, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => Ok(handle),
            Err(error) if is_transient(&error.into()) => Err(error.into()),
            Ok(_) | Err(_) => Err(AccessRule::LinkElsewhere.into()),
        }
    }

    /// Opens the folder of a skill that was found.
    fn skill(&self, folder: &Folder) -> io::Result<OwnedFd> {
        match (folder.way(), folder.path()) {
            (Reached::Direct, "") => Ok(openat(&self.root, ".", FOLDER, Mode::empty())?),
            (Reached::Direct, path) => beneath::open(self.root.as_fd(), path, FOLDER)
                .map_err(|error| refusal(error, AccessRule::LinkOnTheWay)),
            (Reached::Linked, _) => self.linked(folder),
        }
    }

    /// Opens a file or folder inside a skill that was found, in one step where no link is on the way to it.
    fn inside(&self, folder: &Folder, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        if folder.way() == Reached::Linked {
            return beneath::open(self.linked(folder)?.as_fd(), path, flags)
                .map_err(|error| refusal(error, AccessRule::LinkInside));
        }
        beneath::open(self.root.as_fd(), &join(folder.path(), path), flags).map_err(|error| {
            let on_the_way = |rule| AccessRule::of(rule) == Some(AccessRule::LinkOnTheWay);
            if is_link_refusal(&error) && self.skill(folder).as_ref().is_err_and(on_the_way) {
                AccessRule::LinkOnTheWay.into()
            } else {
                refusal(error, AccessRule::LinkInside)
            }
        })
    }

    /// Calls `with` with a handle and the path of a folder's `SKILL.md` from it.
    fn at_skill_file<T>(
        &self,
        folder: &str,
        with: impl FnOnce(BorrowedFd<'_>, &str) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.links {
            LinkPolicy::Follow => with(self.root.as_fd(), &join(folder, SKILL_FILE)),
            LinkPolicy::Refuse | LinkPolicy::Strict => {
                with(self.walked(folder)?.as_fd(), SKILL_FILE)
            }
        }
    }

    fn with_identity(&self, found: &rustix::fs::Stat, folder: &str) -> io::Result<Stat> {
        // A file with one link is in one folder. With several, only the folder itself can tell which one this is.
        let identity = match found.st_nlink {
            1 => inode(found),
            _ => inode(&fstat(self.walked(folder)?)?),
        };
        Ok(Stat {
            identity: Some(identity),
            ..self.state(found)
        })
    }

    fn state(&self, found: &rustix::fs::Stat) -> Stat {
        let kind = match kind(FileType::from_raw_mode(found.st_mode)) {
            EntryKind::File if self.links == LinkPolicy::Strict && found.st_nlink > 1 => {
                EntryKind::Shared
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

/// How often a file is opened that is replaced between a look at it and its opening, as editors and installers do.
const OPENINGS: usize = 32;

/// Bytes of a path that is put together on the stack, its end included.
const SHORT_PATH: usize = 128;

/// Returns the path of a folder's `SKILL.md` as the system takes it, if it is short.
fn short_path<'b>(folder: &str, buffer: &'b mut [u8; SHORT_PATH]) -> Option<&'b CStr> {
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
        Ok(inode(&fstat(self.walked(folder)?)?))
    }

    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>> {
        list(&self.walked(folder)?, limit)
    }

    fn stat(&self, folder: &str) -> io::Result<Stat> {
        let found = self.at_skill_file(folder, |handle, path| {
            Ok(statat(handle, path, AtFlags::SYMLINK_NOFOLLOW)?)
        })?;
        self.with_identity(&found, folder)
    }

    /// Looks from the folder on, so that the way to it is walked once. A link among the entries is followed, and one on the
    /// way has to be refused for each.
    fn stats(&self, folder: &str, entries: &[RawEntry]) -> Option<Vec<io::Result<Stat>>> {
        if self.links != LinkPolicy::Follow {
            return None;
        }
        let handle = self.walked(folder).ok()?;
        let stat = |entry: &RawEntry| {
            if !matches!(entry.kind, EntryKind::Folder | EntryKind::Link) {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            let mut short = [0; SHORT_PATH];
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
                    ..self.state(&found)
                }),
                _ => self.with_identity(&found, &join(folder, &entry.name)),
            }
        };
        Some(entries.iter().map(stat).collect())
    }

    fn lstat(&self, path: &str) -> io::Result<EntryKind> {
        let stat = statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind(FileType::from_raw_mode(stat.st_mode)))
    }

    fn target(&self, path: &str) -> io::Result<EntryKind> {
        let stat = statat(&self.root, path, AtFlags::empty())?;
        Ok(kind(FileType::from_raw_mode(stat.st_mode)))
    }

    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        let handle = self.inside(folder, SKILL_FILE, READ).map_err(|error| {
            match Errno::from_io_error(&error) {
                // What cannot be opened at all: a socket.
                Some(Errno::NXIO | Errno::OPNOTSUPP) => AccessRule::NotAFile.into(),
                _ => error,
            }
        })?;
        let opened = self.state(&fstat(&handle)?);
        AccessRule::on(opened.kind)?;
        let before = opened.revision;
        Ok((before, read(&handle, before, &(0..bytes as u64), into)?))
    }

    fn revision(&self, folder: &Folder) -> io::Result<Stat> {
        if folder.way() == Reached::Linked && self.links != LinkPolicy::Follow {
            return Err(AccessRule::LinkOnTheWay.into());
        }
        // Loads that find everything in memory ask for this; a short path is put together without the allocator.
        let mut short = [0; SHORT_PATH];
        let found = match short_path(folder.path(), &mut short) {
            Some(path) => statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW),
            None => statat(
                &self.root,
                &*join(folder.path(), SKILL_FILE),
                AtFlags::SYMLINK_NOFOLLOW,
            ),
        };
        Ok(self.state(&found?))
    }

    fn entries_beneath(
        &self,
        folder: &Folder,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>> {
        let handle = match path {
            None => self.skill(folder)?,
            Some(path) => self.inside(folder, path.as_str(), FOLDER)?,
        };
        list(&handle, limit)
    }

    fn stat_beneath(&self, folder: &Folder, path: &ResourcePath) -> io::Result<Stat> {
        let found = fstat(self.inside(folder, path.as_str(), beneath::LOOK)?)?;
        Ok(self.state(&found))
    }

    fn read_beneath(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: &Range<u64>,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        for _ in 0..OPENINGS {
            // On Linux, looking before opening keeps devices closed: opening one can have effects of its own.
            let looked_at = fstat(self.inside(folder, path.as_str(), beneath::LOOK)?)?;
            AccessRule::on(self.state(&looked_at).kind)?;
            let handle = self.inside(folder, path.as_str(), READ)?;
            let opened = fstat(&handle)?;
            if inode(&opened) != inode(&looked_at) {
                continue;
            }
            let opened = self.state(&opened);
            AccessRule::on(opened.kind)?;
            let before = opened.revision;
            return Ok((before, read(&handle, before, range, into)?));
        }
        let what = "the file was replaced again and again while it was opened";
        Err(io::Error::other(what))
    }

    fn open_head(
        &self,
        folder: &str,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<OpenedSkillFile> {
        let opened = self.at_skill_file(folder, |handle, path| {
            match openat(handle, path, READ | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(handle) => Ok(Some(handle)),
                // A link or a socket: neither is opened, both can be looked at.
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
        let stat = self.with_identity(&fstat(&handle)?, folder)?;
        let after = if stat.kind == EntryKind::File {
            read(&handle, stat.revision, &(0..bytes as u64), into)?
        } else {
            stat.revision
        };
        Ok(OpenedSkillFile { stat, after })
    }
}

/// Says which rule the kernel's word for a link stands for.
fn refusal(error: io::Error, rule: AccessRule) -> io::Error {
    if is_link_refusal(&error) {
        rule.into()
    } else {
        error
    }
}

/// Reads a range of a regular file, up to its end, into an empty buffer; returns its state afterwards.
fn read(
    handle: &OwnedFd,
    before: Revision,
    range: &Range<u64>,
    into: &mut Vec<u8>,
) -> io::Result<Revision> {
    let wanted = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    // The size is only a hint: a file may grow while it is read, and what is returned is bounded all the same.
    let there = usize::try_from(before.size.saturating_sub(range.start)).unwrap_or(usize::MAX);
    into.try_reserve(wanted.min(there.saturating_add(1)))?;
    // A place that no file reaches is an error for the system, and the end for whoever reads.
    while into.len() < wanted && range.start < i64::MAX as u64 - (1 << 32) {
        if into.len() == into.capacity() {
            into.try_reserve((wanted - into.len()).min(64 * 1024))?;
        }
        let room = into.capacity() - into.len();
        let offset = range.start.saturating_add(into.len() as u64);
        let read = retry_on_intr(|| {
            rustix::io::pread(handle, rustix::buffer::spare_capacity(into), offset)
        })?;
        // Less than there is room for, at or past the size, means that the file ends here.
        if read == 0 || (read < room && into.len() >= there) {
            break;
        }
    }
    into.truncate(wanted);
    Ok(revision(&fstat(handle)?))
}

/// Bytes of entries that are taken from the system at once.
#[cfg(target_os = "linux")]
const LIST_BYTES: usize = 32 * 1024;

/// Lists a folder that was opened just now.
#[cfg(target_os = "linux")]
fn list(handle: &OwnedFd, limit: usize) -> io::Result<Vec<RawEntry>> {
    let mut buffer = Vec::with_capacity(LIST_BYTES);
    let mut raw = rustix::fs::RawDir::new(handle, buffer.spare_capacity_mut());
    let mut entries = Vec::new();
    while let Some(entry) = raw.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        if !take_entry(
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

/// Lists a folder that was opened just now.
#[cfg(not(target_os = "linux"))]
fn list(handle: &OwnedFd, limit: usize) -> io::Result<Vec<RawEntry>> {
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::read_from(handle)? {
        let entry = entry?;
        if !take_entry(
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

/// Takes an entry of a folder; returns whether there is room for another.
pub(super) fn take_entry(
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
            // It is gone since it was listed.
            Err(Errno::NOENT) => return Ok(true),
            Err(error) => return Err(error.into()),
        },
        known => kind(known),
    };
    let (name, encoding) = utf8(name);
    entries.push(RawEntry::new(name, encoding, kind));
    Ok(true)
}

fn utf8(name: &CStr) -> (Box<str>, Encoding) {
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
    reason = "the fields' types differ between systems"
)]
fn inode(stat: &rustix::fs::Stat) -> FolderIdentity {
    FolderIdentity(IdentityRepr::Inode(stat.st_dev as u64, stat.st_ino as u64))
}

#[allow(
    clippy::allow_attributes,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    clippy::cast_possible_wrap,
    reason = "the fields' types differ between systems"
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
