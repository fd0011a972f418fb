//! Which folders the system is asked about.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use skillfold_core::{HiddenPolicy, LinkPolicy, SKILL_FILE};

use crate::environment::{resolved, subfolders};
use crate::settings::Settings;
use crate::watch::event_queue::EventQueue;

/// Folders that never hold skills of their own.
const NEVER: [&str; 2] = [".git", "node_modules"];
/// Folders that are watched at most; the rest is found by looking from time to time.
const MOST: usize = 250_000;
/// Whether the system watches what is below a folder too.
const IS_DEEP: bool = cfg!(any(target_os = "macos", target_os = "windows"));

/// What can be asked to tell of changes.
pub(super) trait PathWatcher: Send {
    /// Tells of changes in a folder from now on.
    fn listen(&mut self, folder: &Path, is_deep: bool) -> Result<(), String>;

    /// Tells no more.
    fn ignore(&mut self, folder: &Path);
}

/// The system's own way.
pub(super) struct NotifyWatcher(RecommendedWatcher);

impl NotifyWatcher {
    pub(super) fn new(inbox: EventQueue) -> Result<Self, String> {
        let watcher = notify::recommended_watcher(move |said| inbox.take(said));
        watcher.map(Self).map_err(|error| error.to_string())
    }
}

impl PathWatcher for NotifyWatcher {
    fn listen(&mut self, folder: &Path, is_deep: bool) -> Result<(), String> {
        let mode = if is_deep {
            RecursiveMode::Recursive
        } else {
            RecursiveMode::NonRecursive
        };
        let watched = self.0.watch(folder, mode);
        watched.map_err(|error| error.to_string())
    }

    fn ignore(&mut self, folder: &Path) {
        // It may be gone, and then it is not watched either.
        let _ = self.0.unwatch(folder);
    }
}

/// The places that settings and skills come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchedPaths {
    /// Folders that are searched for skills.
    pub(crate) roots: Vec<PathBuf>,
    /// Folders that are not there, or are others by another path, and settings files, which may not be there either.
    pub(crate) others: Vec<PathBuf>,
}

impl WatchedPaths {
    /// Returns whether a root is inside another, so that one folder may be found twice.
    pub(super) fn overlap(&self) -> bool {
        let roots: Vec<PathBuf> = self
            .roots
            .iter()
            .filter_map(|root| resolved(root))
            .collect();
        let is_inside = |(at, root): (usize, &PathBuf)| {
            let mut others = roots.iter().enumerate();
            others.any(|(other, outer)| other != at && root.starts_with(outer))
        };
        roots.iter().enumerate().any(is_inside)
    }

    /// Returns all places by the paths that lead there: as they are named, and where links lead.
    pub(super) fn all(&self) -> impl Iterator<Item = PathBuf> + '_ {
        both(self.roots.iter().chain(&self.others))
    }

    /// Returns a path below a root as the root is named, where it was said as links lead.
    pub(super) fn named(&self, path: PathBuf) -> PathBuf {
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return path;
        }
        let mut named = self.roots.iter().filter_map(|root| {
            let inside = path.strip_prefix(real(root)?).ok()?;
            Some(root.join(inside))
        });
        named.next().unwrap_or(path)
    }
}

/// Returns paths as they are named and where links lead.
pub(super) fn both<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> impl Iterator<Item = PathBuf> {
    paths.flat_map(|path| [Some(path.clone()), real(path)].into_iter().flatten())
}

/// Returns where a path leads through links, if it leads elsewhere; what is not there yet is taken as it is named.
fn real(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().find(|above| above.exists())?;
    let rest = path.strip_prefix(there).ok()?;
    let real = resolved(there)?.join(rest);
    (real != path).then_some(real)
}

/// What is watched.
pub(super) struct WatchSet {
    ear: Box<dyn PathWatcher>,
    inbox: EventQueue,
    watched: BTreeSet<PathBuf>,
    /// Folders that are to be watched and looked into, each with its depth below its root.
    todo: Vec<(PathBuf, usize)>,
    /// Where all places are gone through: the folders that there are.
    seen: Option<BTreeSet<PathBuf>>,
    /// Whether a folder is watched that was not before: what changed there until then was not told.
    is_newer: bool,
    /// How folders are searched.
    depth: usize,
    hidden: HiddenPolicy,
    links: LinkPolicy,
    /// Why something is not watched.
    pub(super) problem: Option<String>,
}

impl WatchSet {
    pub(super) fn new(ear: Box<dyn PathWatcher>, inbox: EventQueue) -> Self {
        Self {
            ear,
            inbox,
            watched: BTreeSet::new(),
            todo: Vec::new(),
            seen: None,
            is_newer: false,
            depth: 0,
            hidden: HiddenPolicy::default(),
            links: LinkPolicy::default(),
            problem: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.watched.len()
    }

    /// Returns whether there are folders to watch.
    pub(super) fn is_busy(&self) -> bool {
        self.seen.is_some() || !self.todo.is_empty()
    }

    /// Begins to watch all places, and nothing else; [`work`](Self::work) does it.
    pub(super) fn all(&mut self, places: &WatchedPaths, settings: &Settings) {
        self.problem = None;
        self.depth = settings.max_depth.value;
        self.hidden = settings.hidden.value;
        self.links = settings.links.value;
        self.inbox.know_places(places);
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        // A link on the way may be exchanged, and so may what it leads to.
        for place in places.all() {
            let above = place.ancestors().skip(1).filter(|above| above.is_dir());
            seen.extend(above.map(Path::to_owned));
        }
        for above in &seen {
            self.listen(above, false);
        }
        self.todo = places.roots.iter().map(|root| (root.clone(), 0)).collect();
        self.seen = Some(seen);
    }

    /// Watches what is at a path and below it, after something happened there, and returns the folder to look at.
    pub(super) fn after(&mut self, root: &Path, path: &Path) -> PathBuf {
        let is_skill_file = path.file_name().is_some_and(|name| name == SKILL_FILE);
        let folder = match path.parent() {
            Some(folder) if is_skill_file => folder,
            _ => path,
        };
        let is_there = is_skill_file && path.symlink_metadata().is_ok();
        // Most often the content of a file is another, and the folders are the same.
        let is_as_known = is_there && self.inbox.knows(folder) && self.watched.contains(folder);
        if !is_as_known && !IS_DEEP {
            self.again(root, folder);
        }
        folder.to_owned()
    }

    fn again(&mut self, root: &Path, folder: &Path) {
        let below = self.watched.range(folder.to_owned()..);
        let below = below.take_while(|other| other.starts_with(folder));
        let below: Vec<PathBuf> = below.cloned().collect();
        // One that took the place of another is watched anew.
        for folder in &below {
            self.forget(folder);
        }
        let inside = folder.strip_prefix(root);
        let depth = inside.map_or(0, |path| path.components().count());
        self.todo.push((folder.to_owned(), depth));
    }

    /// Watches what is to be watched, up to a time. Asking the system may take long where it has much to do.
    pub(super) fn work(&mut self, until: Instant) {
        while let Some((folder, depth)) = self.todo.pop() {
            self.enter(&folder, depth);
            if Instant::now() >= until {
                return;
            }
        }
        if let Some(seen) = self.seen.take() {
            let gone: Vec<PathBuf> = self.watched.difference(&seen).cloned().collect();
            for folder in &gone {
                self.forget(folder);
            }
        }
    }

    /// Returns whether folders are watched that were not before, since the last time that this was asked.
    pub(super) fn take_newer(&mut self) -> bool {
        std::mem::take(&mut self.is_newer)
    }

    /// Watches a folder, then looks what is in it: what comes later is said.
    fn enter(&mut self, folder: &Path, depth: usize) {
        if depth > self.depth || !folder.is_dir() {
            return;
        }
        self.listen(folder, IS_DEEP);
        if let Some(seen) = &mut self.seen {
            seen.insert(folder.to_owned());
        }
        if IS_DEEP {
            return;
        }
        let is_skill = folder.join(SKILL_FILE).symlink_metadata().is_ok();
        self.inbox.know(folder, is_skill);
        if is_skill {
            return;
        }
        let subfolders = match subfolders(folder) {
            Ok(subfolders) => subfolders,
            // What is gone is said by the folder above.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                self.problem = Some(format!("{}: {error}", folder.display()));
                return;
            }
        };
        for (name, is_link) in subfolders {
            let is_hidden =
                name.to_string_lossy().starts_with('.') && self.hidden == HiddenPolicy::Skip;
            let is_never = NEVER.iter().any(|never| name == *never);
            if is_hidden || is_never || (is_link && self.links != LinkPolicy::Follow) {
                continue;
            }
            self.todo.push((folder.join(name), depth + 1));
        }
    }

    fn listen(&mut self, folder: &Path, is_deep: bool) {
        if self.watched.contains(folder) {
            return;
        }
        if self.watched.len() >= MOST {
            self.problem = Some(format!("There are more than {MOST} folders"));
            return;
        }
        match self.ear.listen(folder, is_deep) {
            Ok(()) => {
                self.watched.insert(folder.to_owned());
                self.is_newer = true;
            }
            // What vanished meanwhile is said by the folder above.
            Err(_) if !folder.is_dir() => {}
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn forget(&mut self, folder: &Path) {
        self.ear.ignore(folder);
        self.watched.remove(folder);
        self.inbox.know(folder, false);
    }
}
