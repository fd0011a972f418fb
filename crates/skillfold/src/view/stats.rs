//! The JSON view of the statistics.

use std::collections::BTreeSet;

use crate::reports::stats;
use crate::reports::stats::PeriodLength;

/// The last prompts that the hook heard, and what it added, the oldest first.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookPrompts {
    /// The prompts.
    pub prompts: Vec<stats::HookPrompt>,
}

impl HookPrompts {
    /// Creates the view of some prompts.
    pub fn new(prompts: Vec<stats::HookPrompt>) -> Self {
        Self { prompts }
    }
}

/// The skills of which the hook forgot how they were used.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ForgottenSkills {
    /// Their ids.
    pub forgotten: BTreeSet<String>,
}

impl ForgottenSkills {
    /// Creates the view of some ids.
    pub fn new(forgotten: BTreeSet<String>) -> Self {
        Self { forgotten }
    }
}

/// How well skills are chosen over time, from a log.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsView {
    /// The length of a period: `day` (in UTC) or `outcomes`.
    pub every: String,
    /// The number of outcomes per period; absent unless `every` is `outcomes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_outcomes: Option<u64>,
    /// The statistics.
    #[serde(flatten)]
    pub stats: stats::Stats,
}

impl StatsView {
    /// Creates the view of the statistics.
    pub fn new(stats: stats::Stats, every: PeriodLength) -> Self {
        let (every, every_outcomes) = match every {
            PeriodLength::Day => ("day", None),
            PeriodLength::Outcomes(number) => ("outcomes", Some(number.get())),
        };
        Self {
            every: every.to_owned(),
            every_outcomes,
            stats,
        }
    }
}
