//! Keeps skills up to date: a thread that refreshes on the system's change notifications, and at intervals.

mod event_queue;

mod watch_set;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use skillfold_core::catalog::Changes;
use skillfold_core::{Catalog, Error};

use crate::skills::Skills;
use crate::skills::watched_paths::WatchedPaths;

use event_queue::{Due, EventQueue};
use watch_set::{NotifyWatcher, PathWatcher, WatchSet};

/// When to check a file again that changed so recently that another change could leave the same timestamp.
const SETTLE_DELAY: Duration = Duration::from_millis(2_050);
/// With notifications the poll interval is this many times longer. Some file systems send none, so polling never stops.
const WATCHED_POLL_FACTOR: u32 = 12;
/// How long to add watches before checking for events.
const WATCH_SLICE: Duration = Duration::from_millis(50);
/// After a refresh, the next one waits this many times as long as it took: a storm of changes is handled in a few large
/// refreshes, and does not occupy the machine.
const REST_FACTOR: u32 = 3;
/// A failed read is retried after [`SETTLE_DELAY`], and the delay doubles with each retry, at most this many times.
const MAX_BACKOFF_DOUBLINGS: u32 = 5;

/// How often to check whether the user still trusts the project, whatever the settings say. Answers check it
/// themselves; this is for clients that are notified of changes.
const TRUST_INTERVAL: Duration = Duration::from_secs(1);

/// Keeps a live handle up to date until dropped.
///
/// ```no_run
/// # use skillfold::Skills;
/// let skills = Skills::discover(".")?.skills;
/// let watcher = skills.watch(|result| match result {
///     Ok(changes) => println!("changed: {:?}", changes.changed),
///     Err(error) => eprintln!("the skills stay as they were: {error}"),
/// })?;
/// println!("{:?}", watcher.status());
/// drop(watcher); // stops watching
/// # Ok::<(), skillfold::core::Error>(())
/// ```
#[must_use = "nothing is watched after it is dropped"]
pub struct Watcher {
    events: EventQueue,
    status: Arc<Mutex<WatchStatus>>,
    thread: Option<JoinHandle<()>>,
}

/// How changes are noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchStatus {
    /// Folders with change notifications; 0 if those are off.
    pub folders: usize,
    /// Whether all folders have notifications. Until then, changes are also found by rescans.
    pub is_complete: bool,
    /// Time between two full rescans; `None` if polling is off.
    pub poll: Option<Duration>,
    /// Why notifications are incomplete, if they are on; or that a change handler or a source of the host panicked, until the next
    /// change is passed on. Watching goes on after a panic.
    pub problem: Option<String>,
    /// How often single folders were refreshed.
    pub folder_refreshes: u64,
    /// How often everything was rescanned.
    pub full_rescans: u64,
}

impl Skills {
    /// Watches the files, so that requests see changes without a call of [`refresh`](Skills::refresh). `on_change` is
    /// called on the watcher's thread after each visible change, and with an error if the settings become invalid; the
    /// skills are left unchanged then.
    ///
    /// The settings `watch` and `poll_seconds` control notifications and polling. With both off, only the list of
    /// trusted folders is watched: trust that was given by settings, and is removed from them, lasts until the next
    /// `refresh`.
    pub fn watch(
        &self,
        on_change: impl FnMut(Result<&Changes, &Error>) + Send + 'static,
    ) -> Result<Watcher, Error> {
        Watcher::start(self.clone(), new_watcher, None, Box::new(on_change))
    }

    /// Watches the files as [`watch`](Self::watch) does, and scans all of them at an interval, whatever the settings say
    /// about polling.
    pub fn watch_every(
        &self,
        interval: Duration,
        on_change: impl FnMut(Result<&Changes, &Error>) + Send + 'static,
    ) -> Result<Watcher, Error> {
        let on_change = Box::new(on_change);
        Watcher::start(self.clone(), new_watcher, Some(interval), on_change)
    }
}

fn new_watcher(events: &EventQueue) -> Result<Box<dyn PathWatcher>, String> {
    Ok(Box::new(NotifyWatcher::new(events.clone())?))
}

impl Watcher {
    fn start(
        skills: Skills,
        new_watcher: impl FnOnce(&EventQueue) -> Result<Box<dyn PathWatcher>, String>,
        interval: Option<Duration>,
        on_change: ChangeHandler,
    ) -> Result<Self, Error> {
        let events = EventQueue::default();
        let status: Arc<Mutex<WatchStatus>> = Arc::default();
        let mut thread = WatchThread {
            events: events.clone(),
            status: Arc::clone(&status),
            watch_set: None,
            paths: WatchedPaths::default(),
            has_overlapping_roots: false,
            last_error: None,
            is_incomplete: false,
            retries: 0,
            panic: None,
            interval,
            on_change,
            skills,
        };
        let report = thread.skills.report();
        if report.settings.watch.value {
            match new_watcher(&events) {
                Ok(watcher) => thread.watch_set = Some(WatchSet::new(watcher, events.clone())),
                Err(problem) => thread.status().problem = Some(problem),
            }
        }
        // There were no notifications of changes since the discovery.
        if thread.is_watching() {
            events.request_rescan();
        }
        let thread = thread::Builder::new()
            .name("skillfold-watch".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| Error::read("a thread that watches the files", error))?;
        Ok(Self {
            events,
            status,
            thread: Some(thread),
        })
    }

    /// Returns how changes are noticed at the moment.
    pub fn status(&self) -> WatchStatus {
        lock(&self.status).clone()
    }

    /// Requests a full rescan, for changes without a notification. It runs soon, on the watcher's thread.
    pub fn rescan(&self) {
        self.events.request_rescan();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.events.stop();
        let Some(thread) = self.thread.take() else {
            return;
        };
        // The change handler may drop the watcher on its own thread, which cannot join itself and ends anyway.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Watcher")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

type ChangeHandler = Box<dyn FnMut(Result<&Changes, &Error>) + Send>;

/// The state of the watcher's thread.
struct WatchThread {
    skills: Skills,
    events: EventQueue,
    status: Arc<Mutex<WatchStatus>>,
    watch_set: Option<WatchSet>,
    paths: WatchedPaths,
    /// Whether a folder may be in two roots.
    has_overlapping_roots: bool,
    /// The last reported error, so that it is not reported again.
    last_error: Option<String>,
    /// Whether the last refresh could not read everything.
    is_incomplete: bool,
    /// The number of incomplete refreshes in a row.
    retries: u32,
    /// What the change handler or a source of the host last panicked with.
    panic: Option<String>,
    /// The time between two scans, if the host set it.
    interval: Option<Duration>,
    on_change: ChangeHandler,
}

impl WatchThread {
    /// Watches until it is told to stop. A panic in code of the host, which is its change handler or its source, is reported in the
    /// status, and everything is rescanned after a while.
    fn run(&mut self) {
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run_until_stopped())) {
            let problem = format!("The host's code panicked: {}", panic_message(&*panic));
            tracing::error!(problem, "watching continues after a panic");
            self.status().problem = Some(problem.clone());
            self.panic = Some(problem);
            self.events.rest(SETTLE_DELAY);
            self.events.request_rescan();
        }
    }

    fn run_until_stopped(&mut self) {
        let mut settle: Option<Instant> = None;
        let mut poll = self.next_poll();
        let mut trust = Instant::now() + TRUST_INTERVAL;
        loop {
            let is_busy = self.watch_set.as_ref().is_some_and(WatchSet::is_busy);
            let soon = is_busy.then(Instant::now);
            let until = soon.into_iter().chain(settle).chain(poll).min();
            let is_settling = settle.is_some() && settle == until;
            let until = until.map_or(trust, |until| until.min(trust));
            let due = self.events.wait(Some(until));
            let (start, is_timeout) = (Instant::now(), matches!(due, Due::Timeout));
            match due {
                Due::Stop => return,
                Due::Paths(paths) if !self.needs_rescan(&paths) => self.refresh_paths(paths),
                Due::Timeout if until == trust => {
                    trust = Instant::now() + TRUST_INTERVAL;
                    self.check_trust();
                }
                Due::Timeout if is_busy => self.extend_watches(),
                Due::Timeout if is_settling => {
                    settle = None;
                    if self.is_incomplete {
                        self.rescan_all();
                    } else {
                        self.refresh_unsettled();
                    }
                }
                Due::Rescan | Due::Paths(_) | Due::Timeout => {
                    self.rescan_all();
                    poll = self.next_poll();
                }
            }
            if !is_timeout {
                let rest = start.elapsed() * REST_FACTOR;
                self.events.rest(rest.min(SETTLE_DELAY));
            }
            let is_settled =
                !self.is_incomplete && self.skills.catalog().unsettled_folders().is_empty();
            let wait =
                SETTLE_DELAY * 2_u32.pow(self.retries.saturating_sub(1).min(MAX_BACKOFF_DOUBLINGS));
            // An ongoing stream of changes does not postpone it.
            settle = (!is_settled && self.is_watching())
                .then(|| settle.unwrap_or_else(|| Instant::now() + wait));
        }
    }

    /// Returns whether notifications or polling are on.
    fn is_watching(&self) -> bool {
        let polls = || self.skills.report().settings.poll_seconds.value > 0;
        self.watch_set.is_some() || self.interval.is_some() || polls()
    }

    /// Returns the time of the next rescan without a notification.
    fn next_poll(&self) -> Option<Instant> {
        let poll = self.poll();
        self.status().poll = poll;
        poll.map(|poll| Instant::now() + poll)
    }

    fn poll(&self) -> Option<Duration> {
        if self.interval.is_some() {
            return self.interval;
        }
        let seconds = self.skills.report().settings.poll_seconds.value;
        let watch_set = self.watch_set.as_ref();
        let is_notified = watch_set.is_some_and(|watch_set| watch_set.problem.is_none())
            && self.events.problem().is_none();
        let factor = if is_notified { WATCHED_POLL_FACTOR } else { 1 };
        let seconds = u32::try_from(seconds)
            .unwrap_or(u32::MAX)
            .saturating_mul(factor);
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }

    fn status(&self) -> MutexGuard<'_, WatchStatus> {
        lock(&self.status)
    }

    /// Returns whether changes to these paths may affect settings or roots, so that only a full rescan will do.
    fn needs_rescan(&self, paths: &[PathBuf]) -> bool {
        self.has_overlapping_roots || paths.iter().any(|path| self.events.affects_roots(path))
    }

    /// Reports changes caused by a change of trust.
    fn check_trust(&mut self) {
        let changes = self.skills.take_trust_changes();
        self.report(Ok(changes));
    }

    /// Does a full rescan, and starts to watch what exists now.
    fn rescan_all(&mut self) {
        let refreshed = self.skills.refresh();
        self.report(refreshed);
        self.events.note_rescan();
        self.watch_all();
        if self.watch_set.is_some() {
            self.extend_watches();
        }
        self.status().full_rescans += 1;
    }

    /// Watches more folders. Once all are watched, refreshes again if some are new: earlier changes in those were not
    /// notified.
    fn extend_watches(&mut self) {
        let Some(watch_set) = &mut self.watch_set else {
            return;
        };
        watch_set.run_until(Instant::now() + WATCH_SLICE);
        let has_new = !watch_set.is_busy() && watch_set.take_new();
        self.update_status();
        if has_new {
            let refreshed = self.skills.refresh();
            self.report(refreshed);
            // A root may have appeared.
            if self.skills.watched_paths() != self.paths {
                self.watch_all();
            }
        }
    }

    fn watch_all(&mut self) {
        self.paths = self.skills.watched_paths();
        self.has_overlapping_roots = self.paths.has_overlap();
        let settings = &self.skills.report().settings;
        if !settings.watch.value {
            self.watch_set = None;
        }
        if let Some(watch_set) = &mut self.watch_set {
            watch_set.start_all(&self.paths, settings);
        }
        self.update_status();
    }

    fn update_status(&self) {
        let watch_set = self.watch_set.as_ref();
        let mut status = self.status();
        status.folders = watch_set.map_or(0, WatchSet::len);
        status.is_complete = watch_set.is_some_and(|watch_set| !watch_set.is_busy());
        if let Some(watch_set) = watch_set {
            let event_problem = self.events.problem();
            let problem = watch_set.problem.clone().or(event_problem);
            status.problem = problem.or_else(|| self.panic.clone());
        }
    }

    /// Refreshes the folders of changed paths.
    fn refresh_paths(&mut self, paths: Vec<PathBuf>) {
        let was_busy = self.watch_set.as_ref().is_some_and(WatchSet::is_busy);
        let mut folders: Vec<PathBuf> = Vec::with_capacity(paths.len());
        for path in paths {
            let path = self.paths.as_configured(path);
            let root = self.paths.roots.iter().find(|root| path.starts_with(root));
            let (Some(root), Some(watch_set)) = (root, &mut self.watch_set) else {
                continue;
            };
            folders.push(watch_set.follow_change(root, &path));
        }
        if folders.is_empty() {
            return;
        }
        if let Some(watch_set) = &mut self.watch_set {
            watch_set.run_until(Instant::now() + WATCH_SLICE);
            // New folders below these paths are refreshed below; others need a rescan, once everything is watched.
            if !watch_set.is_busy() && watch_set.take_new() && was_busy {
                self.events.request_rescan();
            }
        }
        self.update_status();
        self.refresh_folders(|catalog| folders_by_root(catalog, &folders));
    }

    /// Refreshes the folders whose files were too recent at the last refresh.
    fn refresh_unsettled(&mut self) {
        self.refresh_folders(|catalog| {
            let folders = catalog.unsettled_folders().into_iter();
            Some(
                folders
                    .map(|(root, path)| (root, path.to_owned()))
                    .collect(),
            )
        });
    }

    fn refresh_folders(&mut self, choose: impl FnOnce(&Catalog) -> Option<Vec<(usize, String)>>) {
        self.status().folder_refreshes += 1;
        let refreshed = self.skills.refresh_folders(choose);
        self.report(refreshed);
    }

    /// Passes the result of a refresh to the change handler, unless it is empty or a repeated error.
    fn report(&mut self, refreshed: Result<Changes, Error>) {
        let is_failed = refreshed.as_ref().is_err_and(Error::is_transient);
        self.is_incomplete = is_failed || self.skills.is_stale();
        self.retries = if self.is_incomplete {
            self.retries + 1
        } else {
            0
        };
        match refreshed {
            Ok(changes) => {
                self.last_error = None;
                if !changes.is_empty() {
                    (self.on_change)(Ok(&changes));
                    if let Some(panic) = self.panic.take() {
                        self.status().problem.take_if(|problem| *problem == panic);
                    }
                }
            }
            Err(error) => {
                let message = error.to_string();
                if self.last_error.as_ref() != Some(&message) {
                    self.last_error = Some(message);
                    (self.on_change)(Err(&error));
                }
            }
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    message.unwrap_or("no message")
}

/// Returns folders as root numbers and relative paths, or `None` if one of them is not below exactly one root.
fn folders_by_root(catalog: &Catalog, folders: &[PathBuf]) -> Option<Vec<(usize, String)>> {
    let locate = |folder: &PathBuf| {
        let relative = |(number, root): (usize, &skillfold_core::Root)| {
            let path = folder.strip_prefix(root.source().location()?).ok()?;
            let names = path.components().map(|name| name.as_os_str().to_str());
            Some((number, names.collect::<Option<Vec<_>>>()?.join("/")))
        };
        let mut found = catalog.roots().iter().enumerate().filter_map(relative);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    };
    folders.iter().map(locate).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
