//! The set of folders with change notifications.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use skillfold_core::source::{HiddenPolicy, LinkPolicy, SKILL_FILE};

use crate::environment::subfolders;
use crate::settings::Settings;
use crate::skills::watched_paths::WatchedPaths;
use crate::watch::event_queue::EventQueue;

/// Folders that never contain skills.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];
/// Maximum folders to watch. Changes in others are found by polling.
const MAX_WATCHED_FOLDERS: usize = 250_000;
/// Whether the system's watches are recursive.
const IS_RECURSIVE: bool = cfg!(any(target_os = "macos", target_os = "windows"));

/// A source of change notifications.
pub(super) trait PathWatcher: Send {
    /// Starts notifications for a folder.
    fn watch(&mut self, folder: &Path, is_recursive: bool) -> Result<(), String>;

    /// Stops notifications for a folder.
    fn unwatch(&mut self, folder: &Path);
}

/// The system's notifications.
pub(super) struct NotifyWatcher(RecommendedWatcher);

impl NotifyWatcher {
    pub(super) fn new(events: EventQueue) -> Result<Self, String> {
        let watcher = notify::recommended_watcher(move |event| events.receive(event));
        watcher.map(Self).map_err(|error| error.to_string())
    }
}

impl PathWatcher for NotifyWatcher {
    fn watch(&mut self, folder: &Path, is_recursive: bool) -> Result<(), String> {
        let mode = if is_recursive {
            RecursiveMode::Recursive
        } else {
            RecursiveMode::NonRecursive
        };
        let watched = self.0.watch(folder, mode);
        watched.map_err(|error| error.to_string())
    }

    fn unwatch(&mut self, folder: &Path) {
        // The folder may be gone, and then it is not watched anyway.
        let _ = self.0.unwatch(folder);
    }
}

/// The watched folders, and those still to be watched.
pub(super) struct WatchSet {
    watcher: Box<dyn PathWatcher>,
    events: EventQueue,
    watched: BTreeSet<PathBuf>,
    /// Folders to watch and walk into, each with its depth below its root.
    pending: Vec<(PathBuf, usize)>,
    /// The folders found so far while [`start_all`](Self::start_all) is being worked off. Others are unwatched at the
    /// end.
    current: Option<BTreeSet<PathBuf>>,
    /// Whether a folder was added. Changes in it before that were not notified.
    has_new: bool,
    max_depth: usize,
    hidden: HiddenPolicy,
    links: LinkPolicy,
    /// Why some folder is not watched.
    pub(super) problem: Option<String>,
}

impl WatchSet {
    pub(super) fn new(watcher: Box<dyn PathWatcher>, events: EventQueue) -> Self {
        Self {
            watcher,
            events,
            watched: BTreeSet::new(),
            pending: Vec::new(),
            current: None,
            has_new: false,
            max_depth: 0,
            hidden: HiddenPolicy::default(),
            links: LinkPolicy::default(),
            problem: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.watched.len()
    }

    /// Returns whether there is work left for [`run_until`](Self::run_until).
    pub(super) fn is_busy(&self) -> bool {
        self.current.is_some() || !self.pending.is_empty()
    }

    /// Starts to watch exactly these paths; [`run_until`](Self::run_until) does the work.
    pub(super) fn start_all(&mut self, paths: &WatchedPaths, settings: &Settings) {
        self.problem = None;
        self.max_depth = settings.max_depth.value;
        self.hidden = settings.hidden.value;
        self.links = settings.links.value;
        self.events.set_paths(paths);
        let mut current: BTreeSet<PathBuf> = BTreeSet::new();
        // The folders above are watched too, of both forms of a path: a link may be replaced, and so may its target.
        for path in paths.all_paths() {
            let above = path.ancestors().skip(1).filter(|above| above.is_dir());
            current.extend(above.map(Path::to_owned));
        }
        for above in &current {
            self.watch(above, false);
        }
        self.pending = paths.roots.iter().map(|root| (root.clone(), 0)).collect();
        self.current = Some(current);
    }

    /// Updates the watches at and below a changed path, and returns the folder to refresh.
    pub(super) fn follow_change(&mut self, root: &Path, path: &Path) -> PathBuf {
        let is_skill_file = path.file_name().is_some_and(|name| name == SKILL_FILE);
        let folder = match path.parent() {
            Some(folder) if is_skill_file => folder,
            _ => path,
        };
        let exists = is_skill_file && path.symlink_metadata().is_ok();
        // The common case: only the content of a file changed, and the folders are the same.
        let is_known =
            exists && self.events.is_skill_folder(folder) && self.watched.contains(folder);
        if !is_known && !IS_RECURSIVE {
            self.rewatch(root, folder);
        }
        folder.to_owned()
    }

    fn rewatch(&mut self, root: &Path, folder: &Path) {
        let below = self.watched.range(folder.to_owned()..);
        let below = below.take_while(|other| other.starts_with(folder));
        let below: Vec<PathBuf> = below.cloned().collect();
        // A watch does not carry over to a folder that replaced the watched one.
        for folder in &below {
            self.unwatch(folder);
        }
        let inside = folder.strip_prefix(root);
        let depth = inside.map_or(0, |path| path.components().count());
        self.pending.push((folder.to_owned(), depth));
    }

    /// Watches pending folders until a deadline. The system may take long to add watches while it is busy.
    pub(super) fn run_until(&mut self, deadline: Instant) {
        while let Some((folder, depth)) = self.pending.pop() {
            self.watch_folder(&folder, depth);
            if Instant::now() >= deadline {
                return;
            }
        }
        if let Some(current) = self.current.take() {
            let gone: Vec<PathBuf> = self.watched.difference(&current).cloned().collect();
            for folder in &gone {
                self.unwatch(folder);
            }
        }
    }

    /// Returns whether folders were added since the last call.
    pub(super) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.has_new)
    }

    /// Watches a folder and then lists it, in this order: what is added after the listing is notified.
    fn watch_folder(&mut self, folder: &Path, depth: usize) {
        if depth > self.max_depth || !folder.is_dir() {
            return;
        }
        self.watch(folder, IS_RECURSIVE);
        if let Some(current) = &mut self.current {
            current.insert(folder.to_owned());
        }
        if IS_RECURSIVE {
            return;
        }
        let is_skill = folder.join(SKILL_FILE).symlink_metadata().is_ok();
        self.events.set_skill_folder(folder, is_skill);
        if is_skill {
            return;
        }
        let subfolders = match subfolders(folder) {
            Ok(subfolders) => subfolders,
            // The folder above notifies of the removal.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                self.problem = Some(format!("{}: {error}", folder.display()));
                return;
            }
        };
        for (name, is_link) in subfolders {
            let is_hidden =
                name.to_string_lossy().starts_with('.') && self.hidden == HiddenPolicy::Skip;
            let is_skipped = SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped);
            if is_hidden || is_skipped || (is_link && self.links != LinkPolicy::Follow) {
                continue;
            }
            self.pending.push((folder.join(name), depth + 1));
        }
    }

    fn watch(&mut self, folder: &Path, is_recursive: bool) {
        if self.watched.contains(folder) {
            return;
        }
        if self.watched.len() >= MAX_WATCHED_FOLDERS {
            self.problem = Some(format!("There are more than {MAX_WATCHED_FOLDERS} folders"));
            return;
        }
        match self.watcher.watch(folder, is_recursive) {
            Ok(()) => {
                self.watched.insert(folder.to_owned());
                self.has_new = true;
            }
            // The folder vanished meanwhile, and the one above notifies of that.
            Err(_) if !folder.is_dir() => {}
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn unwatch(&mut self, folder: &Path) {
        self.watcher.unwatch(folder);
        self.watched.remove(folder);
        self.events.set_skill_folder(folder, false);
    }
}
