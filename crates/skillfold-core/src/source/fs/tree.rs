//! The file system operations that walks and reads need.

use std::cmp::Ordering;
use std::io;
use std::ops::Range;

use crate::error::Refusal;
use crate::name::ResourcePath;
use crate::source::{FileState, Folder, FolderIdentity, LinkPolicy, Revision, Stability};

/// A file system, relative to one open folder.
///
/// The walk finds skills by path. Afterwards they are read by [`Folder`]: a link on the path is followed only if the
/// walk followed one, and only while it leads to a folder with a `SKILL.md`.
pub(super) trait Tree: Send + Sync {
    /// Returns the policy for links on the path to a skill.
    fn links(&self) -> LinkPolicy;

    /// Returns the identity of a folder.
    fn identity(&self, folder: &str) -> io::Result<FolderIdentity>;

    /// Returns at most `limit` entries of a folder, in no particular order.
    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>>;

    /// Stats a folder's `SKILL.md` without following it if it is a link.
    fn stat(&self, folder: &str) -> io::Result<Stat>;

    /// Stats the `SKILL.md` of several entries of a folder, as [`stat`](Self::stat) does one by one. Returns `None` if
    /// batching saves nothing.
    fn stats(&self, folder: &str, entries: &[RawEntry]) -> Option<Vec<io::Result<Stat>>> {
        let _ = (folder, entries);
        None
    }

    /// Opens a folder's `SKILL.md` and, if it is a regular file, reads its start.
    fn open_head(
        &self,
        folder: &str,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<OpenedSkillFile>;

    /// Returns the kind of a path without following a link.
    fn lstat(&self, path: &str) -> io::Result<EntryKind>;

    /// Returns the kind of a path's target, following links.
    fn target_kind(&self, path: &str) -> io::Result<EntryKind>;

    /// Reads the start of a listed skill's `SKILL.md`. Returns the revisions before and after.
    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)>;

    /// Stats a listed skill's `SKILL.md` as cheaply as possible. Links on the path may be followed, since nothing is
    /// read.
    fn revision(&self, folder: &Folder) -> io::Result<Stat>;

    /// Returns at most `limit` entries of a folder inside a skill. Links below the skill are refused.
    fn entries_beneath(
        &self,
        folder: &Folder,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>>;

    /// Stats a file or folder inside a skill. Links below the skill are refused.
    fn stat_beneath(&self, folder: &Folder, path: &ResourcePath) -> io::Result<Stat>;

    /// Reads a range of a regular file inside a skill. Returns the revisions before and after. Links below the skill
    /// are refused.
    fn read_beneath(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: &Range<u64>,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)>;
}

/// An entry of a folder.
pub(super) struct RawEntry {
    /// The name, or a printable form of it if it is not UTF-8.
    pub(super) name: Box<str>,
    /// The first bytes of the name, which decide most comparisons.
    prefix: u64,
    pub(super) encoding: Encoding,
    pub(super) kind: EntryKind,
}

impl RawEntry {
    pub(super) fn new(name: Box<str>, encoding: Encoding, kind: EntryKind) -> Self {
        let mut start = [0; 8];
        let length = name.len().min(start.len());
        start[..length].copy_from_slice(&name.as_bytes()[..length]);
        Self {
            name,
            prefix: u64::from_be_bytes(start),
            encoding,
            kind,
        }
    }

    /// Compares two entries by name.
    pub(super) fn cmp_by_name(&self, other: &Self) -> Ordering {
        self.prefix
            .cmp(&other.prefix)
            .then_with(|| self.name.cmp(&other.name))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    /// A regular file with several hard links, if those are refused.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix reports hard links"))]
    HardLinked,
    Folder,
    Link,
    Other,
}

/// The metadata of a file.
pub(super) struct Stat {
    pub(super) kind: EntryKind,
    pub(super) revision: Revision,
    /// The identity of the file's folder, if known.
    pub(super) identity: Option<FolderIdentity>,
}

/// The metadata of an opened `SKILL.md`, and its revision after its start was read.
pub(super) struct OpenedSkillFile {
    pub(super) stat: Stat,
    pub(super) after: Revision,
}

/// A rule by which a tree refuses access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessRule {
    /// The path is not a regular file.
    NotAFile,
    /// The file has several hard links.
    HardLinked,
    /// A path component below the skill is a link.
    LinkInside,
    /// A component of the path to the skill is a link.
    LinkOnPath,
    /// The link to the skill no longer leads to a skill.
    LinkToNonSkill,
}

impl AccessRule {
    /// Returns the rule as a message.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::NotAFile => "Only regular files are read",
            Self::HardLinked => "Files with several hard links are not read",
            Self::LinkInside => "Links inside a skill are not followed",
            Self::LinkOnPath => {
                "Links in a skill's path are not followed unless they were there when it was found"
            }
            Self::LinkToNonSkill => {
                "Links in a skill's path are followed only to a folder with a `SKILL.md`"
            }
        }
    }

    /// Returns the kind of the rule.
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Self::NotAFile => Refusal::NotAFile,
            Self::HardLinked | Self::LinkInside | Self::LinkOnPath | Self::LinkToNonSkill => {
                Refusal::Link
            }
        }
    }

    /// Checks that a file of this kind may be read: only regular files may.
    pub(super) fn check_readable(kind: EntryKind) -> Result<(), Self> {
        match kind {
            EntryKind::File => Ok(()),
            EntryKind::HardLinked => Err(Self::HardLinked),
            EntryKind::Link => Err(Self::LinkInside),
            EntryKind::Folder | EntryKind::Other => Err(Self::NotAFile),
        }
    }

    /// Returns the rule that an error was made from, if any.
    pub(super) fn from_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

display!(AccessRule, |it| it.message());

impl std::error::Error for AccessRule {}

impl From<AccessRule> for io::Error {
    fn from(rule: AccessRule) -> Self {
        Self::other(rule)
    }
}

/// Reads a file, and reads it once more if it changed meanwhile. `read` returns the revisions before and after.
pub(super) fn read_stable(
    into: &mut Vec<u8>,
    mut read: impl FnMut(&mut Vec<u8>) -> io::Result<(Revision, Revision)>,
) -> io::Result<FileState> {
    let (before, after) = read(into)?;
    if before == after {
        return Ok(FileState::stable(after));
    }
    into.clear();
    let (before, after) = read(into)?;
    let stability = if before == after {
        Stability::Stable
    } else {
        Stability::Changing
    };
    Ok(FileState {
        revision: after,
        stability,
    })
}

/// Returns whether the kernel refused to follow a link.
#[cfg(unix)]
pub(super) fn is_link_refusal(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
        || code == Some(rustix::io::Errno::XDEV.raw_os_error())
}

#[cfg(not(unix))]
pub(super) fn is_link_refusal(_: &io::Error) -> bool {
    false
}

/// Joins a folder and a name; the path of the root is empty.
pub(in crate::source) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    let mut path = String::with_capacity(folder.len() + 1 + name.len());
    path.push_str(folder);
    path.push('/');
    path.push_str(name);
    path
}
