//! Counts the checks made, the faults found, and the cost of each skill.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use crate::allocator::{held_by, peak};
use crate::measure::{measure, rounded};

/// Maximum CPU time per step of a skill.
const STEP_MS: f64 = 2_000.0;
/// Maximum bytes held per step of a skill.
const STEP_BYTES: isize = 256 << 20;
/// Maximum number of faults printed per check.
const SHOWN: usize = 20;
/// Number of slowest skills to report.
const SLOWEST: usize = 10;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Check {
    /// A step does not panic.
    NoPanic,
    /// A view validates against its schema.
    Schema,
    /// Two handles return the same.
    SameTwice,
    /// Text is within its budget.
    Budget,
    /// Terminal output contains no control or invisible characters.
    Terminal,
    /// A step takes at most [`STEP_MS`].
    Time,
    /// A step holds at most [`STEP_BYTES`], and a snapshot is within its limit per skill.
    Memory,
    /// A fixed file has nothing left to fix.
    Fixed,
}

impl Check {
    const ALL: [Self; 8] = [
        Self::NoPanic,
        Self::Schema,
        Self::SameTwice,
        Self::Budget,
        Self::Terminal,
        Self::Time,
        Self::Memory,
        Self::Fixed,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::NoPanic => "panics",
            Self::Schema => "schema",
            Self::SameTwice => "same_twice",
            Self::Budget => "budget",
            Self::Terminal => "terminal",
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Fixed => "fixed",
        }
    }
}

/// One skill, or an entire root, in one step.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) root: usize,
    pub(super) skill: &'a str,
    pub(super) step: &'static str,
}

impl Place<'_> {
    fn shown(&self) -> String {
        format!("{} of {} in {}", self.step, self.skill, self.root)
    }
}

/// A skill's cost over all steps.
#[derive(Clone, Debug)]
struct Took {
    root: usize,
    skill: String,
    cpu_ms: f64,
    slowest: (&'static str, f64),
}

/// All counters.
#[derive(Default)]
pub(super) struct Faults {
    checked: BTreeMap<Check, u64>,
    found: BTreeMap<Check, Vec<String>>,
    steps: BTreeMap<&'static str, (u64, f64)>,
    slowest: Vec<Took>,
    now: Option<Took>,
    most: (isize, String),
}

thread_local! {
    /// The last panic's message and location.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Suppresses panic messages and records them instead.
pub(super) fn listen() {
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.to_string().replace('\n', " ");
        SAID.with(|last| *last.borrow_mut() = said);
    }));
}

impl Faults {
    /// Records a check; an `Err` is a fault.
    pub(super) fn check(&mut self, check: Check, place: Place<'_>, found: Result<(), String>) {
        *self.checked.entry(check).or_default() += 1;
        if let Err(what) = found {
            let fault = format!("{}: {what}", place.shown());
            self.found.entry(check).or_default().push(fault);
        }
    }

    /// Runs a step and adds up its cost. Returns `None` if it panics.
    pub(super) fn attempt<T>(&mut self, place: Place<'_>, step: impl FnOnce() -> T) -> Option<T> {
        let ((result, held), sample) =
            measure(|| held_by(|| catch_unwind(AssertUnwindSafe(step)).ok()));
        let said = || SAID.with(|last| last.borrow().clone());
        self.check(
            Check::NoPanic,
            place,
            result.as_ref().map(|_| ()).ok_or_else(said),
        );
        self.time(place, sample.cpu_ms);
        let most = peak().max(held);
        let is_within = most <= STEP_BYTES;
        self.check(
            Check::Memory,
            place,
            is_within
                .then_some(())
                .ok_or_else(|| format!("{most} bytes at once")),
        );
        if most > self.most.0 {
            self.most = (most, place.shown());
        }
        result
    }

    fn time(&mut self, place: Place<'_>, cpu_ms: f64) {
        let (times, sum) = self.steps.entry(place.step).or_default();
        (*times, *sum) = (*times + 1, *sum + cpu_ms);
        let Some(took) = &mut self.now else {
            return;
        };
        took.cpu_ms += cpu_ms;
        if cpu_ms > took.slowest.1 {
            took.slowest = (place.step, cpu_ms);
        }
        let is_within = cpu_ms <= STEP_MS;
        self.check(
            Check::Time,
            place,
            is_within
                .then_some(())
                .ok_or_else(|| format!("{cpu_ms:.0} ms of CPU time")),
        );
    }

    /// Starts adding up a skill's cost.
    pub(super) fn begin(&mut self, root: usize, skill: &str) {
        self.now = Some(Took {
            root,
            skill: skill.to_owned(),
            cpu_ms: 0.0,
            slowest: ("", 0.0),
        });
    }

    /// Stops counting.
    pub(super) fn end(&mut self) {
        self.slowest.extend(self.now.take());
        self.slowest
            .sort_by(|one, other| other.cpu_ms.total_cmp(&one.cpu_ms));
        self.slowest.truncate(SLOWEST);
    }

    /// Returns the first faults, one per line.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.found.iter().flat_map(|(check, found)| {
            let more = found.len().saturating_sub(SHOWN);
            let shown = found.iter().take(SHOWN);
            let shown = shown.map(|fault| format!("{}: {fault}", check.as_str()));
            let more = (more > 0).then(|| format!("{}: {more} more", check.as_str()));
            shown.chain(more)
        });
        lines.collect()
    }

    /// Returns the number of faults.
    pub(super) fn count(&self) -> usize {
        self.found.values().map(Vec::len).sum()
    }

    pub(super) fn summary(&self) -> Value {
        let counts = Check::ALL.map(|check| {
            let found = self.found.get(&check).map_or(0, Vec::len);
            let checked = self.checked.get(&check).copied().unwrap_or_default();
            (
                check.as_str().to_owned(),
                json!({ "made": checked, "faults": found }),
            )
        });
        let steps = self.steps.iter().map(|(step, (times, cpu_ms))| {
            let row = json!({ "times": times, "cpu_ms": rounded(*cpu_ms) });
            ((*step).to_owned(), row)
        });
        let slowest = self.slowest.iter().map(|took| {
            json!({
                "skill": took.skill,
                "root": took.root,
                "cpu_ms": rounded(took.cpu_ms),
                "slowest_step": took.slowest.0,
                "slowest_step_ms": rounded(took.slowest.1),
            })
        });
        json!({
            "checks": Value::Object(counts.into_iter().collect()),
            "steps": Value::Object(steps.collect()),
            "slowest": slowest.collect::<Vec<_>>(),
            "most_bytes": { "bytes": self.most.0, "where": self.most.1 },
        })
    }
}
