//! Approvals that race with edits to the skill, other approvals, and changes to the proposal.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use std::{env, hint, thread};

use skillfold_core::{Error, ErrorKind};
use skillfold_store::{Proposal, VersionCause};
use tempfile::TempDir;

use crate::check::{recover, text};
use crate::home::{Home, ONE, SEVERAL, approve, folder, now};
use crate::random::Random;
use crate::tree::{Entry, Tree};

/// Races of each kind; `just faults-store` runs 1,000.
const RACES: u64 = 100;

/// Prefix of the names Skillfold gives to what it sets aside.
const KEPT: &str = ".skillfold-kept-";
/// A file that a program renames once it is written.
const BEING_SAVED: &str = ".being-saved";

fn races() -> u64 {
    env::var("APPROVE_RACES").map_or(RACES, |it| it.parse().unwrap())
}

/// A home with a pending proposal.
struct Arena {
    home: Home,
    before: Tree,
    proposal: Proposal,
    /// The skill before and after the proposal is approved.
    skills: [Tree; 2],
    /// How long an approval takes.
    time: Duration,
    _folder: TempDir,
}

impl Arena {
    fn new(diff: &str) -> Self {
        let folder = folder();
        let home = Home(folder.path().join("home"));
        home.make_skill();
        let proposal = home.propose(&home.pdf(), diff).unwrap().proposal;
        let before = Tree::read(&home.0);
        let old = skill(&home);
        let start = Instant::now();
        approve(&home.store(), &proposal).unwrap();
        let time = start.elapsed();
        let skills = [old, skill(&home)];
        Self {
            home,
            before,
            proposal,
            skills,
            time,
            _folder: folder,
        }
    }

    /// Approves while `other` runs, which starts at a random moment.
    fn race<T>(&self, random: &mut Random, other: impl FnOnce() -> T) -> (Result<(), Error>, T) {
        self.before.write(&self.home.0);
        let barrier = Barrier::new(2);
        let most = usize::try_from(self.time.as_micros()).unwrap() * 5 / 4;
        let wait = Duration::from_micros(random.up_to(most) as u64);
        thread::scope(|scope| {
            let approving = scope.spawn(|| {
                let store = self.home.store();
                barrier.wait();
                approve(&store, &self.proposal)
            });
            barrier.wait();
            let start = Instant::now();
            while start.elapsed() < wait {
                hint::spin_loop();
            }
            let done = other();
            (approving.join().unwrap(), done)
        })
    }
}

/// Returns the skill's folder, without what Skillfold set aside or a program left when it could not save.
fn skill(home: &Home) -> Tree {
    let Tree(mut entries) = Tree::read(&home.0.join("skills")).outside("none");
    entries.retain(|path, _| {
        let path = path.to_string_lossy();
        !path.contains(KEPT) && !path.ends_with(BEING_SAVED)
    });
    Tree(entries)
}

/// How a program saves a file.
#[derive(Clone, Copy, Debug)]
enum Save {
    /// Truncates it and writes it, in two parts.
    InPlace,
    /// Writes another file and renames it.
    Rename,
}

impl Save {
    fn run(self, file: &Path, content: &str) {
        // The folder may be exchanged between two calls. A program then reports that it could not save.
        while self.try_run(file, content).is_err() {}
    }

    fn try_run(self, file: &Path, content: &str) -> std::io::Result<()> {
        match self {
            Self::InPlace => {
                let mut options = OpenOptions::new();
                let options = options.write(true).create(true).truncate(true);
                let mut file = options.open(file)?;
                let (one, other) = content.split_at(content.len() / 2);
                file.write_all(one.as_bytes())?;
                file.write_all(other.as_bytes())
            }
            Self::Rename => {
                let new = file.with_file_name(BEING_SAVED);
                fs::write(&new, content)?;
                fs::rename(new, file)
            }
        }
    }
}

#[derive(Default)]
struct Counts {
    approved: usize,
    refused: usize,
    /// Approved or refused, and the edit is beside the skill or in the history.
    aside: usize,
}

#[test]
fn concurrent_edit_is_neither_lost_nor_mixed_into_an_approval() {
    let mut failures = Vec::new();
    for (what, diff) in [("one file", ONE), ("several files", SEVERAL)] {
        let arena = Arena::new(diff);
        for save in [Save::InPlace, Save::Rename] {
            for file in ["SKILL.md", "references/other.md", ".hidden", ".new"] {
                let mut counts = Counts::default();
                for seed in 0..races() {
                    if let Err(failure) = race_with_an_edit(&arena, save, file, seed, &mut counts) {
                        let race = format!("{what}, {file}, {save:?}, seed {seed}");
                        failures.push(format!("{race}: {failure}"));
                    }
                }
                println!(
                    "change of {what}, {file} saved by {save:?}: {} races, {} approved, {} refused, {} of them with the edit \
                     put aside",
                    races(),
                    counts.approved,
                    counts.refused,
                    counts.aside
                );
            }
        }
    }
    let (number, few) = (failures.len(), &failures[..failures.len().min(20)]);
    assert!(few.is_empty(), "{number} failures\n{}", few.join("\n\n"));
}

fn race_with_an_edit(
    arena: &Arena,
    save: Save,
    file: &str,
    seed: u64,
    counts: &mut Counts,
) -> Result<(), String> {
    let random = &mut Random::new(seed);
    let content = format!("edit {seed}\n").repeat(1 + random.up_to(2_000));
    let path = arena.home.pdf().path().join(file);
    let (approved, ()) = arena.race(random, || save.run(&path, &content));
    let store = arena.home.store();
    recover(&arena.home).map_err(text)?;
    let history = store.history(&arena.home.pdf(), now()).map_err(text)?;
    let is_approved = approved.is_ok();
    match approved {
        Ok(()) => counts.approved += 1,
        Err(error) if error.kind() == ErrorKind::Refused => counts.refused += 1,
        Err(error) => return Err(text(error)),
    }
    let is_waiting = !store.proposals().map_err(text)?.waiting.is_empty();
    let is_recorded = history
        .iter()
        .any(|it| matches!(it.cause, VersionCause::Approved { .. }));
    if is_waiting == is_approved || is_recorded != is_approved {
        return Err(format!(
            "approved: {is_approved}, recorded: {is_recorded}, waits: {is_waiting}"
        ));
    }
    let found = skill(&arena.home);
    let reviewed = &arena.skills[usize::from(is_approved)];
    let mut edited = reviewed.clone();
    let relative = Path::new("pdf").join(file);
    let entry = Entry::File {
        mode: 0,
        bytes: content.clone().into_bytes(),
    };
    edited.0.insert(relative, entry);
    let is = |tree: &Tree| found.clone().without_modes() == tree.clone().without_modes();
    if is(&edited) {
        return Ok(());
    }
    let mut versions = history.iter().filter_map(|it| it.digest);
    let is_aside = versions.any(|digest| {
        let files = store.version(digest).unwrap();
        files.is_some_and(|files| files.get(file) == Some(content.as_bytes()))
    }) || kept(&arena.home).any(|bytes| bytes == content.as_bytes());
    if is(reviewed) && is_aside {
        counts.aside += 1;
        return Ok(());
    }
    let names: Vec<&PathBuf> = found.0.keys().collect();
    let is_reviewed = is(reviewed);
    Err(format!(
        "approved: {is_approved}, reviewed: {is_reviewed}, aside: {is_aside}, {names:?}"
    ))
}

/// Returns the contents that Skillfold set aside.
fn kept(home: &Home) -> impl Iterator<Item = Vec<u8>> {
    let Tree(entries) = Tree::read(&home.0.join("skills"));
    entries.into_iter().filter_map(|(path, entry)| match entry {
        Entry::File { bytes, .. } if path.to_string_lossy().contains(KEPT) => Some(bytes),
        _ => None,
    })
}

#[test]
fn second_approval_of_a_proposal_changes_nothing() {
    for diff in [ONE, SEVERAL] {
        let arena = Arena::new(diff);
        for seed in 0..races() {
            let random = &mut Random::new(seed);
            let second = || approve(&arena.home.store(), &arena.proposal);
            let (one, other) = arena.race(random, second);
            let [Ok(()), Err(error)] = ordered(one, other) else {
                panic!("seed {seed}: not one of two was approved");
            };
            assert_eq!(error.kind(), ErrorKind::NotFound, "seed {seed}: {error}");
            assert_eq!(skill(&arena.home), arena.skills[1], "seed {seed}");
            assert_eq!(approvals(&arena.home), 1, "seed {seed}");
        }
    }
    println!(
        "a second approval: {} races, 1 approved in each",
        2 * races()
    );
}

#[test]
fn only_one_of_two_proposals_for_a_version_is_approved() {
    let arena = Arena::new(ONE);
    arena.before.write(&arena.home.0);
    let other = ONE.replace("qpdf", "mutool");
    let other = arena.home.propose(&arena.home.pdf(), &other).unwrap();
    let arena = Arena {
        before: Tree::read(&arena.home.0),
        ..arena
    };
    let mut wins = 0;
    for seed in 0..races() {
        let random = &mut Random::new(seed);
        let second = || approve(&arena.home.store(), &other.proposal);
        let (one, two) = arena.race(random, second);
        let has_won = one.is_ok();
        wins += usize::from(has_won);
        let [Ok(()), Err(error)] = ordered(one, two) else {
            panic!("seed {seed}: not one of two was approved");
        };
        assert_eq!(error.kind(), ErrorKind::Refused, "seed {seed}: {error}");
        let text = fs::read_to_string(arena.home.pdf().path().join("SKILL.md")).unwrap();
        let word = if has_won { "qpdf" } else { "mutool" };
        assert!(
            text.ends_with(&format!("Use {word}.\n")),
            "seed {seed}: {text}"
        );
        assert_eq!(approvals(&arena.home), 1, "seed {seed}");
    }
    println!("two proposals: {} races, the first won {wins}", races());
}

#[test]
fn changed_proposal_is_not_applied() {
    for save in [Save::InPlace, Save::Rename] {
        let arena = Arena::new(ONE);
        let file = arena
            .home
            .data()
            .join("proposals")
            .join(&arena.proposal.file);
        let name = Path::new("data/proposals").join(&arena.proposal.file);
        let reviewed = str::from_utf8(arena.before.bytes(name).unwrap()).unwrap();
        let changed = reviewed.replace("qpdf", "evil");
        let mut counts = Counts::default();
        for seed in 0..races() {
            let random = &mut Random::new(seed);
            let (approved, ()) = arena.race(random, || save.run(&file, &changed));
            match &approved {
                Ok(()) => counts.approved += 1,
                Err(error) if error.kind() == ErrorKind::NotFound => counts.refused += 1,
                Err(error) => panic!("seed {seed}: {error}"),
            }
            let expected = &arena.skills[usize::from(approved.is_ok())];
            assert_eq!(&skill(&arena.home), expected, "seed {seed}");
            // What was written in its place is another, undecided proposal.
            let found = fs::read_to_string(&file).unwrap();
            assert_eq!(found, changed, "seed {seed}");
            let proposals = arena.home.store().proposals().unwrap();
            assert!(!proposals.waiting[0].is_recorded, "seed {seed}");
        }
        println!(
            "a proposal changed by {save:?}: {} races, {} approved, {} refused",
            races(),
            counts.approved,
            counts.refused
        );
    }
}

/// Puts the success first.
fn ordered<T>(one: Result<T, Error>, other: Result<T, Error>) -> [Result<T, Error>; 2] {
    if one.is_ok() {
        [one, other]
    } else {
        [other, one]
    }
}

/// Returns the number of approvals in the log, after verifying it.
fn approvals(home: &Home) -> usize {
    let log = home.store().log().unwrap();
    assert_eq!((log.damage.as_ref(), log.incomplete), (None, 0));
    log.done().count()
}
