//! Where skills come from: finite, local, synchronous.

mod folder;
mod fs;
mod memory;
mod revision;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::Path;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::Error;
use crate::limits::Limits;
use crate::name::ResourcePath;

pub use folder::Folder;
pub use fs::{FsSource, UntrustedBudget};
pub use memory::MemorySource;
pub use revision::Revision;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// A place that holds skills. What it lists is read through it, and never through a path.
///
/// A source that lists a skill twice, under two folders, gives both the same [`ListedFolder::identity`].
pub trait Source: fmt::Debug + Send + Sync {
    /// Returns the folders that hold a `SKILL.md`, ordered by folder, from after `cursor` on.
    fn list(&self, walk: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error>;

    /// Reads at most `bytes` bytes from the start of a folder's `SKILL.md` into an empty buffer, which the caller uses
    /// again for the next skill.
    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error>;

    /// Lists all skill folders, in any order, and reads at most `bytes` bytes from the start of each `SKILL.md`.
    ///
    /// The same as [`list`](Self::list) and [`head`](Self::head) for each folder, for sources that do both at once for
    /// less. Returns what was passed over.
    fn scan(
        &self,
        walk: &WalkOptions,
        bytes: usize,
        found: &mut dyn FnMut(ScannedFolder<'_>),
    ) -> Result<Vec<Finding>, Error> {
        let (mut cursor, mut findings, mut buffer) = (None, Vec::new(), Vec::new());
        loop {
            let page = self.list(walk, cursor.as_ref())?;
            findings.extend(page.findings);
            for listed in page.folders {
                buffer.clear();
                let state = self.head(&listed.folder, bytes, &mut buffer);
                found(ScannedFolder {
                    listed,
                    state,
                    head: &buffer,
                });
            }
            // A cursor that does not move would never end.
            if page.next.is_none() || page.next == cursor {
                return Ok(findings);
            }
            cursor = page.next;
        }
    }

    /// Lists all skill folders with the state of each `SKILL.md`, in the order of [`scan`](Self::scan), without reading
    /// one. Returns what was passed over.
    fn survey(
        &self,
        walk: &WalkOptions,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Result<Vec<Finding>, Error> {
        let (mut cursor, mut findings) = (None, Vec::new());
        loop {
            let page = self.list(walk, cursor.as_ref())?;
            findings.extend(page.findings);
            page.folders.into_iter().for_each(&mut *found);
            if page.next.is_none() || page.next == cursor {
                return Ok(findings);
            }
            cursor = page.next;
        }
    }

    /// Lists the skill folders at and below one path, as [`survey`](Self::survey) would if all else was as it is. Returns
    /// what was passed over there, or nothing where only a survey of the whole source can tell.
    fn survey_at(
        &self,
        walk: &WalkOptions,
        path: &str,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Option<Vec<Finding>> {
        let _ = (walk, path, found);
        None
    }

    /// Returns whether the last search followed a link, so that one folder may be found by two paths. Where it did, what
    /// changed is known only by searching everything again.
    fn went_over_links(&self) -> bool {
        false
    }

    /// Returns the state of a folder's `SKILL.md` without reading it.
    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        Ok(self.head(folder, 0, &mut Vec::new())?.revision)
    }

    /// Returns a range of a file of a skill, up to its end.
    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error>;

    /// Returns the files of a skill, ordered by path, from after `cursor` on; `SKILL.md` is one of them.
    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error>;

    /// Returns the path of the folder that the source is, for people to see; nothing is opened by it.
    fn location(&self) -> Option<&Path> {
        None
    }

    /// Returns the name under which another process may remember what is found here. A source has one only if an equal
    /// [`Revision`] means equal content in every process, whenever it runs.
    fn lasting_name(&self) -> Option<&str> {
        None
    }

    /// Returns what stands at a path of a skill.
    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error>;
}

/// How a source is searched for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct WalkOptions {
    /// What to do with folders whose name starts with a dot.
    pub hidden: HiddenPolicy,
    /// Folders that one page of a listing holds at most.
    pub page: usize,
    /// The caps.
    pub limits: Limits,
}

impl Default for WalkOptions {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            hidden: HiddenPolicy::default(),
            page: limits.skills,
            limits,
        }
    }
}

/// What to do with links to folders. A `SKILL.md` that is itself a link is never followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkPolicy {
    /// Follow them: installers link skills from one place into many. Loops end, and one folder is one skill.
    #[default]
    Follow,
    /// Report them and go on.
    Refuse,
    /// The same, and a file with several hard links is refused as well: its other name may be anywhere.
    ///
    /// Outside Unix the standard library does not tell how many links a file has; there it is the same as `Refuse`.
    Strict,
}

/// What to do with folders whose name starts with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HiddenPolicy {
    /// Report them and go on.
    #[default]
    Skip,
    /// Search them too, all but `.git`.
    Search,
}

/// Where a listing goes on: after this folder or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// Creates a cursor after a folder or file.
    pub fn after(path: impl Into<Box<str>>) -> Self {
        Self(path.into())
    }

    /// Returns the folder or file that the cursor stands after.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A page of skill folders.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FolderPage {
    /// The folders, in order.
    pub folders: Vec<ListedFolder>,
    /// What was passed over, and why.
    pub findings: Vec<Finding>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// One skill folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedFolder {
    /// The folder.
    pub folder: Folder,
    /// The state of its `SKILL.md`.
    pub revision: Revision,
    /// What the folder is, whichever path leads there.
    pub identity: Option<FolderIdentity>,
}

impl ListedFolder {
    /// Creates a folder with the state of its `SKILL.md`.
    pub fn new(folder: Folder, revision: Revision) -> Self {
        Self {
            folder,
            revision,
            identity: None,
        }
    }

    /// Adds what the folder is, whichever path leads there.
    #[must_use]
    pub fn with_identity(mut self, identity: FolderIdentity) -> Self {
        self.identity = Some(identity);
        self
    }
}

/// One skill folder, and the start of its `SKILL.md`.
#[derive(Debug)]
#[non_exhaustive]
pub struct ScannedFolder<'a> {
    /// The folder.
    pub listed: ListedFolder,
    /// The state of the file that was read, or why it could not be.
    pub state: Result<FileState, Error>,
    /// The bytes that were read.
    pub head: &'a [u8],
}

impl<'a> ScannedFolder<'a> {
    /// Creates a folder with the start of its file.
    pub fn new(listed: ListedFolder, state: Result<FileState, Error>, head: &'a [u8]) -> Self {
        Self {
            listed,
            state,
            head,
        }
    }
}

/// What a folder is, whichever path leads there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FolderIdentity(IdentityRepr);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IdentityRepr {
    /// Device and inode of the `SKILL.md`, or of its folder where the file has several links.
    #[cfg(unix)]
    Inode(u64, u64),
    Name(Box<str>),
}

impl FolderIdentity {
    /// Creates an identity from a name that the folder has and no other: a resolved path, a digest.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self(IdentityRepr::Name(name.into()))
    }

    /// Returns a hash for tables. Nobody chooses an inode, so that its hash may be cheap; a name comes from anywhere.
    pub(crate) fn hash(&self, hasher: &RandomState) -> u64 {
        match &self.0 {
            #[cfg(unix)]
            IdentityRepr::Inode(device, inode) => {
                const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
                (device.rotate_left(32) ^ inode).wrapping_mul(ODD)
            }
            IdentityRepr::Name(name) => hasher.hash_one(name),
        }
    }
}

/// Something that was found about a path of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The path inside the source; empty for the source itself.
    pub path: Box<str>,
    /// What was found.
    pub diagnostic: Diagnostic,
}

impl Finding {
    /// Creates a finding about a path; the message is `what`, a space and the path.
    pub fn new(code: Code, path: &str, what: &str) -> Self {
        let shown = if path.is_empty() { "." } else { path };
        Self {
            path: path.into(),
            diagnostic: Diagnostic::new(code, None, format!("{what} {}", quoted(shown))),
        }
    }
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The state of the file that they were read from.
    pub state: FileState,
}

impl FileBytes {
    /// Creates what was read of a file.
    pub fn new(bytes: Vec<u8>, state: FileState) -> Self {
        Self { bytes, state }
    }
}

/// The state of a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts with their own sources fill in all of it"
)]
pub struct FileState {
    /// The revision, taken after the last byte.
    pub revision: Revision,
    /// Whether the file held still while it was read.
    pub stability: Stability,
}

impl FileState {
    /// Creates the state of a file that held still.
    pub fn stable(revision: Revision) -> Self {
        Self {
            revision,
            stability: Stability::Stable,
        }
    }
}

/// Whether a file held still while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stability {
    /// Its state was the same before and after.
    Stable,
    /// Its state changed, and changed again when it was read once more.
    Changing,
}

/// A page of the files of a skill.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Resources {
    /// The files, in order.
    pub files: Vec<Resource>,
    /// What was passed over, and why.
    pub findings: Vec<Finding>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// Its path inside the skill.
    pub path: ResourcePath,
    /// Its size in bytes.
    pub size: u64,
}

impl Resource {
    /// Creates a file of a skill.
    pub fn new(path: ResourcePath, size: u64) -> Self {
        Self { path, size }
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}
