//! Sources of skills: finite, local and synchronous.

mod folder;
mod revision;

pub mod progress;

mod fs;
mod memory;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::Error;
use crate::limits::Limits;
use crate::name::ResourcePath;

pub use folder::Folder;
pub use fs::{CommandSource, FsSource, UntrustedBudget};
pub use memory::MemorySource;
pub use revision::Revision;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// A place that skills are read from. What it lists must be read through it, never by path.
///
/// A source that lists a skill twice, under two folders, must give both the same [`ListedFolder::identity`].
pub trait Source: fmt::Debug + Send + Sync {
    /// Returns the folders that have a `SKILL.md`, ordered by folder, starting after `cursor`.
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error>;

    /// Reads at most `bytes` bytes from the start of a folder's `SKILL.md` into an empty buffer, which the caller
    /// reuses for the next skill.
    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error>;

    /// Lists all skill folders, in any order, and reads at most `bytes` bytes from the start of each `SKILL.md`.
    /// Returns what was skipped.
    ///
    /// Equivalent to [`list`](Self::list) followed by [`head`](Self::head) for each folder; override it if doing both
    /// at once is cheaper.
    fn scan(
        &self,
        options: &WalkOptions,
        bytes: usize,
        found: &mut dyn FnMut(ScannedFolder<'_>),
    ) -> Result<WalkReport, Error> {
        let mut buffer = Vec::new();
        self.survey(options, &mut |listed| {
            buffer.clear();
            let state = self.head(&listed.folder, bytes, &mut buffer);
            found(ScannedFolder::new(listed, state, &buffer));
        })
    }

    /// Lists all skill folders with the revision of each `SKILL.md`, in the order of [`scan`](Self::scan), without
    /// reading any file. Returns what was skipped.
    fn survey(
        &self,
        options: &WalkOptions,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Result<WalkReport, Error> {
        let (mut cursor, mut report) = (None, WalkReport::default());
        loop {
            let page = self.list(options, cursor.as_ref())?;
            report.findings.extend(page.findings);
            page.folders.into_iter().for_each(&mut *found);
            if page.next.is_none() || page.next == cursor {
                return Ok(report);
            }
            cursor = page.next;
        }
    }

    /// Lists the skill folders at and below one path, as [`survey`](Self::survey) would. Returns what was skipped
    /// there, or `None` if only a survey of the whole source can tell.
    fn survey_at(
        &self,
        options: &WalkOptions,
        path: &str,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Option<WalkReport> {
        let _ = (options, path, found);
        None
    }

    /// Returns the revision of a folder's `SKILL.md` without reading it.
    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        Ok(self.head(folder, 0, &mut Vec::new())?.revision)
    }

    /// Reads a byte range of a skill's file; a range past the end is cut off there.
    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error>;

    /// Returns the files of a skill including `SKILL.md`, ordered by path, starting after `cursor`.
    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error>;

    /// Returns the path of the source's folder, for display only: never open anything by it.
    ///
    /// Scans of a source with a path are cached under it across processes, so an equal [`Revision`] must mean equal
    /// content in every process, at any time.
    fn location(&self) -> Option<&Path> {
        None
    }

    /// Returns how the skills of the source are laid out.
    fn layout(&self) -> SkillLayout {
        SkillLayout::Folders
    }

    /// Returns the path of a skill's `SKILL.md`, or of the one file that is the skill, if the source has a path; for
    /// display only.
    fn file_path(&self, folder: &Folder) -> Option<PathBuf> {
        Some(join_folder(self.location()?, folder).join(SKILL_FILE))
    }

    /// Returns the path of a skill's folder with links resolved, if the source has a path. It is compared with paths that
    /// the user chose: never open anything by it.
    fn real_path(&self, folder: &Folder) -> Option<PathBuf> {
        Some(join_folder(self.location()?, folder))
    }

    /// Returns whether a path in a skill is a file or a folder.
    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error>;
}

/// Returns the path of a skill's folder below the path of its source.
pub(crate) fn join_folder(root: &Path, folder: &Folder) -> PathBuf {
    match folder.path() {
        "" => root.to_owned(),
        path => root.join(path),
    }
}

/// How the skills of a source are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillLayout {
    /// Each skill is a folder with a `SKILL.md`.
    #[default]
    Folders,
    /// Each skill is one file, such as a command of Claude Code. It has no folder: it cannot have other files or be
    /// changed by proposals, and needs neither frontmatter nor a name.
    Files,
}

/// Options for searching a source for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkOptions {
    /// What to do with folders whose name starts with a dot.
    pub hidden: HiddenPolicy,
    /// Maximum folders per page of a listing.
    pub page: usize,
    /// The limits on what is searched and read.
    pub limits: Limits,
}

setters! {
    WalkOptions {
        with_hidden(hidden: HiddenPolicy),
        with_page(page: usize),
        with_limits(limits: Limits),
    }
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
    /// Follow them: installers link one skill into many folders. Loops are detected, and a folder that is reachable by
    /// several paths is one skill.
    #[default]
    Follow,
    /// Report them and go on.
    Refuse,
    /// Like `Refuse`, and also refuse files with several hard links: their other names may be anywhere.
    ///
    /// Outside Unix the standard library does not expose the number of hard links; there it is the same as `Refuse`.
    Strict,
}

/// What to do with folders whose name starts with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HiddenPolicy {
    /// Report them and go on.
    #[default]
    Skip,
    /// Search them too, except `.git`.
    Search,
}

/// Where a listing continues: after this folder or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// Creates a cursor after a folder or file.
    pub fn after(path: impl Into<Box<str>>) -> Self {
        Self(path.into())
    }

    /// Returns the folder or file that the listing continues after.
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
    /// What was skipped, and why.
    pub findings: Vec<Finding>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// What a walk of a source has to report besides the skill folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkReport {
    /// What was skipped, and why.
    pub findings: Vec<Finding>,
    /// Whether a link was followed, so one folder may be reachable by two paths. If so, only a full rescan can tell
    /// what changed.
    pub followed_links: bool,
}

/// One skill folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedFolder {
    /// The folder.
    pub folder: Folder,
    /// The revision of its `SKILL.md`.
    pub revision: Revision,
    /// The identity of the folder, independent of the path.
    pub identity: Option<FolderIdentity>,
}

impl ListedFolder {
    /// Creates a listed folder without an identity.
    pub fn new(folder: Folder, revision: Revision) -> Self {
        Self {
            folder,
            revision,
            identity: None,
        }
    }
}

/// One skill folder and the start of its `SKILL.md`.
#[derive(Debug)]
#[non_exhaustive]
pub struct ScannedFolder<'a> {
    /// The folder.
    pub listed: ListedFolder,
    /// The state of the file that was read, or why it could not be read.
    pub state: Result<FileState, Error>,
    /// The bytes that were read.
    pub head: &'a [u8],
}

impl<'a> ScannedFolder<'a> {
    /// Creates a scanned folder.
    pub fn new(listed: ListedFolder, state: Result<FileState, Error>, head: &'a [u8]) -> Self {
        Self {
            listed,
            state,
            head,
        }
    }
}

/// The identity of a folder, independent of the path that leads to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FolderIdentity(IdentityRepr);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IdentityRepr {
    /// Device and inode of the `SKILL.md`, or of its folder if the file has several hard links.
    #[cfg(unix)]
    Inode(u64, u64),
    Name(Box<str>),
}

impl FolderIdentity {
    /// Creates an identity from a name that is unique to the folder, such as a resolved path or a digest.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self(IdentityRepr::Name(name.into()))
    }

    /// Returns a hash for tables. An inode gets a cheap hash, since nobody can choose it; a name may be chosen to
    /// collide, so it gets the keyed one.
    pub(crate) fn hash(&self, hasher: &RandomState) -> u64 {
        match &self.0 {
            #[cfg(unix)]
            IdentityRepr::Inode(device, inode) => {
                const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
                (device.rotate_left(32) ^ inode).wrapping_mul(GOLDEN_RATIO)
            }
            IdentityRepr::Name(name) => hasher.hash_one(name),
        }
    }
}

/// A diagnostic about a path in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The path inside the source; empty for the source itself.
    pub path: Box<str>,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}

impl Finding {
    /// Creates a finding about a path. The message is `what`, a space and the quoted path.
    pub fn new(code: Code, path: &str, what: &str) -> Self {
        let shown = if path.is_empty() { "." } else { path };
        Self {
            path: path.into(),
            diagnostic: Diagnostic::new(code, None, format!("{what} {}", quoted(shown))),
        }
    }

    /// Returns whether the finding says that regular files of a skill are not listed.
    pub(crate) fn leaves_out_files(&self) -> bool {
        matches!(
            self.diagnostic.code,
            Code::BoundReached
                | Code::FolderName
                | Code::FolderUnreadable
                | Code::HardLinks
                | Code::Unavailable
        )
    }

    /// Creates a finding about the whole source.
    pub(crate) fn without_path(diagnostic: Diagnostic) -> Self {
        let path = "".into();
        Self { path, diagnostic }
    }
}

/// Bytes that were read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The state of the file.
    pub state: FileState,
}

impl FileBytes {
    /// Creates the result of reading a file.
    pub fn new(bytes: Vec<u8>, state: FileState) -> Self {
        Self { bytes, state }
    }
}

/// The state of a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileState {
    /// The revision, taken after the last byte was read.
    pub revision: Revision,
    /// Whether the file changed while it was read.
    pub stability: Stability,
}

impl FileState {
    /// Creates the state of a file.
    pub fn new(revision: Revision, stability: Stability) -> Self {
        Self {
            revision,
            stability,
        }
    }

    /// Creates the state of a file that did not change while it was read.
    pub fn stable(revision: Revision) -> Self {
        Self::new(revision, Stability::Stable)
    }
}

/// Whether a file changed while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stability {
    /// The revision was the same before and after.
    Stable,
    /// The revision changed during the read, and again during a second attempt.
    Changing,
}

/// A page of the files of a skill.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Resources {
    /// The files, in order.
    pub files: Vec<Resource>,
    /// What was skipped, and why. If regular files are missing, the first finding that says so is here, however many others are
    /// left out.
    pub findings: Vec<Finding>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

impl Resources {
    /// Checks that the page has every regular file that belongs to it. Links and version control's folders may be missing.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) with the first file or folder that is missing; `skill` names the skill.
    pub fn check_complete(&self, skill: &str) -> Result<(), Error> {
        match self.findings.iter().find(|it| it.leaves_out_files()) {
            Some(finding) => Err(Error::invalid(skill, finding.diagnostic.message.clone())),
            None => Ok(()),
        }
    }
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// The path inside the skill.
    pub path: ResourcePath,
    /// The size in bytes.
    pub size: u64,
}

impl Resource {
    /// Creates a file of a skill.
    pub fn new(path: ResourcePath, size: u64) -> Self {
        Self { path, size }
    }
}

/// The kind of a path in a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}
