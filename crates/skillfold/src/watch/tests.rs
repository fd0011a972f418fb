//! What is lost on the way is found all the same.

use std::path::Path;
use std::time::{Duration, Instant};

use notify::event::{Event, EventKind, Flag};
use skillfold_core::{FsSource, Root, Scope};
use skillfold_testkit::{files, folder, write};
use tempfile::TempDir;

use super::watch_set::PathWatcher;
use super::{RARER, Watcher};
use crate::{Environment, Host, Skills};

/// Hears nothing, or refuses to listen.
struct Deaf(Result<(), String>);

impl PathWatcher for Deaf {
    fn listen(&mut self, _: &Path, _: bool) -> Result<(), String> {
        self.0.clone()
    }

    fn ignore(&mut self, _: &Path) {}
}

fn deaf(listens: Result<(), String>, poll_seconds: &str) -> (TempDir, Skills, Watcher) {
    let folder = folder("");
    let source = FsSource::open(folder.path()).unwrap();
    let skills = Host::new(Environment::new("/nowhere"))
        .set("poll_seconds", poll_seconds)
        .root(Root::new(Scope::User, "mine", source))
        .discover()
        .unwrap();
    let ear = |_: &_| Ok(Box::new(Deaf(listens)) as Box<dyn PathWatcher>);
    let watching = Watcher::start(skills.clone(), ear, Box::new(|_| {})).unwrap();
    until(|| watching.status().looks.1 == 1);
    (folder, skills, watching)
}

#[track_caller]
fn until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn add(folder: &TempDir, name: &str) {
    let tree = format!("//- {name}/SKILL.md\n---\nname: {name}\ndescription: d\n---\n");
    write(folder.path(), &files(&tree));
}

#[test]
fn overflow_of_the_watcher_loses_nothing() {
    let (folder, skills, watching) = deaf(Ok(()), "0");
    for number in 0..500 {
        add(&folder, &format!("made-{number}"));
    }
    assert!(skills.catalog().is_empty(), "nothing was told");
    let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    watching.inbox.take(Ok(overflow));
    until(|| skills.catalog().len() == 500);
}

#[test]
fn fault_of_the_watcher_is_a_look_at_everything_and_is_in_the_status() {
    let (folder, skills, watching) = deaf(Ok(()), "0");
    add(&folder, "mail");
    watching.inbox.take(Err(notify::Error::generic("it broke")));
    until(|| skills.catalog().len() == 1);
    assert_eq!(watching.status().problem.as_deref(), Some("it broke"));
}

#[test]
fn where_the_system_does_not_tell_of_all_it_is_looked_more_often() {
    let (folder, skills, watching) = deaf(Err("no more watches".to_owned()), "1");
    let status = watching.status();
    assert_eq!(status.problem.as_deref(), Some("no more watches"));
    assert_eq!(status.poll, Some(Duration::from_secs(1)));
    add(&folder, "mail");
    until(|| skills.catalog().len() == 1);
    let (_folder, _, watching) = deaf(Ok(()), "1");
    let rare = Duration::from_secs(RARER.into());
    until(|| watching.status().poll == Some(rare));
}

#[test]
fn one_fault_of_the_watcher_does_not_make_it_look_more_often_for_good() {
    let (_folder, _, watching) = deaf(Ok(()), "1");
    let rare = Duration::from_secs(RARER.into());
    until(|| watching.status().poll == Some(rare));
    watching.inbox.take(Err(notify::Error::generic("it broke")));
    until(|| watching.status().poll == Some(Duration::from_secs(1)));
    assert_eq!(watching.status().problem.as_deref(), Some("it broke"));
    until(|| watching.status().poll == Some(rare));
    assert_eq!(watching.status().problem, None);
}
