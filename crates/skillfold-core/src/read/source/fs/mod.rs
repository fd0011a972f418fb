//! Skills in a folder of the file system.

#[cfg(unix)]
mod beneath;
mod budget;
#[cfg(any(not(unix), test))]
mod portable;
mod resources;
#[cfg(test)]
mod tests;
mod tree;
#[cfg(unix)]
mod unix;
mod walk;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::limits::Limits;
use crate::name::ResourcePath;
use crate::read::source::{
    Cursor, FileBytes, FileState, Finding, Folder, FolderPage, LinkPolicy, ListedFolder,
    ResourceKind, Resources, Revision, SKILL_FILE, ScannedFolder, Source, Stability, WalkOptions,
};

use tree::{AccessRule, EntryKind, Tree};

pub use budget::UntrustedBudget;

#[cfg(not(unix))]
use portable::PortableTree as NativeTree;
#[cfg(unix)]
use unix::UnixTree as NativeTree;

/// A source of skills below one folder, which is held open: what happens to its path later does not matter.
///
/// A file of a skill is opened relative to that handle, and links below the skill are refused by the kernel. So are links
/// on the way to a skill, unless it was found over one.
///
/// # Deviation
///
/// Outside Unix there are no such handles in the standard library; there, each component of a path is checked for
/// being a link before the file is opened.
pub struct FsSource {
    tree: Box<dyn Tree>,
    path: PathBuf,
    /// Whether the last search followed a link.
    over_links: AtomicBool,
    /// What it may do together with others, if nobody trusted it.
    budget: Option<UntrustedBudget>,
}

impl FsSource {
    /// Opens a folder. Links to folders of skills in it are followed.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::open_with(path, LinkPolicy::Follow)
    }

    /// Opens a folder, and says what is done with links in it. The folder itself may be a link.
    pub fn open_with(path: impl Into<PathBuf>, links: LinkPolicy) -> Result<Self, Error> {
        let path = path.into();
        let tree = NativeTree::open(&path, links)
            .map_err(|error| Error::read(path.to_string_lossy(), error))?;
        Ok(Self::of(tree, path))
    }

    fn of(tree: impl Tree + 'static, path: PathBuf) -> Self {
        Self {
            tree: Box::new(tree),
            // A model gets paths of files, and may work elsewhere.
            path: std::path::absolute(&path).unwrap_or(path),
            over_links: AtomicBool::new(false),
            budget: None,
        }
    }

    /// Says that nobody trusted the folder: searching it takes from a budget that it shares with others, and what is over
    /// it is reported and not looked at.
    #[must_use]
    pub fn with_budget(mut self, budget: &UntrustedBudget) -> Self {
        self.budget = Some(budget.clone());
        self
    }

    /// Returns the path of the folder when it was opened, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder as systems without handles do.
    #[cfg(test)]
    pub(crate) fn portable(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let tree = portable::PortableTree::open(&path, LinkPolicy::Follow)
            .map_err(|error| Error::read(path.to_string_lossy(), error))?;
        Ok(Self::of(tree, path))
    }
}

impl fmt::Debug for FsSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FsSource")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Reads, and reads once more if the file changed meanwhile.
fn steady(
    into: &mut Vec<u8>,
    mut read: impl FnMut(&mut Vec<u8>) -> io::Result<(Revision, Revision)>,
) -> io::Result<FileState> {
    let (before, after) = read(into)?;
    if before == after {
        return Ok(FileState::stable(after));
    }
    into.clear();
    let (before, after) = read(into)?;
    let steadiness = if before == after {
        Stability::Stable
    } else {
        Stability::Changing
    };
    Ok(FileState {
        revision: after,
        stability: steadiness,
    })
}

/// Tells a refusal from a fault, and both from what is not there.
fn refused_or_read(what: String, error: io::Error) -> Error {
    match AccessRule::of(&error) {
        Some(rule) => Error::refused(what, rule.text()),
        None if error.kind() == io::ErrorKind::NotADirectory => Error::not_found(what),
        None => Error::read(what, error),
    }
}

/// Returns whether the error is the kernel's word for a link where none may be.
#[cfg(unix)]
fn is_link_refusal(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
        || code == Some(rustix::io::Errno::XDEV.raw_os_error())
}

#[cfg(not(unix))]
fn is_link_refusal(_: &io::Error) -> bool {
    false
}

impl Source for FsSource {
    /// Walks the whole folder for each page: pages bound what is returned, not what is looked at.
    fn list(&self, walk: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let mut listing = FolderPage::default();
        listing.findings = self.walked(
            walk,
            &mut walk::StatVisitor {
                found: &mut |listed| listing.folders.push(listed),
            },
        )?;
        listing.folders.sort_by(|a, b| a.folder.cmp(&b.folder));
        if let Some(cursor) = cursor {
            listing
                .folders
                .retain(|listed| listed.folder.path() > cursor.as_str());
            listing.findings.clear();
        }
        let page = walk.page.max(1);
        if listing.folders.len() > page {
            listing.folders.truncate(page);
            listing.next = listing
                .folders
                .last()
                .map(|last| Cursor::after(last.folder.path()));
        }
        Ok(listing)
    }

    /// Opens each file once, where listing and reading would look it up twice.
    fn scan(
        &self,
        walk: &WalkOptions,
        bytes: usize,
        found: &mut dyn FnMut(ScannedFolder<'_>),
    ) -> Result<Vec<Finding>, Error> {
        let mut head = walk::HeadVisitor {
            bytes,
            buffer: Vec::new(),
            found,
        };
        self.walked(walk, &mut head)
    }

    fn survey(
        &self,
        walk: &WalkOptions,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Result<Vec<Finding>, Error> {
        self.walked(walk, &mut walk::StatVisitor { found })
    }

    fn survey_at(
        &self,
        walk: &WalkOptions,
        path: &str,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Option<Vec<Finding>> {
        let is_inside = !path.is_empty() && Folder::new(path).is_ok();
        is_inside.then_some(())?;
        let mut taker = walk::StatVisitor { found };
        walk::walk_at(&*self.tree, walk, path, &mut taker, &self.over_links)
    }

    fn went_over_links(&self) -> bool {
        self.over_links.load(Ordering::Relaxed)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        if let Some(budget) = &self.budget {
            budget.take(bytes, &shown(folder, SKILL_FILE))?;
        }
        let state = steady(into, |into| self.tree.head(folder, bytes, into));
        state.map_err(|error| refused_or_read(shown(folder, SKILL_FILE), error))
    }

    /// Takes one call of the system on Unix, which does not look at links on the way: it returns numbers to compare, and
    /// what is read later is opened by [`head`](Source::head).
    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        let stat = self.tree.revision(folder);
        let revision = stat.and_then(|stat| {
            AccessRule::on(stat.kind)?;
            Ok(stat.revision)
        });
        revision.map_err(|error| refused_or_read(shown(folder, SKILL_FILE), error))
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        let mut bytes = Vec::new();
        let state = steady(&mut bytes, |into| {
            self.tree.read_beneath(folder, path, &range, into)
        });
        let state = state.map_err(|error| refused_or_read(shown(folder, path.as_str()), error))?;
        Ok(FileBytes { bytes, state })
    }

    /// Lists all folders of the skill for each page: pages bound what is returned. Folders that are nested deeper than
    /// `resource_depth`, and what comes after `walk_entries` entries, are reported and not listed; a folder is listed
    /// whole or not at all.
    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        resources::page(&*self.tree, folder, limits, cursor)
            .map_err(|error| refused_or_read(folder.to_string(), error))
    }

    fn location(&self) -> Option<&Path> {
        Some(&self.path)
    }

    /// Returns the path, where it is text.
    fn lasting_name(&self) -> Option<&str> {
        self.path.to_str()
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        let what = || shown(folder, path.as_str());
        let stat = self
            .tree
            .stat_beneath(folder, path)
            .map_err(|error| refused_or_read(what(), error))?;
        match stat.kind {
            EntryKind::File => Ok(ResourceKind::File),
            EntryKind::Folder => Ok(ResourceKind::Folder),
            EntryKind::Shared => Err(Error::refused(what(), AccessRule::Shared.text())),
            EntryKind::Link | EntryKind::Other => Err(Error::refused(
                what(),
                "Only files and folders are searched",
            )),
        }
    }
}

impl FsSource {
    /// Searches the folder, within the budget that it shares with others if it has one.
    fn walked(
        &self,
        walk: &WalkOptions,
        taker: &mut dyn walk::SkillVisitor,
    ) -> Result<Vec<Finding>, Error> {
        self.over_links.store(false, Ordering::Relaxed);
        let bounded = self.budget.as_ref().map(|budget| budget.bounded(walk));
        let walk = bounded.as_ref().unwrap_or(walk);
        let name = self.root_name();
        let walked = walk::walk(&*self.tree, &name, walk, taker, &self.over_links);
        let (mut findings, used) =
            walked.map_err(|error| Error::read(self.path.to_string_lossy(), error))?;
        if let Some(budget) = &self.budget {
            budget.spend(used, &mut findings);
        }
        Ok(findings)
    }

    fn root_name(&self) -> String {
        self.path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// Returns a file of a skill as it is named in messages.
fn shown(folder: &Folder, file: &str) -> String {
    format!("{folder}/{file}")
}

/// Returns the path of something in a folder; the root's is empty.
fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    let mut path = String::with_capacity(folder.len() + 1 + name.len());
    path.push_str(folder);
    path.push('/');
    path.push_str(name);
    path
}
