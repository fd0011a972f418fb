//! What came of trigger queries, and what follows from it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use skillfold_core::{Decision, Diagnostic, Entry, Mode, Severity, Signal, Status};

/// What came of the trigger queries that skills ship.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// What decided what a model is told.
    pub mode: Mode,
    /// The mode of the policy, where another was taken because it gives nothing by request.
    pub instead_of: Option<Mode>,
    /// The skills that were named, or all that have evaluations, ordered by id.
    pub skills: Vec<EvaluatedSkill>,
    /// Active skills without evaluations, where none was named.
    pub without: usize,
    /// Skills that are not trusted, of which nothing was read.
    pub withheld: usize,
}

/// A skill, and what came of its queries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluatedSkill {
    /// The skill's id.
    pub id: Box<str>,
    /// What can start it at all.
    pub starts_by: StartsBy,
    /// The paths of its files of evaluations, inside the skill.
    pub files: Vec<Box<str>>,
    /// Its queries, in the order of their files.
    pub queries: Vec<EvaluatedQuery>,
    /// What could not be used.
    pub findings: Vec<EvaluationFinding>,
}

/// What can start a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StartsBy {
    /// Its triggers and its name.
    Triggers,
    /// Its name: it has no triggers.
    Name,
    /// A person: its author keeps it from models.
    Person,
    /// Nothing but its qualified id: another skill has its name.
    Id,
}

impl StartsBy {
    pub(super) fn of(entry: &Entry<'_>) -> Self {
        if entry.manifest().disable_model_invocation() {
            Self::Person
        } else if entry.status() == Status::Shadowed {
            Self::Id
        } else if entry.manifest().triggers().is_none() {
            Self::Name
        } else {
            Self::Triggers
        }
    }

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Triggers => "triggers",
            Self::Name => "name",
            Self::Person => "person",
            Self::Id => "id",
        }
    }
}

/// A query, and what came of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluatedQuery {
    /// The path of its file, inside the skill.
    pub file: Box<str>,
    /// The query.
    pub query: Box<str>,
    /// Whether it should start the skill.
    pub should_trigger: bool,
    /// How the skill matched, if it did.
    pub matched: Option<QueryMatch>,
    /// The ids of the other skills that were given, in the order of their ranks.
    pub others: Vec<Box<str>>,
}

/// How a skill matched a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryMatch {
    /// How it was asked for.
    pub signal: Signal,
    /// What of the skill matched.
    pub evidence: Box<str>,
    /// What was done: the word of [`Outcome`](skillfold_core::Outcome).
    pub outcome: &'static str,
}

impl EvaluatedQuery {
    /// Returns whether the skill's instructions were given.
    pub fn is_given(&self) -> bool {
        let matched = self.matched.as_ref();
        matched.is_some_and(|fired| fired.outcome == GIVEN)
    }

    /// Returns whether it came out as it should.
    pub fn is_right(&self) -> bool {
        self.is_given() == self.should_trigger
    }
}

/// Something that was found about a file of evaluations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluationFinding {
    /// The path inside the skill; empty for the skill's folder.
    pub file: Box<str>,
    /// What was found.
    pub diagnostic: Diagnostic,
}

impl EvaluatedSkill {
    /// Counts the queries by what should have come of them, and what came.
    pub fn counts(&self) -> QueryCounts {
        let mut counts = QueryCounts::default();
        for query in &self.queries {
            let count = match (query.should_trigger, query.is_given()) {
                (true, true) => &mut counts.true_positives,
                (true, false) => &mut counts.false_negatives,
                (false, true) => &mut counts.false_positives,
                (false, false) => &mut counts.true_negatives,
            };
            *count += 1;
        }
        counts
    }

    /// Returns how many queries came out as they should.
    pub fn right(&self) -> usize {
        let counts = self.counts();
        counts.true_positives + counts.true_negatives
    }

    /// Returns which share of the queries that should start the skill did, from 0 to 1; nothing where none should.
    pub fn recall(&self) -> Option<f64> {
        let counts = self.counts();
        let should = counts.true_positives + counts.false_negatives;
        share(counts.true_positives, should)
    }

    /// Returns which share of the queries that started the skill should have, from 0 to 1; nothing where none did.
    pub fn precision(&self) -> Option<f64> {
        let counts = self.counts();
        let given = counts.true_positives + counts.false_positives;
        share(counts.true_positives, given)
    }

    /// Returns whether this share of the queries, in percent, came out as it should, and all of what the skill ships
    /// could be used.
    pub fn reaches(&self, percent: u8) -> bool {
        let is_error = |one: &EvaluationFinding| one.diagnostic.severity == Severity::Error;
        self.right() * 100 >= self.queries.len() * usize::from(percent)
            && !self.findings.iter().any(is_error)
    }
}

/// Queries, by what should have come of them, and what came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryCounts {
    /// Those that should start the skill and did.
    pub true_positives: usize,
    /// Those that should start it and did not.
    pub false_negatives: usize,
    /// Those that should not start it and did.
    pub false_positives: usize,
    /// Those that should not start it and did not.
    pub true_negatives: usize,
}

/// Two skills of which the one was given where the other was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confusion {
    /// The id of the skill that was meant, and not given.
    pub meant: Box<str>,
    /// The id of the one that was given.
    pub given: Box<str>,
    /// How many queries.
    pub queries: usize,
    /// The first of them.
    pub example: Box<str>,
}

impl Evaluation {
    /// Returns the pairs of skills of which the one was given where the other was meant and was not, the most often
    /// confused first.
    pub fn confused(&self) -> Vec<Confusion> {
        let mut pairs: BTreeMap<(&str, &str), (usize, &str)> = BTreeMap::new();
        for skill in &self.skills {
            let missed = skill.queries.iter();
            let missed = missed.filter(|query| query.should_trigger && !query.is_given());
            for query in missed {
                for given in &query.others {
                    let pair = pairs.entry((&skill.id, given));
                    pair.or_insert((0, &query.query)).0 += 1;
                }
            }
        }
        let pairs = pairs.into_iter();
        let confused = pairs.map(|((meant, given), (queries, example))| Confusion {
            meant: meant.into(),
            given: given.into(),
            queries,
            example: example.into(),
        });
        let mut confused: Vec<Confusion> = confused.collect();
        confused.sort_by_key(|pair| Reverse(pair.queries));
        confused
    }

    /// Returns how many queries were run.
    pub fn queries(&self) -> usize {
        self.skills.iter().map(|skill| skill.queries.len()).sum()
    }
}

/// The word for what is given.
const GIVEN: &str = "given";

impl QueryMatch {
    pub(super) fn of(decision: Decision) -> Self {
        Self {
            signal: decision.signal,
            evidence: decision.evidence,
            outcome: decision.outcome.as_str(),
        }
    }
}

/// Returns a share, with three digits after the point.
fn share(part: usize, whole: usize) -> Option<f64> {
    let thousandths = (part * 1_000 + whole / 2).checked_div(whole)?;
    let thousandths = u16::try_from(thousandths).ok()?;
    Some(f64::from(thousandths) / 1_000.0)
}
