//! Collects and debounces the system's change notifications.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use skillfold_core::source::SKILL_FILE;

use crate::skills::watched_paths::WatchedPaths;

/// A path is due once it had no events for this long.
const QUIET_PERIOD: Duration = Duration::from_millis(40);
/// A path with continuous events is due after this long.
const MAX_DELAY: Duration = Duration::from_millis(200);
/// A file that is open for writing is due when it is closed, or after this long without events.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum paths to track separately; more cause a full rescan.
const MAX_PATHS: usize = 256;

/// The queue of change notifications. Clones share the same queue.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue(Arc<QueueInner>);

#[derive(Debug, Default)]
struct QueueInner {
    state: Mutex<QueueState>,
    woken: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    paths: HashMap<PathBuf, PathEvents>,
    /// The first and last request for a full rescan.
    rescan: Option<PathEvents>,
    /// Folders of skills. Only the `SKILL.md` in them matters.
    skill_folders: HashSet<PathBuf>,
    /// All watched paths, as configured and with links resolved.
    watched: Vec<PathBuf>,
    /// Nothing is due before this time.
    not_before: Option<Instant>,
    /// The last error of the watcher, and the number of full rescans since.
    problem: Option<(String, u32)>,
    is_stopped: bool,
}

/// The times of the events of a path.
#[derive(Clone, Copy, Debug)]
struct PathEvents {
    first: Instant,
    last: Instant,
    /// Whether a program has the file open for writing.
    is_open: bool,
}

impl PathEvents {
    fn due(&self) -> Instant {
        if self.is_open {
            self.last + WRITE_TIMEOUT
        } else {
            (self.last + QUIET_PERIOD).min(self.first + MAX_DELAY)
        }
    }
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Due {
    /// The watcher was dropped.
    Stop,
    /// Do a full rescan: events were lost, or there were too many.
    Rescan,
    /// These paths changed.
    Paths(Vec<PathBuf>),
    /// The deadline has passed.
    Timeout,
}

impl EventQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        // Poisoning can be ignored: the state is consistent after every step under the lock.
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.0.woken.notify_all();
    }

    /// Requests a full rescan.
    pub(super) fn request_rescan(&self) {
        self.state().request_rescan();
        self.0.woken.notify_all();
    }

    /// Sets whether a folder is a skill.
    pub(super) fn set_skill_folder(&self, folder: &Path, is_skill: bool) {
        let skills = &mut self.state().skill_folders;
        if is_skill {
            skills.insert(folder.to_owned());
        } else {
            skills.remove(folder);
        }
    }

    /// Sets the watched paths.
    pub(super) fn set_paths(&self, paths: &WatchedPaths) {
        self.state().watched = paths.all_paths().collect();
    }

    /// Returns whether a change at a path may affect which roots and settings exist.
    pub(super) fn affects_roots(&self, path: &Path) -> bool {
        self.state().affects_roots(path)
    }

    /// Lets nothing be due for some time.
    pub(super) fn rest(&self, rest: Duration) {
        self.state().not_before = Some(Instant::now() + rest);
    }

    /// Returns whether a folder is known to be a skill.
    pub(super) fn is_skill_folder(&self, folder: &Path) -> bool {
        self.state().skill_folders.contains(folder)
    }

    /// Returns the last error of the watcher.
    pub(super) fn problem(&self) -> Option<String> {
        let state = self.state();
        state.problem.as_ref().map(|(problem, _)| problem.clone())
    }

    /// Notes a full rescan. The watcher's error is cleared if there was no other one between two rescans.
    pub(super) fn note_rescan(&self) {
        let mut state = self.state();
        if let Some((_, rescans)) = &mut state.problem {
            *rescans += 1;
        }
        state.problem.take_if(|(_, rescans)| *rescans > 1);
    }

    /// Receives an event or error from the system.
    pub(super) fn receive(&self, event: notify::Result<notify::Event>) {
        let mut state = self.state();
        match event {
            Err(error) => {
                state.problem = Some((error.to_string(), 0));
                state.request_rescan();
            }
            Ok(event) if event.need_rescan() => state.request_rescan(),
            Ok(event) => {
                let recorded = event
                    .paths
                    .into_iter()
                    .filter(|path| state.record(path, event.kind))
                    .count();
                if recorded == 0 {
                    return;
                }
            }
        }
        drop(state);
        self.0.woken.notify_all();
    }

    /// Waits until something is due, at most until the deadline.
    pub(super) fn wait(&self, deadline: Option<Instant>) -> Due {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            // Events take precedence over the deadline, but a stream of them must not postpone it forever.
            if !state.is_stopped && deadline.is_some_and(|deadline| deadline + MAX_DELAY <= now) {
                return Due::Timeout;
            }
            if let Some(due) = state.due(now) {
                return due;
            }
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Due::Timeout;
            }
            let next = state.next_due().into_iter().chain(deadline).min();
            let timeout = next.map_or(Duration::from_secs(3600), |next| next - now);
            let woken = self.0.woken.wait_timeout(state, timeout);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl QueueState {
    fn affects_roots(&self, path: &Path) -> bool {
        self.watched.iter().any(|watched| watched.starts_with(path))
    }

    fn request_rescan(&mut self) {
        let now = Instant::now();
        let first = self.rescan.map_or(now, |events| events.first);
        self.rescan = Some(PathEvents {
            first,
            last: now,
            is_open: false,
        });
    }

    /// Records an event of a path if it is relevant, and returns whether it is.
    fn record(&mut self, path: &Path, kind: EventKind) -> bool {
        let is_skill_file = path.file_name().is_some_and(|name| name == SKILL_FILE);
        let is_open = match kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
            EventKind::Access(_) => return false,
            EventKind::Modify(ModifyKind::Data(_)) => cfg!(target_os = "linux"),
            _ => false,
        };
        let is_content = matches!(
            kind,
            EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_))
        );
        let is_in_skill = || {
            path.parent()
                .is_some_and(|parent| self.skill_folders.contains(parent))
        };
        // The content of other files matters only for settings and commands. Whether a file is one is decided later.
        let has_extension = |wanted: &str| path.extension().is_some_and(|it| it == wanted);
        let is_command =
            || has_extension("md") && path.components().any(|it| it.as_os_str() == "commands");
        let is_read = has_extension("toml") || is_command();
        if !is_skill_file && ((is_content && !is_read) || is_in_skill()) {
            return false;
        }
        let now = Instant::now();
        if self.paths.len() >= MAX_PATHS && !self.paths.contains_key(path) {
            self.paths.clear();
            self.request_rescan();
            return true;
        }
        let known = self.paths.get(path);
        let events = PathEvents {
            first: known.map_or(now, |known| known.first),
            last: now,
            is_open,
        };
        self.paths.insert(path.to_owned(), events);
        true
    }

    fn due(&mut self, now: Instant) -> Option<Due> {
        if self.is_stopped {
            return Some(Due::Stop);
        }
        if self.not_before.is_some_and(|earliest| now < earliest) {
            return None;
        }
        if self.rescan.is_some_and(|events| events.due() <= now) {
            self.rescan = None;
            // The rescan may read a file that is still being written, so that one remains due.
            self.paths.retain(|_, events| events.is_open);
            return Some(Due::Rescan);
        }
        let due: Vec<PathBuf> = self
            .paths
            .extract_if(|_, events| events.due() <= now)
            .map(|(path, _)| path)
            .collect();
        (!due.is_empty()).then_some(Due::Paths(due))
    }

    fn next_due(&self) -> Option<Instant> {
        let events = self.paths.values().chain(&self.rescan);
        let due = events.map(PathEvents::due).min()?;
        Some(self.not_before.map_or(due, |earliest| due.max(earliest)))
    }
}
