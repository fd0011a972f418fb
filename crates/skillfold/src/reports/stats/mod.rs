//! Statistics from logs: how well skills are chosen over time, according to the feedback of hosts.

mod hook;

mod line;
mod tally;

mod period;

mod prompts;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, BufRead};

use skillfold_core::disclose::Feedback;

use hook::HookBuilder;
use line::{LogEntry, LogEvent, LogLines};
use period::Periods;
#[cfg(any(test, feature = "schema"))]
use tally::TallyCounts;

pub use hook::{HookClientStats, HookCounts, HookStats};
pub use line::LogCounts;
pub use period::{PeriodLength, StatsPeriod};
pub use prompts::{HookPrompt, HookPromptSkill};
pub use tally::Tally;

/// Maximum skills to count separately.
const MAX_SKILLS: usize = 10_000;
/// Maximum signals to count separately.
const MAX_SIGNALS: usize = 32;

/// Statistics of requests and skills from a log.
///
/// ```
/// use skillfold::{reports::{PeriodLength, Stats}};
///
/// let log = r#"
/// {"time_ms":1764000000000,"event":"skills for a request","decisions":1}
/// {"time_ms":1764000060000,"event":"feedback on a skill","skill":"mail","feedback":"used","chosen":{"by":"trigger"}}
/// {"time_ms":1764000090000,"event":"feedback on a skill","skill":"pdf","feedback":"missed"}
/// cut sho"#;
/// let stats = Stats::read(log.as_bytes(), PeriodLength::Day)?;
/// assert_eq!((stats.all.turns, stats.all.used, stats.all.missed), (1, 1, 1));
/// assert_eq!((stats.all.precision(), stats.all.recall()), (Some(1.0), Some(0.5)));
/// assert_eq!((stats.lines.read, stats.lines.broken), (4, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stats {
    /// The periods in order; a period without entries is left out.
    pub periods: Vec<StatsPeriod>,
    /// The outcomes per skill, those with the most wrong outcomes (unused or missed) first.
    pub skills: Vec<SkillStats>,
    /// The outcomes per signal by which skills were chosen, most frequent first.
    #[serde(rename = "ways")]
    pub signals: Vec<SignalStats>,
    /// What the hook did with each skill, the most frequent first.
    pub hook: Vec<HookStats>,
    /// What the hook of each client did, the most frequent first.
    pub clients: Vec<HookClientStats>,
    /// The totals.
    pub all: Tally,
    /// How many lines were read and skipped.
    pub lines: LogCounts,
}

/// The outcomes of one skill.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "SkillTally")]
#[non_exhaustive]
pub struct SkillStats {
    /// The skill's id.
    pub id: Box<str>,
    /// The counts.
    #[serde(flatten, serialize_with = "tally::without_turns")]
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "TallyCounts"))]
    pub tally: Tally,
}

/// The outcomes of the skills that one signal chose.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "SignalTally")]
#[non_exhaustive]
pub struct SignalStats {
    /// The signal: `mention`, `phrase`, `trigger`, `search`, `model` (it asked for the skill), `agent` (in its prompt),
    /// `listing`, `unknown`, or a word from a newer version.
    #[serde(rename = "by")]
    pub signal: Box<str>,
    /// The counts.
    #[serde(flatten, serialize_with = "tally::without_turns")]
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "TallyCounts"))]
    pub tally: Tally,
}

impl Stats {
    /// Reads a log of [JSON lines](https://jsonlines.org) as written by `TraceLines`.
    ///
    /// The content of a log never causes an error: broken lines are counted and skipped. Memory is bounded: one line,
    /// plus the counts of skills, signals and periods.
    pub fn read(log: impl BufRead, length: PeriodLength) -> io::Result<Self> {
        let mut builder = StatsBuilder {
            periods: Periods::new(length),
            ..StatsBuilder::default()
        };
        let mut reader = LogLines::new(log);
        while let Some(entry) = reader.next_entry()? {
            builder.add(entry);
        }
        Ok(builder.build(reader.finish()))
    }
}

/// Accumulates the statistics while a log is read.
#[derive(Default)]
struct StatsBuilder {
    all: Tally,
    periods: Periods,
    skills: BTreeMap<Box<str>, Tally>,
    signals: BTreeMap<Box<str>, Tally>,
    hook: HookBuilder,
    of_more_skills: u64,
}

impl StatsBuilder {
    fn add(&mut self, entry: LogEntry) {
        let mut both = |count: &dyn Fn(&mut Tally)| {
            count(&mut self.all);
            self.periods.add(entry.time_ms, count);
        };
        match entry.event {
            LogEvent::Hook {
                skill,
                client,
                outcome,
            } => {
                if !self.hook.add(skill, client, outcome, MAX_SKILLS) {
                    self.of_more_skills += 1;
                }
            }
            LogEvent::Turn { is_matched } => both(&|tally| tally.count_turn(is_matched)),
            LogEvent::Outcome {
                skill,
                signal,
                feedback,
            } => {
                both(&|tally| tally.count_feedback(feedback));
                if !count_named(&mut self.skills, skill, feedback, MAX_SKILLS) {
                    self.of_more_skills += 1;
                }
                if !count_named(&mut self.signals, signal, feedback, MAX_SIGNALS) {
                    let unknown = self.signals.entry(hook::UNKNOWN.into()).or_default();
                    unknown.count_feedback(feedback);
                }
            }
        }
    }

    fn build(self, lines: LogCounts) -> Stats {
        let (periods, of_more_periods) = self.periods.finish();
        let skills = self.skills.into_iter();
        let mut skills: Vec<_> = skills.map(|(id, tally)| SkillStats { id, tally }).collect();
        skills.sort_by_key(|skill| (Reverse(skill.tally.wrong()), skill.tally.used));
        let signals = self.signals.into_iter();
        let mut signals: Vec<_> = signals
            .map(|(by, tally)| SignalStats { signal: by, tally })
            .collect();
        signals.sort_by_key(|signal| Reverse(signal.tally.outcomes()));
        let (hook, clients) = self.hook.build();
        Stats {
            periods,
            hook,
            clients,
            skills,
            signals,
            all: self.all,
            lines: LogCounts {
                uncounted_skills: self.of_more_skills,
                uncounted_periods: of_more_periods,
                ..lines
            },
        }
    }
}

/// Counts feedback under a name. Returns false if the name is new and `limit` is reached.
fn count_named(
    tallies: &mut BTreeMap<Box<str>, Tally>,
    name: Box<str>,
    feedback: Feedback,
    limit: usize,
) -> bool {
    if tallies.len() >= limit && !tallies.contains_key(&name) {
        return false;
    }
    tallies.entry(name).or_default().count_feedback(feedback);
    true
}
