//! Many processes propose and decide concurrently.
//!
//! Each process is this test binary, running only [`proposes_and_decides`], in its own folder beside the home.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use skillfold_core::ErrorKind;
use skillfold_core::load::Digest;
use skillfold_store::change::{FileEdit, unified};
use skillfold_store::{
    Approval, Author, Event, LogRecords, NewProposal, Operation, SkillPath, Store, Target,
};
use skillfold_testkit::race_time;

use crate::home::{folder, now};
use crate::random::Random;

const PROCESSES: usize = 8;
const SKILLS: [&str; 3] = ["pdf", "csv", "xml"];

/// The file to which every change adds a line.
const LINES: &str = "references/lines.md";
/// A second file, to which some changes add the same line.
const COPY: &str = "references/copy.md";
/// The file, in the process's folder, that says how long it works.
const SECONDS: &str = "seconds";
/// The file, in the process's folder, with the store's answers: a word and a digest per line.
const TOLD: &str = "told";

fn place(home: &Path, skill: &str) -> SkillPath {
    let skills = home.join("skills");
    SkillPath::new(&skills, &skills.join(skill)).unwrap()
}

fn store(home: &Path) -> Store {
    let store = Store::open(&home.join("data")).unwrap();
    store.keep_versions(usize::MAX)
}

#[test]
fn many_processes_lose_no_change() {
    let folder = folder();
    let home = folder.path().join("home");
    for skill in SKILLS {
        let path = place(&home, skill).path();
        fs::create_dir_all(path.join("references")).unwrap();
        let text = format!("---\nname: {skill}\ndescription: Has lines\n---\n");
        fs::write(path.join("SKILL.md"), text).unwrap();
        for file in [LINES, COPY] {
            fs::write(path.join(file), "first\n").unwrap();
        }
    }
    let processes = (0..PROCESSES).map(|number| {
        let folder = folder.path().join(format!("process-{number}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(SECONDS), race_time().as_secs().to_string()).unwrap();
        Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "many::child_that_proposes_and_decides",
                "--ignored",
            ])
            .current_dir(folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    });
    for mut process in processes.collect::<Vec<_>>() {
        assert!(process.wait().unwrap().success());
    }
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for number in 0..PROCESSES {
        let file = folder.path().join(format!("process-{number}/{TOLD}"));
        for line in fs::read_to_string(file).unwrap().lines() {
            let (what, rest) = line.split_once(' ').unwrap();
            told.entry(what.to_owned())
                .or_default()
                .push(rest.to_owned());
        }
    }
    let log = store(&home).log().unwrap();
    assert_eq!((log.damage.as_ref(), log.incomplete), (None, 0));
    let approved = check_histories(&home, &log);
    check_decisions(&home, &log, &approved, &told);
    let count = |what| told.get(what).map_or(0, Vec::len);
    println!(
        "{PROCESSES} processes for {} s: {} proposed, {} approved, {} rejected, {} refused, {} records",
        race_time().as_secs(),
        count("proposed"),
        count("approved"),
        count("rejected"),
        count("refused"),
        log.records.len()
    );
    assert!(count("approved") >= PROCESSES, "too few to mean anything");
}

/// Checks that each skill's versions form a sequence, each with one more line, and returns the approved proposals.
fn check_histories(home: &Path, log: &LogRecords) -> BTreeSet<Digest> {
    let store = store(home);
    let mut approved = BTreeSet::new();
    let mut last: BTreeMap<&SkillPath, Digest> = BTreeMap::new();
    for record in log.done() {
        let Event::Started {
            operation: Operation::Approve { proposal, .. },
            target: Target::Skill(place, _),
            before: Some(before),
            after: Some(after),
        } = &record.event
        else {
            panic!("{record:?}");
        };
        assert!(approved.insert(*proposal), "approved twice: {record:?}");
        let previous = last.insert(place, *after);
        assert!(previous.is_none_or(|it| it == *before), "{record:?}");
        let lines = |version| {
            let files = store.version(version).unwrap().unwrap();
            let text = str::from_utf8(files.get(LINES).unwrap()).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (old, mut new) = (lines(*before), lines(*after));
        assert_eq!(new.len(), old.len() + 1, "{record:?}");
        let added = (0..new.len()).find(|index| old.get(*index) != Some(&new[*index]));
        let added = new.remove(added.unwrap());
        assert_eq!(old, new, "{record:?}");
        assert!(!old.contains(&added), "{added} appears twice");
    }
    let edits = log
        .records
        .iter()
        .filter(|it| matches!(it.event, Event::Edited { .. }));
    assert_eq!(edits.count(), 0);
    for (place, digest) in last {
        let files = place.read().unwrap().unwrap();
        assert_eq!(files.digest(), digest, "{}", place.path().display());
        let history = store.history(place, now()).unwrap();
        assert_eq!(history.last().unwrap().digest, Some(digest));
    }
    approved
}

/// Checks that nothing acknowledged to a process is lost.
fn check_decisions(
    home: &Path,
    log: &LogRecords,
    approved: &BTreeSet<Digest>,
    told: &BTreeMap<String, Vec<String>>,
) {
    let told = |what| -> BTreeSet<Digest> {
        let digests = told.get(what).into_iter().flatten();
        digests.map(|it| it.parse().unwrap()).collect()
    };
    let rejected = log.records.iter().filter_map(|it| match it.event {
        Event::Rejected { proposal, .. } => Some(proposal),
        _ => None,
    });
    let rejected: BTreeSet<Digest> = rejected.collect();
    let waiting = store(home).proposals().unwrap().waiting;
    let waiting: BTreeSet<Digest> = waiting.iter().map(|it| it.proposal.digest).collect();
    let known = &(approved | &rejected) | &waiting;
    assert!(told("proposed").is_subset(&known), "a proposal is lost");
    assert_eq!(&told("approved"), approved);
    assert_eq!(told("rejected"), rejected);
    let states = approved.len() + rejected.len() + waiting.len();
    assert_eq!(states, known.len(), "a proposal is in two states");
}

/// Exits right away if no duration is given.
#[test]
#[ignore = "a process that another test starts"]
fn child_that_proposes_and_decides() {
    let folder = env::current_dir().unwrap();
    let Ok(seconds) = fs::read_to_string(folder.join(SECONDS)) else {
        return;
    };
    let time = Duration::from_secs(seconds.parse().unwrap());
    let name = folder.file_name().unwrap().to_str().unwrap();
    let home = folder.with_file_name("home");
    let seed = name.bytes().map(u64::from).sum();
    let mut options = OpenOptions::new();
    let mut process = Process {
        name,
        store: store(&home),
        told: options
            .append(true)
            .create(true)
            .open(folder.join(TOLD))
            .unwrap(),
        random: Random::new(seed),
    };
    let start = Instant::now();
    for number in 0.. {
        if start.elapsed() >= time {
            return;
        }
        let skill = SKILLS[process.random.up_to(SKILLS.len() - 1)];
        process.propose(skill, &place(&home, skill), number);
        process.decide();
    }
}

struct Process<'a> {
    name: &'a str,
    store: Store,
    told: File,
    random: Random,
}

impl Process<'_> {
    fn told(&mut self, what: &str, rest: impl std::fmt::Display) {
        writeln!(self.told, "{what} {rest}").unwrap();
    }

    /// Proposes another line.
    fn propose(&mut self, skill: &str, place: &SkillPath, number: usize) {
        // Another process may exchange the folder during the read.
        let Ok(Some(files)) = place.read() else {
            return;
        };
        let edit = |path: &str| {
            let old = files.get(path)?.to_vec();
            let line = format!("{} {number}\n", self.name);
            let new = [&*old, line.as_bytes()].concat();
            Some(FileEdit::new(path.parse().unwrap(), Some(old), Some(new)))
        };
        let is_double = number.is_multiple_of(3);
        let copy = is_double.then(|| edit(COPY)).flatten();
        let Some(lines) = edit(LINES) else {
            return;
        };
        let edits: Vec<FileEdit> = [lines].into_iter().chain(copy).collect();
        let new = NewProposal {
            skill,
            place,
            diff: &unified(&edits),
            author: Author::named(self.name),
            justification: "one more",
            evidence: None,
            checks: &[],
        };
        match self.store.propose(&new, now()) {
            Ok(proposed) => self.told("proposed", proposed.proposal.digest),
            // The skill has changed, or too many proposals are pending.
            Err(error) => self.refused(&error),
        }
    }

    /// Approves or rejects a pending proposal, whoever made it.
    fn decide(&mut self) {
        let mut waiting = self.store.proposals().unwrap().waiting;
        if waiting.is_empty() {
            return;
        }
        let chosen = self.random.up_to(waiting.len() - 1);
        let proposal = waiting.swap_remove(chosen).proposal;
        let approval = Approval::at_terminal(self.name);
        let approved = self
            .store
            .approve(proposal.digest, proposal.base, &approval, now());
        let Err(error) = approved else {
            return self.told("approved", proposal.digest);
        };
        self.refused(&error);
        let rejected = self
            .store
            .reject(proposal.digest, self.name, "the skill has moved", now());
        match rejected {
            Ok(()) => self.told("rejected", proposal.digest),
            Err(error) => self.refused(&error),
        }
    }

    fn refused(&mut self, error: &skillfold_core::Error) {
        let kinds = [ErrorKind::Refused, ErrorKind::Invalid, ErrorKind::NotFound];
        assert!(kinds.contains(&error.kind()), "{error} ({})", error.hint());
        self.told("refused", error.hint().replace('\n', " "));
    }
}
