//! Skills on the file system.

#[cfg(unix)]
mod beneath;
mod budget;
mod real_path;
mod tree;

#[cfg(any(not(unix), test))]
mod portable;
mod resources;
#[cfg(unix)]
mod unix;
mod walk;

mod commands;

#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Refusal};
use crate::limits::Limits;
use crate::name::ResourcePath;
use crate::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, LinkPolicy, ListedFolder, ResourceKind,
    Resources, Revision, SKILL_FILE, ScannedFolder, Source, WalkOptions, WalkReport, join_folder,
};

use real_path::resolve_links;
use tree::{AccessRule, EntryKind, Tree, read_stable};

pub use budget::UntrustedBudget;
pub use commands::CommandSource;
pub(super) use tree::join;

#[cfg(not(unix))]
use portable::PortableTree as NativeTree;
#[cfg(unix)]
use unix::UnixTree as NativeTree;

/// A source of skills below one folder. The folder is held open, so later changes to its path do not matter.
///
/// Files are opened relative to that handle, and the kernel refuses links below a skill. It also refuses links on the
/// path to a skill, unless the walk reached the skill through one.
///
/// # Deviation
///
/// Outside Unix the standard library has no folder handles; there, each path component is checked for being a link
/// before the file is opened.
pub struct FsSource {
    tree: Box<dyn Tree>,
    path: PathBuf,
    /// The path with links resolved, once it was asked for.
    real_path: OnceLock<PathBuf>,
    /// The budget shared with other untrusted folders; `None` if the folder is trusted.
    budget: Option<UntrustedBudget>,
}

impl FsSource {
    /// Opens a folder and follows links to folders in it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::open_with(path, LinkPolicy::Follow)
    }

    /// Opens a folder with a policy for the links in it. The folder itself may be a link.
    pub fn open_with(path: impl Into<PathBuf>, links: LinkPolicy) -> Result<Self, Error> {
        let path = path.into();
        let tree = NativeTree::open(&path, links)
            .map_err(|error| Error::read(path.to_string_lossy(), error))?;
        Ok(Self::from_tree(tree, path))
    }

    fn from_tree(tree: impl Tree + 'static, path: PathBuf) -> Self {
        Self {
            tree: Box::new(tree),
            // Models get paths of files, and may have another working directory.
            path: std::path::absolute(&path).unwrap_or(path),
            real_path: OnceLock::new(),
            budget: None,
        }
    }

    /// Marks the folder as untrusted: walks draw on the shared budget, and what exceeds it is reported and skipped.
    #[must_use]
    pub fn with_budget(mut self, budget: &UntrustedBudget) -> Self {
        self.budget = Some(budget.clone());
        self
    }

    /// Returns the absolute path that the folder was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder with the portable implementation.
    #[cfg(test)]
    pub(crate) fn portable(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let tree = portable::PortableTree::open(&path, LinkPolicy::Follow)
            .map_err(|error| Error::read(path.to_string_lossy(), error))?;
        Ok(Self::from_tree(tree, path))
    }
}

debug!(FsSource, "FsSource", |it| "path": it.path);

/// Converts an I/O error into a refusal, "not found" or a read error.
fn classify_error(what: String, error: io::Error) -> Error {
    match AccessRule::from_error(&error) {
        Some(rule) => Error::refused(what, rule.refusal(), rule.message()),
        None if error.kind() == io::ErrorKind::NotADirectory => Error::not_found(what),
        None => Error::read(what, error),
    }
}

impl Source for FsSource {
    /// Walks the whole folder for each page: a page bounds what is returned, not the work.
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let mut listing = FolderPage::default();
        let found = &mut |listed| listing.folders.push(listed);
        let report = self.run_walk(options, &mut walk::StatVisitor { found })?;
        listing.findings = report.findings;
        listing.folders.sort_by(|a, b| a.folder.cmp(&b.folder));
        if let Some(cursor) = cursor {
            listing
                .folders
                .retain(|listed| listed.folder.path() > cursor.as_str());
            listing.findings.clear();
        }
        let page_size = options.page.max(1);
        if listing.folders.len() > page_size {
            listing.folders.truncate(page_size);
            listing.next = listing
                .folders
                .last()
                .map(|last| Cursor::after(last.folder.path()));
        }
        Ok(listing)
    }

    /// Opens each file only once; listing and then reading would look it up twice.
    fn scan(
        &self,
        options: &WalkOptions,
        bytes: usize,
        found: &mut dyn FnMut(ScannedFolder<'_>),
    ) -> Result<WalkReport, Error> {
        let mut visitor = walk::HeadVisitor {
            bytes,
            buffer: Vec::new(),
            found,
        };
        self.run_walk(options, &mut visitor)
    }

    fn survey(
        &self,
        options: &WalkOptions,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Result<WalkReport, Error> {
        self.run_walk(options, &mut walk::StatVisitor { found })
    }

    fn survey_at(
        &self,
        options: &WalkOptions,
        path: &str,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Option<WalkReport> {
        let is_inside = !path.is_empty() && Folder::new(path).is_ok();
        is_inside.then_some(())?;
        let mut visitor = walk::StatVisitor { found };
        walk::walk_at(&*self.tree, options, path, &mut visitor)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        if let Some(budget) = &self.budget {
            budget.take_bytes(bytes, &display_path(folder, SKILL_FILE))?;
        }
        let state = read_stable(into, |into| self.tree.head(folder, bytes, into));
        state.map_err(|error| classify_error(display_path(folder, SKILL_FILE), error))
    }

    /// Takes one system call on Unix. It does not check for links on the path, which is safe: the result is only
    /// compared, and a later read goes through [`head`](Source::head).
    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        let stat = self.tree.revision(folder);
        let revision = stat.and_then(|stat| {
            AccessRule::check_readable(stat.kind)?;
            Ok(stat.revision)
        });
        revision.map_err(|error| classify_error(display_path(folder, SKILL_FILE), error))
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        let mut bytes = Vec::new();
        let state = read_stable(&mut bytes, |into| {
            self.tree.read_beneath(folder, path, &range, into)
        });
        let state =
            state.map_err(|error| classify_error(display_path(folder, path.as_str()), error))?;
        Ok(FileBytes { bytes, state })
    }

    /// Lists all folders of the skill for each page: a page bounds only what is returned. Folders nested deeper than
    /// `resource_depth`, and everything after `walk_entries` entries, are reported and not listed; a folder is listed
    /// completely or not at all.
    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        resources::list_page(&*self.tree, folder, limits, cursor)
            .map_err(|error| classify_error(folder.to_string(), error))
    }

    fn location(&self) -> Option<&Path> {
        Some(&self.path)
    }

    /// A path that cannot be resolved is returned as it is.
    fn real_path(&self, folder: &Folder) -> Option<PathBuf> {
        if folder.is_linked() {
            return Some(resolve_links(&join_folder(&self.path, folder)));
        }
        let root = self.real_path.get_or_init(|| resolve_links(&self.path));
        Some(join_folder(root, folder))
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        let what = || display_path(folder, path.as_str());
        let stat = self
            .tree
            .stat_beneath(folder, path)
            .map_err(|error| classify_error(what(), error))?;
        match stat.kind {
            EntryKind::File => Ok(ResourceKind::File),
            EntryKind::Folder => Ok(ResourceKind::Folder),
            EntryKind::HardLinked => {
                let rule = AccessRule::HardLinked;
                Err(Error::refused(what(), rule.refusal(), rule.message()))
            }
            EntryKind::Link | EntryKind::Other => Err(Error::refused(
                what(),
                Refusal::NotAFile,
                "Only files and folders are searched",
            )),
        }
    }
}

impl FsSource {
    /// Walks the folder, within the shared budget if it has one.
    fn run_walk(
        &self,
        options: &WalkOptions,
        visitor: &mut dyn walk::SkillVisitor,
    ) -> Result<WalkReport, Error> {
        let restricted = self.budget.as_ref().map(|budget| budget.restrict(options));
        let options = restricted.as_ref().unwrap_or(options);
        let name = self.root_name();
        let walked = walk::walk(&*self.tree, &name, options, visitor);
        let (mut report, used) =
            walked.map_err(|error| Error::read(self.path.to_string_lossy(), error))?;
        if let Some(budget) = &self.budget {
            budget.spend(used, &mut report.findings);
        }
        Ok(report)
    }

    fn root_name(&self) -> String {
        self.path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// Returns the path of a skill's file for messages.
fn display_path(folder: &Folder, file: &str) -> String {
    format!("{folder}/{file}")
}
