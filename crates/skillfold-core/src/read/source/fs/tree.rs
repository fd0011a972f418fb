//! What the walk and the reads need of a file system.

use std::cmp::Ordering;
use std::fmt;
use std::io;
use std::ops::Range;

use crate::name::ResourcePath;
use crate::read::source::{Folder, FolderIdentity, LinkPolicy, Revision};

/// A file system, relative to one open folder.
///
/// The walk finds skills by path. What it found is read by [`Folder`], and a link on the way to one is followed only if
/// the walk came over one, and only while it leads to a folder with a `SKILL.md`.
pub(super) trait Tree: Send + Sync {
    /// Returns what is done with links on the way to a skill.
    fn links(&self) -> LinkPolicy;

    /// Returns what a folder is.
    fn identity(&self, folder: &str) -> io::Result<FolderIdentity>;

    /// Returns the entries of a folder, in no order, at most `limit`.
    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>>;

    /// Returns the state of a folder's `SKILL.md`, which is not followed if it is a link.
    fn stat(&self, folder: &str) -> io::Result<Stat>;

    /// Returns the state of the `SKILL.md` of each of some entries of a folder, as [`stat`](Self::stat) does one by one;
    /// nothing where that is no less work.
    fn stats(&self, folder: &str, entries: &[RawEntry]) -> Option<Vec<io::Result<Stat>>> {
        let _ = (folder, entries);
        None
    }

    /// Opens a folder's `SKILL.md` and reads its start, if it is a regular file.
    fn open_head(
        &self,
        folder: &str,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<OpenedSkillFile>;

    /// Returns what stands at a path; a link is a link.
    fn lstat(&self, path: &str) -> io::Result<EntryKind>;

    /// Returns what a path leads to. Links are followed.
    fn target(&self, path: &str) -> io::Result<EntryKind>;

    /// Reads the start of the `SKILL.md` of a skill that was found, and returns its state before and after.
    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)>;

    /// Returns the state of the `SKILL.md` of a skill that was found, for as little as the system allows: links on the way
    /// may be followed, since nothing is read.
    fn revision(&self, folder: &Folder) -> io::Result<Stat>;

    /// Returns the entries of a folder inside a skill, at most `limit`. Links below the skill are refused.
    fn entries_beneath(
        &self,
        folder: &Folder,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>>;

    /// Returns the state of a file or folder inside a skill. Links below the skill are refused.
    fn stat_beneath(&self, folder: &Folder, path: &ResourcePath) -> io::Result<Stat>;

    /// Reads a range of a regular file inside a skill and returns its state before and after. Links below the skill are
    /// refused.
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
    /// The name, or a form of it that can be shown.
    pub(super) name: Box<str>,
    /// The start of the name, where most comparisons end.
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
    pub(super) fn by_name(&self, other: &Self) -> Ordering {
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
    /// A regular file with several hard links, where such are refused.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "only Unix tells how many links a file has")
    )]
    Shared,
    Folder,
    Link,
    Other,
}

/// The state of a file.
pub(super) struct Stat {
    pub(super) kind: EntryKind,
    pub(super) revision: Revision,
    /// What the file's folder is, if the file alone can tell.
    pub(super) identity: Option<FolderIdentity>,
}

/// A `SKILL.md` that was opened, and its state after its start was read.
pub(super) struct OpenedSkillFile {
    pub(super) stat: Stat,
    pub(super) after: Revision,
}

/// A rule that forbids what a tree was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessRule {
    /// It is there and no regular file.
    NotAFile,
    /// It is a regular file with several hard links.
    Shared,
    /// A component below the skill is a link.
    LinkInside,
    /// A component of the way to the skill is a link.
    LinkOnTheWay,
    /// The way to the skill is a link that leads to no skill now.
    LinkElsewhere,
}

impl AccessRule {
    /// Returns the rule as a sentence.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::NotAFile => "Only regular files are read",
            Self::Shared => "Files with several hard links are not read",
            Self::LinkInside => "Links inside a skill are not followed",
            Self::LinkOnTheWay => {
                "Links on the way to a skill are not followed where there was none when it was found"
            }
            Self::LinkElsewhere => {
                "Links on the way to a skill are followed only to a folder with a `SKILL.md`"
            }
        }
    }

    /// Returns the rule by which only regular files are read, if it forbids this.
    pub(super) fn on(kind: EntryKind) -> Result<(), Self> {
        match kind {
            EntryKind::File => Ok(()),
            EntryKind::Shared => Err(Self::Shared),
            EntryKind::Link => Err(Self::LinkInside),
            EntryKind::Folder | EntryKind::Other => Err(Self::NotAFile),
        }
    }

    /// Returns the rule that an error stands for, if it is one.
    pub(super) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for AccessRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl std::error::Error for AccessRule {}

impl From<AccessRule> for io::Error {
    fn from(rule: AccessRule) -> Self {
        Self::other(rule)
    }
}
