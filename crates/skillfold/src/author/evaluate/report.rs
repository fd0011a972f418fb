//! Results of trigger queries, and metrics derived from them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use skillfold_core::catalog::Status;
use skillfold_core::choose::Signal;
use skillfold_core::diagnostic::Severity;
use skillfold_core::disclose::{Decision, Mode};
use skillfold_core::{Diagnostic, Entry};

/// The results of the trigger queries that skills ship.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The disclosure mode that was used.
    pub mode: Mode,
    /// The mode of the policy, if it was replaced because it gives nothing by request.
    pub replaced_mode: Option<Mode>,
    /// The requested skills, or all that have queries, ordered by id.
    pub skills: Vec<EvaluatedSkill>,
    /// Active skills without queries, if no skill was requested.
    pub without_queries: usize,
    /// Untrusted and held skills, whose files were not read.
    pub withheld: usize,
}

/// A skill with the results of its queries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluatedSkill {
    /// The skill's id.
    pub id: Box<str>,
    /// What can trigger it at all.
    pub triggered_by: TriggeredBy,
    /// The paths of its query files, inside the skill.
    pub files: Vec<Box<str>>,
    /// Its queries, in file order.
    pub queries: Vec<EvaluatedQuery>,
    /// Files and entries that could not be used.
    pub findings: Vec<EvaluationFinding>,
}

/// What can trigger a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriggeredBy {
    /// Its triggers and its name.
    Triggers,
    /// Its name alone, because it has no triggers.
    Name,
    /// Only the user, because its author disabled it for models.
    User,
    /// Only its qualified id, because another skill has its name.
    Id,
}

impl TriggeredBy {
    pub(super) fn from_entry(entry: &Entry<'_>) -> Self {
        if entry.manifest().disable_model_invocation() {
            Self::User
        } else if entry.status() == Status::Shadowed {
            Self::Id
        } else if entry.manifest().triggers().is_none() {
            Self::Name
        } else {
            Self::Triggers
        }
    }

    /// Returns the name used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Triggers => "triggers",
            Self::Name => "name",
            Self::User => "person",
            Self::Id => "id",
        }
    }
}

/// A query with its result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluatedQuery {
    /// The path of its file, inside the skill.
    pub file: Box<str>,
    /// The query.
    pub query: Box<str>,
    /// Whether it should trigger the skill.
    pub should_trigger: bool,
    /// How the skill matched, if it did.
    pub matched: Option<QueryMatch>,
    /// The ids of the other skills that were given, by rank.
    pub others: Vec<Box<str>>,
}

/// How a skill matched a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryMatch {
    /// The signal by which it was selected.
    pub signal: Signal,
    /// The part of the skill that matched.
    pub evidence: Box<str>,
    /// The name of the [`SkillOutcome`](skillfold_core::disclose::SkillOutcome).
    pub outcome: &'static str,
}

impl EvaluatedQuery {
    /// Returns whether the skill's instructions were given.
    pub fn is_given(&self) -> bool {
        let matched = self.matched.as_ref();
        matched.is_some_and(|matched| matched.outcome == GIVEN)
    }

    /// Returns whether the result is as expected.
    pub fn is_expected(&self) -> bool {
        self.is_given() == self.should_trigger
    }
}

/// A problem with a query file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluationFinding {
    /// The path inside the skill; empty for the skill's folder.
    pub file: Box<str>,
    /// The problem.
    pub diagnostic: Diagnostic,
}

impl EvaluatedSkill {
    /// Returns the confusion matrix of the queries.
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

    /// Returns how many queries have the expected result.
    pub fn expected_count(&self) -> usize {
        let counts = self.counts();
        counts.true_positives + counts.true_negatives
    }

    /// Returns the recall: the share of the queries that should trigger the skill and did, from 0 to 1. `None` if none
    /// should.
    pub fn recall(&self) -> Option<f64> {
        let counts = self.counts();
        let expected = counts.true_positives + counts.false_negatives;
        ratio(counts.true_positives, expected)
    }

    /// Returns the precision: the share of the queries that triggered the skill and should have, from 0 to 1. `None` if
    /// none did.
    pub fn precision(&self) -> Option<f64> {
        let counts = self.counts();
        let given = counts.true_positives + counts.false_positives;
        ratio(counts.true_positives, given)
    }

    /// Returns whether at least `percent` percent of the queries have the expected result, and no query file has an
    /// error.
    pub fn meets_threshold(&self, percent: u8) -> bool {
        let is_error = |finding: &EvaluationFinding| finding.diagnostic.severity == Severity::Error;
        self.expected_count() * 100 >= self.queries.len() * usize::from(percent)
            && !self.findings.iter().any(is_error)
    }
}

/// The confusion matrix of a skill's queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QueryCounts {
    /// Queries that should start the skill and did.
    pub true_positives: usize,
    /// Queries that should start the skill and did not.
    pub false_negatives: usize,
    /// Queries that should not start the skill and did.
    pub false_positives: usize,
    /// Queries that should not start the skill and did not.
    pub true_negatives: usize,
}

/// Two skills of which one was given instead of the other.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "ConfusedPair")]
#[non_exhaustive]
pub struct Confusion {
    /// The id of the skill that was expected and not given.
    #[serde(rename = "meant")]
    pub expected: Box<str>,
    /// The id of the skill that was given.
    pub given: Box<str>,
    /// The number of queries that confused them.
    pub queries: usize,
    /// The first of those queries.
    pub example: Box<str>,
}

impl Evaluation {
    /// Returns the pairs of skills of which one was given although the other was expected and not given, the most
    /// frequent first.
    pub fn confusions(&self) -> Vec<Confusion> {
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
            expected: meant.into(),
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

/// The name of `SkillOutcome::Given`.
const GIVEN: &str = "given";

impl QueryMatch {
    pub(super) fn from_decision(decision: Decision) -> Self {
        Self {
            signal: decision.signal,
            evidence: decision.evidence,
            outcome: decision.outcome.as_str(),
        }
    }
}

/// Returns a ratio rounded to three decimal places; `None` if `whole` is zero.
fn ratio(part: usize, whole: usize) -> Option<f64> {
    let thousandths = (part * 1_000 + whole / 2).checked_div(whole)?;
    let thousandths = u16::try_from(thousandths).ok()?;
    Some(f64::from(thousandths) / 1_000.0)
}
