//! Follows the files: a thread that looks when the system tells of a change, and from time to time.

mod event_queue;
mod watch_set;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use skillfold_core::{Catalog, Changes, Error};

use crate::skills::Skills;

use event_queue::{Due, EventQueue};
use watch_set::{NotifyWatcher, PathWatcher, WatchSet};

pub(crate) use watch_set::WatchedPaths;

/// A file that changed so shortly before that another change would look the same is looked at again after so long.
const SETTLING: Duration = Duration::from_millis(2_050);
/// Where the system tells of changes, a look at everything is so much rarer: some file systems do not tell.
const RARER: u32 = 12;
/// Folders are watched for so long before it is looked whether something changed meanwhile.
const SLICE: Duration = Duration::from_millis(50);
/// After a look at everything the next one waits so many times as long as it took, so that a storm of changes leaves the
/// machine to others.
const REST: u32 = 3;
/// What could not be read is tried again after [`SETTLING`], then after twice as long, and so on, so many times.
const DOUBLINGS: u32 = 5;

/// It is looked so often whether the person still trusts the project, whatever the settings say. Answers look themselves;
/// this is for clients that are told of changes.
const TRUST: Duration = Duration::from_secs(1);

/// Follows the files of a live handle until it is dropped.
///
/// ```no_run
/// # use skillfold::Skills;
/// let skills = Skills::discover(".")?;
/// let watching = skills.watch(|news| match news {
///     Ok(changes) => println!("changed: {:?}", changes.changed),
///     Err(error) => eprintln!("the skills stay as they were: {error}"),
/// })?;
/// println!("{:?}", watching.status());
/// drop(watching); // nothing is followed any more
/// # Ok::<(), skillfold::core::Error>(())
/// ```
#[must_use = "nothing is followed after it is dropped"]
pub struct Watcher {
    inbox: EventQueue,
    status: Arc<Mutex<WatchStatus>>,
    thread: Option<JoinHandle<()>>,
}

/// How changes are noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchStatus {
    /// Folders that the system tells of changes in; 0 where it was not asked.
    pub folders: usize,
    /// Whether these are all that there are; until then everything is looked at from time to time.
    pub is_complete: bool,
    /// Time between two looks at everything, if there are any.
    pub poll: Option<Duration>,
    /// Why the system does not tell of all changes, where it was asked.
    pub problem: Option<String>,
    /// Looks at single folders, and at everything.
    pub looks: (u64, u64),
}

impl Skills {
    /// Follows the files: a change is seen by the next request, without a refresh. `news` is called on the thread that
    /// follows, after each change that others can see, and with an error where settings cannot be followed any more; then
    /// the skills stay as they were.
    ///
    /// Whether and how often is looked is said by the settings `watch` and `poll_seconds`. With both off nothing is
    /// followed but the list of trusted folders: trust that was given by settings, and is taken out of them, lasts until
    /// the next [`refresh`](Skills::refresh).
    pub fn watch(
        &self,
        news: impl FnMut(Result<&Changes, &Error>) + Send + 'static,
    ) -> Result<Watcher, Error> {
        let ear = |inbox: &EventQueue| {
            NotifyWatcher::new(inbox.clone()).map(|ear| Box::new(ear) as Box<dyn PathWatcher>)
        };
        Watcher::start(self.clone(), ear, Box::new(news))
    }
}

impl Watcher {
    fn start(
        skills: Skills,
        ear: impl FnOnce(&EventQueue) -> Result<Box<dyn PathWatcher>, String>,
        news: ChangeHandler,
    ) -> Result<Self, Error> {
        let inbox = EventQueue::default();
        let status: Arc<Mutex<WatchStatus>> = Arc::default();
        let mut follower = WatchThread {
            inbox: inbox.clone(),
            status: Arc::clone(&status),
            cover: None,
            places: WatchedPaths::default(),
            is_overlapping: false,
            last_error: None,
            is_unread: false,
            tries: 0,
            news,
            skills,
        };
        let settings = follower.skills.report();
        if settings.settings.watch.value {
            match ear(&inbox) {
                Ok(ear) => follower.cover = Some(WatchSet::new(ear, inbox.clone())),
                Err(problem) => follower.status().problem = Some(problem),
            }
        }
        // What changed since the skills were found was not told.
        if follower.is_following() {
            inbox.everything();
        }
        let thread = thread::Builder::new()
            .name("skillfold-watch".to_owned())
            .spawn(move || follower.run())
            .map_err(|error| Error::read("a thread that follows the files", error))?;
        Ok(Self {
            inbox,
            status,
            thread: Some(thread),
        })
    }

    /// Returns how changes are noticed now.
    pub fn status(&self) -> WatchStatus {
        locked(&self.status).clone()
    }

    /// Looks at everything soon, as after a change that nobody told of.
    pub fn rescan(&self) {
        self.inbox.everything();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.inbox.stop();
        let Some(thread) = self.thread.take() else {
            return;
        };
        // Whoever is told of news may let go of this; the thread ends by itself then.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Watching")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

type ChangeHandler = Box<dyn FnMut(Result<&Changes, &Error>) + Send>;

/// What the thread holds.
struct WatchThread {
    skills: Skills,
    inbox: EventQueue,
    status: Arc<Mutex<WatchStatus>>,
    cover: Option<WatchSet>,
    places: WatchedPaths,
    /// Whether one folder may be found in two roots.
    is_overlapping: bool,
    /// What was said last of settings that cannot be followed; it is not said again.
    last_error: Option<String>,
    /// Whether the last look could not see everything, and how often that was so in a row.
    is_unread: bool,
    tries: u32,
    news: ChangeHandler,
}

impl WatchThread {
    fn run(&mut self) {
        let mut settle: Option<Instant> = None;
        let mut poll = self.next_poll();
        let mut trust = Instant::now() + TRUST;
        loop {
            let is_busy = self.cover.as_ref().is_some_and(WatchSet::is_busy);
            let soon = is_busy.then(Instant::now);
            let until = soon.into_iter().chain(settle).chain(poll).min();
            let is_settling = settle.is_some() && settle == until;
            let until = until.map_or(trust, |until| until.min(trust));
            match self.inbox.wait(Some(until)) {
                Due::Stop => return,
                Due::Paths(paths) if !self.is_for_all(&paths) => self.look_at(paths),
                Due::Time if until == trust => {
                    trust = Instant::now() + TRUST;
                    self.look_at_trust();
                }
                Due::Time if is_busy => self.work(),
                Due::Time if is_settling => {
                    settle = None;
                    if self.is_unread {
                        self.look_at_everything();
                    } else {
                        self.look_again();
                    }
                }
                Due::Everything | Due::Paths(_) | Due::Time => {
                    let start = Instant::now();
                    self.look_at_everything();
                    self.inbox.rest((start.elapsed() * REST).min(SETTLING));
                    poll = self.next_poll();
                }
            }
            let is_settled =
                !self.is_unread && self.skills.catalog().unsettled_folders().is_empty();
            let wait = SETTLING * 2_u32.pow(self.tries.saturating_sub(1).min(DOUBLINGS));
            // Changes that go on do not put it off.
            settle = (!is_settled && self.is_following())
                .then(|| settle.unwrap_or_else(|| Instant::now() + wait));
        }
    }

    /// Returns whether anything is followed at all.
    fn is_following(&self) -> bool {
        self.cover.is_some() || self.skills.report().settings.poll_seconds.value > 0
    }

    /// Returns when everything is to be looked at even if nothing is told.
    fn next_poll(&self) -> Option<Instant> {
        let poll = self.poll();
        self.status().poll = poll;
        poll.map(|poll| Instant::now() + poll)
    }

    fn poll(&self) -> Option<Duration> {
        let seconds = self.skills.report().settings.poll_seconds.value;
        let cover = self.cover.as_ref();
        let is_told =
            cover.is_some_and(|cover| cover.problem.is_none()) && self.inbox.problem().is_none();
        let often = if is_told { RARER } else { 1 };
        let seconds = u32::try_from(seconds)
            .unwrap_or(u32::MAX)
            .saturating_mul(often);
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }

    fn status(&self) -> MutexGuard<'_, WatchStatus> {
        locked(&self.status)
    }

    /// Returns whether what happened may have changed settings or roots.
    fn is_for_all(&self, paths: &[PathBuf]) -> bool {
        self.is_overlapping || paths.iter().any(|path| self.inbox.is_above(path))
    }

    /// Tells of what changed because another folder is trusted, or one is not any more.
    fn look_at_trust(&mut self) {
        let changes = self.skills.changes_of_trust();
        self.tell(Ok(changes));
    }

    /// Looks at everything, and begins to watch what there is now.
    fn look_at_everything(&mut self) {
        let refreshed = self.skills.refresh();
        self.tell(refreshed);
        self.inbox.looked();
        self.cover_all();
        if self.cover.is_some() {
            self.work();
        }
        self.status().looks.1 += 1;
    }

    /// Watches more folders. When all are watched, what changed in new ones until then has to be looked at.
    fn work(&mut self) {
        let Some(cover) = &mut self.cover else {
            return;
        };
        cover.work(Instant::now() + SLICE);
        let is_newer = !cover.is_busy() && cover.take_newer();
        self.show_cover();
        if is_newer {
            let refreshed = self.skills.refresh();
            self.tell(refreshed);
            // A root may have come to light.
            if self.skills.places() != self.places {
                self.cover_all();
            }
        }
    }

    fn cover_all(&mut self) {
        self.places = self.skills.places();
        self.is_overlapping = self.places.overlap();
        let settings = &self.skills.report().settings;
        if !settings.watch.value {
            self.cover = None;
        }
        if let Some(cover) = &mut self.cover {
            cover.all(&self.places, settings);
        }
        self.show_cover();
    }

    /// Shows what is watched.
    fn show_cover(&self) {
        let cover = self.cover.as_ref();
        let mut status = self.status();
        status.folders = cover.map_or(0, WatchSet::len);
        status.is_complete = cover.is_some_and(|cover| !cover.is_busy());
        if let Some(cover) = cover {
            let told = self.inbox.problem();
            status.problem = cover.problem.clone().or(told);
        }
    }

    /// Looks at what is told to have changed.
    fn look_at(&mut self, paths: Vec<PathBuf>) {
        let was_busy = self.cover.as_ref().is_some_and(WatchSet::is_busy);
        let mut folders: Vec<PathBuf> = Vec::with_capacity(paths.len());
        for path in paths {
            let path = self.places.named(path);
            let root = self.places.roots.iter().find(|root| path.starts_with(root));
            let (Some(root), Some(cover)) = (root, &mut self.cover) else {
                continue;
            };
            folders.push(cover.after(root, &path));
        }
        if folders.is_empty() {
            return;
        }
        if let Some(cover) = &mut self.cover {
            cover.work(Instant::now() + SLICE);
            // What is new of these folders is looked at below, and what is new elsewhere when all is watched.
            if !cover.is_busy() && cover.take_newer() && was_busy {
                self.inbox.everything();
            }
        }
        self.show_cover();
        self.look_by(|catalog| chosen(catalog, &folders));
    }

    /// Looks at what was not settled when it was looked at last.
    fn look_again(&mut self) {
        self.look_by(|catalog| {
            let folders = catalog.unsettled_folders().into_iter();
            Some(
                folders
                    .map(|(root, path)| (root, path.to_owned()))
                    .collect(),
            )
        });
    }

    fn look_by(&mut self, choose: impl FnOnce(&Catalog) -> Option<Vec<(usize, String)>>) {
        self.status().looks.0 += 1;
        let refreshed = self.skills.refresh_folders(choose);
        self.tell(refreshed);
    }

    /// Tells of what is news.
    fn tell(&mut self, refreshed: Result<Changes, Error>) {
        let is_failed = refreshed.as_ref().is_err_and(Error::is_transient);
        self.is_unread = is_failed || self.skills.is_stale();
        self.tries = if self.is_unread { self.tries + 1 } else { 0 };
        match refreshed {
            Ok(changes) => {
                self.last_error = None;
                if !changes.is_empty() {
                    (self.news)(Ok(&changes));
                }
            }
            Err(error) => {
                let said = error.to_string();
                if self.last_error.as_ref() != Some(&said) {
                    self.last_error = Some(said);
                    (self.news)(Err(&error));
                }
            }
        }
    }
}

/// Returns folders by root and path, or nothing if one of them is not below exactly one root.
fn chosen(catalog: &Catalog, folders: &[PathBuf]) -> Option<Vec<(usize, String)>> {
    let place = |folder: &PathBuf| {
        let inside = |(at, root): (usize, &skillfold_core::Root)| {
            let path = folder.strip_prefix(root.source().location()?).ok()?;
            let names = path.components().map(|name| name.as_os_str().to_str());
            Some((at, names.collect::<Option<Vec<_>>>()?.join("/")))
        };
        let mut found = catalog.roots().iter().enumerate().filter_map(inside);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    };
    folders.iter().map(place).collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
