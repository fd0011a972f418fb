//! The JSON view of the statistics.

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
    /// The periods in order; a period without entries is left out.
    pub periods: Vec<StatsPeriodView>,
    /// The outcomes per skill, those with the most wrong outcomes (unused or missed) first.
    pub skills: Vec<SkillTally>,
    /// The outcomes per signal by which skills were chosen, most frequent first.
    pub ways: Vec<SignalTally>,
    /// What the hook did with each skill, the most frequent first.
    pub hook: Vec<HookTally>,
    /// The totals.
    pub all: TallyView,
    /// How many lines were read and skipped.
    pub lines: LogCountsView,
}

/// The statistics of one period.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsPeriodView {
    /// The time of its earliest line, in UTC as RFC 3339.
    pub from: String,
    /// The time of its latest line, in UTC as RFC 3339.
    pub to: String,
    /// The counts.
    #[serde(flatten)]
    pub tally: TallyView,
}

/// The outcomes of one skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillTally {
    /// The skill's id.
    pub id: String,
    /// The counts.
    #[serde(flatten)]
    pub tally: TallyView,
}

/// What the hook did with one skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookTally {
    /// The skill's id.
    pub id: String,
    /// How often its instructions were given.
    pub given: u64,
    /// How often a line suggested it.
    pub suggested: u64,
    /// How often a line named it, for a client that loads it itself.
    pub named: u64,
    /// How often the model loaded it after a line suggested it.
    pub loaded: u64,
    /// How often the model did not load it although a line suggested it.
    pub ignored: u64,
}

/// The outcomes of the skills that one signal chose.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SignalTally {
    /// The signal: `mention`, `phrase`, `trigger`, `search`, `model` (it asked for the skill), `agent` (in its prompt),
    /// `listing`, `unknown`, or a word from a newer version.
    pub by: String,
    /// The counts.
    #[serde(flatten)]
    pub tally: TallyView,
}

/// Counts of requests, and of outcomes that hosts reported for skills.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TallyView {
    /// Requests; absent in the counts of one skill or signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Requests that matched at least one skill; absent in the counts of one skill or signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_turns: Option<u64>,
    /// Outcomes: used, unused and missed together.
    pub outcomes: u64,
    /// Skills that the model was told about and used.
    pub used: u64,
    /// Skills that the model was told about and did not use.
    pub unused: u64,
    /// Skills that were needed but not given.
    pub missed: u64,
    /// Precision: `used` divided by `used` plus `unused`, from 0 to 1; absent if both are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Recall: `used` divided by `used` plus `missed`, from 0 to 1; absent if both are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
}

/// Counts of the lines of a log. Everything that was skipped is in one of them.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogCountsView {
    /// Lines that are not blank.
    pub read: u64,
    /// Lines of other events, or of other programs.
    pub other: u64,
    /// Lines that are not a JSON object, or events with missing or invalid fields.
    pub broken: u64,
    /// The line number of the first broken line, starting at 1; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_broken: Option<u64>,
    /// Lines above 1 MiB, which are skipped.
    pub too_long: u64,
    /// Outcomes not counted per skill, because there are more than 10,000 skills.
    pub of_more_skills: u64,
    /// Requests and outcomes not counted per period, because there are more than 10,000 periods.
    pub of_more_periods: u64,
    /// Whether reading stopped at the limit of 4 GiB.
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
        let hook = stats.hook.iter().map(|skill| HookTally {
            id: skill.id.to_string(),
            given: skill.given,
            suggested: skill.suggested,
            named: skill.named,
            loaded: skill.loaded,
            ignored: skill.ignored(),
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
            hook: hook.collect(),
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
