//! What must hold once the store is reopened.

use std::collections::BTreeMap;
use std::fs;

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};
use skillfold_store::{Event, LogRecords, OperationOutcome, SkillPath, Store, Target};

use crate::home::{Home, approve, now};
use crate::scenario::{Scenario, Subject};
use crate::tree::Tree;

/// What a user sees of a home folder.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Everything but the store.
    outside: Tree,
    log: Vec<u8>,
    /// The logged events, without operations that changed nothing.
    events: Vec<Event>,
    waiting: Vec<Digest>,
    /// What locks need.
    needed: Tree,
    has_passphrase: bool,
}

impl Seen {
    pub(crate) fn of(home: &Home) -> Result<Self, String> {
        let tree = Tree::read(&home.0);
        if let [folder, ..] = tree.temporary_folders()[..] {
            return Err(format!("{} is left", folder.display()));
        }
        let log = tree.bytes("data/audit.jsonl").unwrap_or_default();
        let records = LogRecords::parse(log);
        if records.damage.is_some() || records.incomplete > 0 {
            return Err(format!("the log is damaged: {:?}", records.damage));
        }
        let (mut waiting, mut has_passphrase) = (Vec::new(), false);
        if home.data().exists() {
            let store = home.store();
            let proposals = store.proposals().map_err(text)?;
            if let [error, ..] = &proposals.unreadable[..] {
                return Err(format!("a proposal is unreadable: {error}"));
            }
            waiting.extend(proposals.waiting.iter().map(|it| it.proposal.digest));
            has_passphrase = store.has_passphrase().map_err(text)?;
            for it in &proposals.waiting {
                store.preview(&it.proposal).map_err(text)?;
            }
        }
        Ok(Self {
            outside: tree.outside("data"),
            log: log.to_owned(),
            events: events(&records)?,
            waiting,
            needed: tree.files_in("data/locks"),
            has_passphrase,
        })
    }

    fn without_modes(mut self) -> Self {
        self.outside = self.outside.without_modes();
        self.needed = self.needed.without_modes();
        self
    }

    /// Returns how this differs from `other`, ignoring the log's bytes.
    fn difference(&self, other: &Self) -> Option<String> {
        let Self {
            outside,
            events,
            waiting,
            needed,
            has_passphrase,
            ..
        } = self;
        if events != &other.events {
            return Some(format!("events {events:#?}, not {:#?}", other.events));
        }
        if outside != &other.outside {
            let (here, there) = (&outside.0, &other.outside.0);
            let is_other = |path: &&std::path::PathBuf| here.get(*path) != there.get(*path);
            let paths = here.keys().chain(there.keys()).filter(is_other);
            return Some(format!("other files: {:?}", paths.collect::<Vec<_>>()));
        }
        if waiting != &other.waiting {
            return Some(format!("waiting {waiting:?}, not {:?}", other.waiting));
        }
        if needed != &other.needed {
            return Some("other needs of locks".to_owned());
        }
        let what = "whether there is a passphrase".to_owned();
        (*has_passphrase != other.has_passphrase).then_some(what)
    }
}

/// Returns the logged events, without random parts and operations that changed nothing.
fn events(log: &LogRecords) -> Result<Vec<Event>, String> {
    let ends: BTreeMap<u64, OperationOutcome> = log
        .records
        .iter()
        .filter_map(|record| match record.event {
            Event::Finished { started, outcome } => Some((started, outcome)),
            _ => None,
        })
        .collect();
    let mut events = Vec::new();
    for record in &log.records {
        let mut event = record.event.clone();
        if let Event::Started { target, after, .. } = &mut event {
            match target {
                Target::Skill(_, staging) => staging.clear(),
                // A passphrase's salt is random.
                Target::File(file) if file.ends_with("passphrase.json") => *after = None,
                _ => {}
            }
        }
        match (&event, ends.get(&record.number)) {
            (Event::Finished { .. }, _)
            | (Event::Started { .. }, Some(OperationOutcome::Undone)) => {}
            (Event::Started { .. }, None | Some(OperationOutcome::Overtaken)) => {
                return Err(format!("record {} has no good end", record.number));
            }
            _ => events.push(event),
        }
    }
    Ok(events)
}

/// Cleans up after an interrupted operation, as any operation does first.
pub(crate) fn recover(home: &Home) -> Result<(), Error> {
    let unknown = Digest::sha256(b"no proposal");
    match home.open()?.reject(unknown, "anna", "", now()) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        rejected => rejected,
    }
}

/// A scenario, with the state before and after it.
pub(crate) struct Trial<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) home: &'a Home,
    pub(crate) subject: Subject,
    before: Seen,
    after: Seen,
    /// Whether file modes are known.
    pub(crate) has_modes: bool,
}

impl<'a> Trial<'a> {
    /// `before` is the state before the operation, which is done now.
    pub(crate) fn new(
        scenario: &'a Scenario,
        home: &'a Home,
        subject: Subject,
        before: Seen,
    ) -> Self {
        let after = Seen::of(home).unwrap();
        let change = before.difference(&after);
        assert!(change.is_some(), "{} does nothing", scenario.name);
        Self {
            scenario,
            home,
            subject,
            before,
            after,
            has_modes: true,
        }
    }

    /// Checks that the operation is either done or changed nothing, and that nothing was lost.
    pub(crate) fn check(&self, is_acknowledged: bool) -> Result<(), String> {
        recover(self.home).map_err(|error| format!("no recovery: {}", text(error)))?;
        let seen = self.see()?;
        if !seen.log.starts_with(&self.before.log) {
            return Err("an earlier record is lost".to_owned());
        }
        // What a lock needs is not in the log.
        let is_logged = self.after.events != self.before.events;
        let after = self.with_modes(self.after.clone());
        let is_done =
            seen.events.starts_with(&after.events) && (is_logged || seen.needed == after.needed);
        if is_acknowledged && !is_done {
            return Err(format!("acknowledged, and not done: {:#?}", seen.events));
        }
        let mut expected = if is_done { &self.after } else { &self.before }.clone();
        let is_twice = is_done && self.scenario.again.is_none();
        // If the operation was not done, the log may still have what it found first.
        let is_begun = self.after.events.starts_with(&seen.events)
            && seen.events.starts_with(&self.before.events);
        if is_twice || is_begun {
            expected.events.clone_from(&seen.events);
        }
        if let Some(difference) = seen.difference(&self.with_modes(expected)) {
            return Err(format!("done: {is_done}; {difference}"));
        }
        self.check_versions(&seen.events)?;
        self.try_again(is_done)?;
        self.decide()
    }

    fn see(&self) -> Result<Seen, String> {
        Ok(self.with_modes(Seen::of(self.home)?))
    }

    fn with_modes(&self, seen: Seen) -> Seen {
        if self.has_modes {
            seen
        } else {
            seen.without_modes()
        }
    }

    /// Checks that the logged versions can be read.
    fn check_versions(&self, events: &[Event]) -> Result<(), String> {
        let mut versions: BTreeMap<&SkillPath, Vec<Digest>> = BTreeMap::new();
        for event in events {
            let (place, before, after) = match event {
                Event::Started {
                    target: Target::Skill(place, _),
                    before,
                    after,
                    ..
                } => (place, before, after),
                Event::Edited {
                    skill,
                    before,
                    after,
                } => (skill, before, after),
                _ => continue,
            };
            let versions = versions.entry(place).or_default();
            versions.extend(before.iter().chain(after));
            versions.dedup();
        }
        let store = self.home.store();
        for versions in versions.values() {
            for version in versions.iter().rev().take(self.scenario.kept) {
                if store.version(*version).map_err(text)?.is_none() {
                    return Err(format!("version {version} is lost"));
                }
            }
        }
        Ok(())
    }

    /// Retries the operation: it succeeds if it was not done, and is otherwise refused for the right reason.
    fn try_again(&self, is_done: bool) -> Result<(), String> {
        let tried = (self.scenario.act)(self.home, &self.subject);
        let refused: Option<ErrorKind> = tried.as_ref().err().map(Error::kind);
        let expected = self.scenario.again.filter(|_| is_done);
        if refused != expected {
            return Err(format!("again, done: {is_done}: {:?}", tried.map_err(text)));
        }
        let (mut seen, after) = (self.see()?, self.with_modes(self.after.clone()));
        self.check_versions(&seen.events)?;
        if is_done {
            // An operation that may be repeated is logged twice.
            seen.events.truncate(after.events.len());
        }
        let difference = seen.difference(&after);
        difference.map_or(Ok(()), |it| Err(format!("after one more try: {it}")))
    }

    /// Decides all pending proposals, and compares the history with the skill.
    fn decide(&self) -> Result<(), String> {
        let store: Store = self.home.store();
        for it in store.proposals().map_err(text)?.waiting {
            approve(&store, &it.proposal).map_err(text)?;
        }
        let place = self.home.pdf();
        let history = store.history(&place, now()).map_err(text)?;
        let files = place.read().map_err(text)?;
        let is_same = history
            .last()
            .is_none_or(|last| last.digest == files.map(|it| it.digest()));
        if !is_same {
            return Err("the history does not end with the skill".to_owned());
        }
        let bytes = fs::read(self.home.data().join("audit.jsonl")).unwrap();
        let log = LogRecords::parse(&bytes);
        events(&log)?;
        log.damage.map_or(Ok(()), |it| Err(format!("{it:?}")))
    }
}

/// Formats an error with its hint, which says why.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn text(error: Error) -> String {
    format!("{error} ({})", error.hint())
}
