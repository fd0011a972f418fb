//! The JSON view of the statistics.

use crate::stats;
use crate::stats::PeriodLength;

/// How well skills are chosen over time, by a log.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsView {
    /// What a period is: `day` or `outcomes`.
    pub every: String,
    /// How many outcomes, where a period is so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_outcomes: Option<u64>,
    /// The log, period by period.
    pub periods: Vec<StatsPeriodView>,
    /// The skills, those that came out wrong most often first.
    pub skills: Vec<SkillTally>,
    /// The ways in which skills were chosen, the most frequent first.
    pub ways: Vec<SignalTally>,
    /// All of it.
    pub all: TallyView,
    /// What was read.
    pub lines: LogCountsView,
}

/// One part of a log.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsPeriodView {
    /// When the first line of it was written, in UTC as RFC 3339 has it.
    pub from: String,
    /// When the last line of it was written.
    pub to: String,
    /// What it says.
    #[serde(flatten)]
    pub tally: TallyView,
}

/// A skill, and what became of it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillTally {
    /// Its id.
    pub id: String,
    /// What became of it.
    #[serde(flatten)]
    pub tally: TallyView,
}

/// A way in which skills were chosen, and what became of them.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SignalTally {
    /// The word for it: `mention`, `phrase`, `trigger`, `model`, `agent`, `listing` or `unknown`, or another of a newer log.
    pub by: String,
    /// What became of the skills.
    #[serde(flatten)]
    pub tally: TallyView,
}

/// Numbers of requests and of skills.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TallyView {
    /// Requests; absent where skills alone are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Requests that at least one skill matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_turns: Option<u64>,
    /// Skills that something was said of.
    pub outcomes: u64,
    /// Skills that were used.
    pub used: u64,
    /// Skills that were given for nothing.
    pub unused: u64,
    /// Skills that were missed.
    pub missed: u64,
    /// The share of the skills that a model was told of and used, from 0 to 1; absent where it was told of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// The share of the skills that were right and that a model was told of, from 0 to 1; absent where none was right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
}

/// What was read of a log. Everything that was passed over is in one of the numbers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogCountsView {
    /// Lines that are not blank.
    pub read: u64,
    /// Lines of other events, or of others' logs.
    pub other: u64,
    /// Lines that are no JSON object, or an event without what it should have.
    pub broken: u64,
    /// The number of the first of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_broken: Option<u64>,
    /// Lines above 1 MiB, which are passed over.
    pub too_long: u64,
    /// Outcomes that are in no skill of their own, as there are too many skills.
    pub of_more_skills: u64,
    /// Requests and outcomes that are in no period, as there are too many periods.
    pub of_more_periods: u64,
    /// Whether the log goes on after what was read, which is 4 GiB.
    pub is_cut: bool,
}

impl StatsView {
    /// Creates the view of the statistics.
    pub fn new(stats: &stats::Stats, every: PeriodLength) -> Self {
        let periods = stats.periods.iter().map(|period| StatsPeriodView {
            from: period.from(),
            to: period.to(),
            tally: TallyView::new(&period.tally),
        });
        let skills = stats.skills.iter().map(|skill| SkillTally {
            id: skill.id.to_string(),
            tally: TallyView::without_turns(&skill.tally),
        });
        let ways = stats.signals.iter().map(|way| SignalTally {
            by: way.signal.to_string(),
            tally: TallyView::without_turns(&way.tally),
        });
        let (every, every_outcomes) = match every {
            PeriodLength::Day => ("day", None),
            PeriodLength::Outcomes(number) => ("outcomes", Some(number.get())),
        };
        Self {
            every: every.to_owned(),
            every_outcomes,
            periods: periods.collect(),
            skills: skills.collect(),
            ways: ways.collect(),
            all: TallyView::new(&stats.all),
            lines: LogCountsView::new(&stats.lines),
        }
    }
}

impl TallyView {
    fn new(tally: &stats::Tally) -> Self {
        Self {
            turns: Some(tally.turns),
            matched_turns: Some(tally.matched_turns),
            ..Self::without_turns(tally)
        }
    }

    fn without_turns(tally: &stats::Tally) -> Self {
        Self {
            turns: None,
            matched_turns: None,
            outcomes: tally.outcomes(),
            used: tally.used,
            unused: tally.unused,
            missed: tally.missed,
            precision: tally.precision(),
            recall: tally.recall(),
        }
    }
}

impl LogCountsView {
    fn new(lines: &stats::LogCounts) -> Self {
        Self {
            read: lines.read,
            other: lines.other,
            broken: lines.broken,
            first_broken: lines.first_broken,
            too_long: lines.too_long,
            of_more_skills: lines.uncounted_skills,
            of_more_periods: lines.uncounted_periods,
            is_cut: lines.is_cut,
        }
    }
}
