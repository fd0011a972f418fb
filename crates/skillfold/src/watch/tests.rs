//! Changes are found even if notifications are lost.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use notify::event::{Event, EventKind, Flag};
use skillfold_core::name::ResourcePath;
use skillfold_core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ResourceKind, Resources, WalkOptions,
};
use skillfold_core::{Error, FsSource, Limits, Root, Scope, Source};
use skillfold_testkit::{files, folder, write};
use tempfile::TempDir;

use super::watch_set::PathWatcher;
use super::{WATCHED_POLL_FACTOR, Watcher};
use crate::{Environment, Host, Skills};

/// Never notifies, or refuses to watch.
struct SilentWatcher(Result<(), String>);

impl PathWatcher for SilentWatcher {
    fn watch(&mut self, _: &Path, _: bool) -> Result<(), String> {
        self.0.clone()
    }

    fn unwatch(&mut self, _: &Path) {}
}

fn start_silent(result: Result<(), String>, poll_seconds: &str) -> (TempDir, Skills, Watcher) {
    let folder = folder("");
    let source = FsSource::open(folder.path()).unwrap();
    let skills = Host::new(Environment::new("/nowhere"))
        .set("poll_seconds", poll_seconds)
        .root(Root::new(Scope::User, "mine", source))
        .discover()
        .unwrap()
        .skills;
    let new_watcher = |_: &_| Ok(Box::new(SilentWatcher(result)) as Box<dyn PathWatcher>);
    let watcher = Watcher::start(skills.clone(), new_watcher, None, Box::new(|_| {})).unwrap();
    until(|| watcher.status().full_rescans == 1);
    (folder, skills, watcher)
}

#[track_caller]
fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn add(folder: &TempDir, name: &str) {
    let tree = format!("//- {name}/SKILL.md\n---\nname: {name}\ndescription: d\n---\n");
    write(folder.path(), &files(&tree));
}

#[test]
fn watcher_overflow_loses_no_change() {
    let (folder, skills, watcher) = start_silent(Ok(()), "0");
    for number in 0..500 {
        add(&folder, &format!("made-{number}"));
    }
    assert!(skills.catalog().is_empty(), "nothing was told");
    let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    watcher.events.receive(Ok(overflow));
    until(|| skills.catalog().len() == 500);
}

#[test]
fn watcher_error_triggers_a_full_rescan_and_shows_in_the_status() {
    let (folder, skills, watcher) = start_silent(Ok(()), "0");
    add(&folder, "mail");
    watcher
        .events
        .receive(Err(notify::Error::generic("it broke")));
    until(|| skills.catalog().len() == 1);
    until(|| watcher.status().problem.as_deref() == Some("it broke"));
}

#[test]
fn watcher_failure_shortens_the_poll_interval() {
    let (folder, skills, watcher) = start_silent(Err("no more watches".to_owned()), "1");
    let status = watcher.status();
    assert_eq!(status.problem.as_deref(), Some("no more watches"));
    assert_eq!(status.poll, Some(Duration::from_secs(1)));
    add(&folder, "mail");
    until(|| skills.catalog().len() == 1);
    let (_folder, _, watcher) = start_silent(Ok(()), "1");
    let long_interval = Duration::from_secs(WATCHED_POLL_FACTOR.into());
    until(|| watcher.status().poll == Some(long_interval));
}

#[test]
fn one_watcher_error_does_not_shorten_the_interval_permanently() {
    let (_folder, _, watcher) = start_silent(Ok(()), "1");
    let long_interval = Duration::from_secs(WATCHED_POLL_FACTOR.into());
    until(|| watcher.status().poll == Some(long_interval));
    watcher
        .events
        .receive(Err(notify::Error::generic("it broke")));
    until(|| watcher.status().poll == Some(Duration::from_secs(1)));
    assert_eq!(watcher.status().problem.as_deref(), Some("it broke"));
    until(|| watcher.status().poll == Some(long_interval));
    assert_eq!(watcher.status().problem, None);
}

#[test]
fn interval_set_by_the_host_overrides_the_settings() {
    let folder = TempDir::new().unwrap();
    let source = FsSource::open(folder.path()).unwrap();
    let skills = Host::new(Environment::new("/nowhere"))
        .set("watch", "off")
        .set("poll_seconds", "0")
        .root(Root::new(Scope::User, "mine", source))
        .discover()
        .unwrap()
        .skills;
    let interval = Duration::from_millis(20);
    let watcher = skills.watch_every(interval, |_| {}).unwrap();
    until(|| watcher.status().poll == Some(interval));
    add(&folder, "mail");
    until(|| skills.catalog().len() == 1);
}

#[test]
fn panic_in_the_change_handler_is_reported_and_watching_continues() {
    let folder = TempDir::new().unwrap();
    let source = FsSource::open(folder.path()).unwrap();
    let skills = Host::new(Environment::new("/nowhere"))
        .root(Root::new(Scope::User, "mine", source))
        .discover()
        .unwrap()
        .skills;
    let mut calls = 0;
    let handler = move |_: Result<&_, &_>| {
        calls += 1;
        assert!(calls > 1, "the first call fails");
    };
    let interval = Duration::from_millis(20);
    let watcher = skills.watch_every(interval, handler).unwrap();
    add(&folder, "mail");
    until(|| {
        let problem = watcher.status().problem.unwrap_or_default();
        problem == "The host's code panicked: the first call fails"
    });
    add(&folder, "news");
    until(|| skills.catalog().len() == 2);
    until(|| watcher.status().problem.is_none());
}

/// A source of a host that panics when it is told to.
#[derive(Debug)]
struct Panicking(FsSource, Arc<AtomicBool>);

impl Source for Panicking {
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        assert!(!self.1.load(Ordering::Relaxed), "the source fails");
        self.0.list(options, cursor)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        self.0.head(folder, bytes, into)
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        self.0.read(folder, path, range)
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        self.0.resources(folder, limits, cursor)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        self.0.kind(folder, path)
    }
}

#[test]
fn panic_in_a_source_is_reported_and_watching_continues() {
    let (folder, fails) = (TempDir::new().unwrap(), Arc::new(AtomicBool::new(false)));
    let source = FsSource::open(folder.path()).unwrap();
    let source = Panicking(source, Arc::clone(&fails));
    let skills = Host::new(Environment::new("/nowhere"))
        .root(Root::new(Scope::User, "mine", source))
        .discover()
        .unwrap()
        .skills;
    fails.store(true, Ordering::Relaxed);
    let interval = Duration::from_millis(20);
    let watcher = skills.watch_every(interval, |_| {}).unwrap();
    until(|| {
        let problem = watcher.status().problem.unwrap_or_default();
        problem == "The host's code panicked: the source fails"
    });
    fails.store(false, Ordering::Relaxed);
    add(&folder, "mail");
    until(|| skills.catalog().len() == 1);
    until(|| watcher.status().problem.is_none());
}
