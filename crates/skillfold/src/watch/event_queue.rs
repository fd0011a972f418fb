//! What the system says of changes, put together until it is worth a look.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use skillfold_core::SKILL_FILE;

use crate::watch::watch_set::{WatchedPaths, both};

/// A path is looked at when nothing was said of it for so long.
const QUIET: Duration = Duration::from_millis(40);
/// A path of which more is said all the time is looked at after so long.
const LONGEST: Duration = Duration::from_millis(200);
/// A file that a program has open for writing is looked at when it is closed, or was left alone for so long.
const WRITING: Duration = Duration::from_secs(2);
/// Paths that are remembered one by one; for more, everything is looked at.
const PATHS: usize = 256;

/// Where the system's words arrive; a clone is the same.
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
    /// When something was said that makes a look at everything necessary, first and last.
    everything: Option<PathEvents>,
    /// Folders of skills: of what is in them only the `SKILL.md` is of interest.
    skills: HashSet<PathBuf>,
    /// Folders that are searched, by all paths that lead there.
    roots: Vec<PathBuf>,
    /// The same, and all other places that count.
    places: Vec<PathBuf>,
    /// Everything is not looked at again before this time.
    rest: Option<Instant>,
    /// What went wrong with the watcher, and the looks at everything since.
    problem: Option<(String, u32)>,
    is_stopped: bool,
}

/// When something was said of a path.
#[derive(Clone, Copy, Debug)]
struct PathEvents {
    first: Instant,
    last: Instant,
    /// Whether a program is writing it.
    is_open: bool,
}

impl PathEvents {
    fn due(&self) -> Instant {
        if self.is_open {
            self.last + WRITING
        } else {
            (self.last + QUIET).min(self.first + LONGEST)
        }
    }
}

/// What there is to do.
#[derive(Debug)]
pub(super) enum Due {
    /// The guard is gone.
    Stop,
    /// So much was said, or lost, that everything has to be looked at.
    Everything,
    /// Something happened to these paths.
    Paths(Vec<PathBuf>),
    /// It is the time that was waited for.
    Time,
}

impl EventQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        // What is done under the lock leaves it whole at each step.
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.0.woken.notify_all();
    }

    /// Asks for a look at everything.
    pub(super) fn everything(&self) {
        self.state().ask_for_everything();
        self.0.woken.notify_all();
    }

    /// Remembers whether a folder is a skill.
    pub(super) fn know(&self, folder: &Path, is_skill: bool) {
        let skills = &mut self.state().skills;
        if is_skill {
            skills.insert(folder.to_owned());
        } else {
            skills.remove(folder);
        }
    }

    /// Remembers which paths count.
    pub(super) fn know_places(&self, places: &WatchedPaths) {
        let mut state = self.state();
        state.roots = both(places.roots.iter()).collect();
        state.places = places.all().collect();
    }

    /// Returns whether what happens to a path may change which roots and settings there are.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.state().is_above(path)
    }

    /// Lets some time pass before everything is looked at again.
    pub(super) fn rest(&self, time: Duration) {
        self.state().rest = Some(Instant::now() + time);
    }

    /// Returns whether a folder is known as a skill.
    pub(super) fn knows(&self, folder: &Path) -> bool {
        self.state().skills.contains(folder)
    }

    /// Returns what went wrong with the watcher last.
    pub(super) fn problem(&self) -> Option<String> {
        let state = self.state();
        state.problem.as_ref().map(|(problem, _)| problem.clone())
    }

    /// Notes a look at everything. A watcher that had no trouble from one to the next is in order again.
    pub(super) fn looked(&self) {
        let mut state = self.state();
        if let Some((_, looks)) = &mut state.problem {
            *looks += 1;
        }
        state.problem.take_if(|(_, looks)| *looks > 1);
    }

    /// Takes what the system says.
    pub(super) fn take(&self, said: notify::Result<notify::Event>) {
        let mut state = self.state();
        match said {
            Err(error) => {
                state.problem = Some((error.to_string(), 0));
                state.ask_for_everything();
            }
            Ok(event) if event.need_rescan() => state.ask_for_everything(),
            Ok(event) => {
                let heard = event
                    .paths
                    .into_iter()
                    .filter(|path| state.hear(path, event.kind))
                    .count();
                if heard == 0 {
                    return;
                }
            }
        }
        drop(state);
        self.0.woken.notify_all();
    }

    /// Waits until there is something to do, at most until a time.
    pub(super) fn wait(&self, until: Option<Instant>) -> Due {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            // Changes that go on put off what waits for a time, and not for ever.
            if !state.is_stopped && until.is_some_and(|until| until + LONGEST <= now) {
                return Due::Time;
            }
            if let Some(due) = state.due(now) {
                return due;
            }
            if until.is_some_and(|until| until <= now) {
                return Due::Time;
            }
            let next = state.next().into_iter().chain(until).min();
            let longest = next.map_or(Duration::from_secs(3600), |next| next - now);
            let woken = self.0.woken.wait_timeout(state, longest);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl QueueState {
    fn is_above(&self, path: &Path) -> bool {
        self.places.iter().any(|place| place.starts_with(path))
    }

    fn ask_for_everything(&mut self) {
        let now = Instant::now();
        let first = self.everything.map_or(now, |said| said.first);
        self.everything = Some(PathEvents {
            first,
            last: now,
            is_open: false,
        });
    }

    /// Notes what was said of a path, if it can matter; returns whether it can.
    fn hear(&mut self, path: &Path, kind: EventKind) -> bool {
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
        let is_inside = || path.parent().is_some_and(|at| self.skills.contains(at));
        // Of the content of other files only settings matter, which the one that looks knows.
        let is_settings = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        if !is_skill_file && ((is_content && !is_settings) || is_inside()) {
            return false;
        }
        let now = Instant::now();
        if self.paths.len() >= PATHS && !self.paths.contains_key(path) {
            self.paths.clear();
            self.ask_for_everything();
            return true;
        }
        let known = self.paths.get(path);
        let said = PathEvents {
            first: known.map_or(now, |known| known.first),
            last: now,
            is_open,
        };
        self.paths.insert(path.to_owned(), said);
        true
    }

    fn due(&mut self, now: Instant) -> Option<Due> {
        if self.is_stopped {
            return Some(Due::Stop);
        }
        if self.everything_due().is_some_and(|due| due <= now) {
            self.everything = None;
            // A file that is being written is looked at when it is whole, all the same.
            self.paths.retain(|_, said| said.is_open);
            return Some(Due::Everything);
        }
        let due: Vec<PathBuf> = self
            .paths
            .extract_if(|_, said| said.due() <= now)
            .map(|(path, _)| path)
            .collect();
        (!due.is_empty()).then_some(Due::Paths(due))
    }

    fn next(&self) -> Option<Instant> {
        let paths = self.paths.values();
        paths
            .map(PathEvents::due)
            .chain(self.everything_due())
            .min()
    }

    fn everything_due(&self) -> Option<Instant> {
        let due = self.everything?.due();
        Some(self.rest.map_or(due, |rest| due.max(rest)))
    }
}
