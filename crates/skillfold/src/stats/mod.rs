//! How well skills are chosen over time, by what hosts said became of them.

mod line;

mod period;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, BufRead};

use line::{LogEntry, LogEvent, LogReader};
use period::Periods;
pub use period::{PeriodLength, StatsPeriod};
use skillfold_core::Feedback;

/// Skills that are counted one by one.
const SKILLS: usize = 10_000;
/// Ways in which skills were chosen that are counted one by one.
const WAYS: usize = 32;

/// What a log says of requests and skills.
///
/// ```
/// use skillfold::{PeriodLength, Stats};
///
/// let log = r#"
/// {"time_ms":1764000000000,"event":"skills for a request","decisions":1}
/// {"time_ms":1764000060000,"event":"outcome of a skill","skill":"mail","verdict":"used","chosen":{"by":"trigger"}}
/// {"time_ms":1764000090000,"event":"outcome of a skill","skill":"pdf","verdict":"missed"}
/// cut sho"#;
/// let stats = Stats::read(log.as_bytes(), PeriodLength::Day)?;
/// assert_eq!((stats.all.turns, stats.all.used, stats.all.missed), (1, 1, 1));
/// assert_eq!((stats.all.precision(), stats.all.matches_cached()), (Some(1.0), Some(0.5)));
/// assert_eq!((stats.lines.read, stats.lines.broken), (4, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The log, part by part.
    pub periods: Vec<StatsPeriod>,
    /// The skills, those that came out wrong most often first.
    pub skills: Vec<SkillStats>,
    /// The ways in which skills were chosen, by their words: `trigger`, `mention`, `model` and so on. What is not known, or
    /// no such word, is `unknown`.
    pub ways: Vec<SignalStats>,
    /// All of it.
    pub all: Tally,
    /// What was read.
    pub lines: LogCounts,
}

/// Numbers of requests and of skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Requests.
    pub turns: u64,
    /// Requests that at least one skill matched.
    pub matched_turns: u64,
    /// Skills that were used.
    pub used: u64,
    /// Skills that were given for nothing.
    pub unused: u64,
    /// Skills that were missed.
    pub missed: u64,
}

/// A skill, and what became of it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SkillStats {
    /// Its id.
    pub id: Box<str>,
    /// What became of it; requests are not counted here.
    pub tally: Tally,
}

/// A way in which skills were chosen, and what became of them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SignalStats {
    /// The word for it.
    pub by: Box<str>,
    /// What became of the skills; requests are not counted here.
    pub tally: Tally,
}

/// What was read of a log. Everything that was passed over is in one of the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogCounts {
    /// Lines that are not blank.
    pub read: u64,
    /// Lines of other events, or of others' logs.
    pub other: u64,
    /// Lines that are no JSON object, or an event without what it should have.
    pub broken: u64,
    /// The number of the first of these.
    pub first_broken: Option<u64>,
    /// Lines above 1 MiB, which are passed over.
    pub too_long: u64,
    /// Outcomes that are counted in the whole and in no skill of their own: there are more than 10,000 skills.
    pub of_more_skills: u64,
    /// Requests and outcomes that are counted in the whole and in no part: there are more than 10,000 parts.
    pub of_more_periods: u64,
    /// Whether the log goes on after the first 4 GiB, which are what is read.
    pub is_cut: bool,
}

impl Stats {
    /// Reads a log of [lines of JSON](https://jsonlines.org) as `TraceLines` writes them.
    ///
    /// Nothing in a log is an error: what is no line of it is counted and passed over. It takes memory for one line and for
    /// the skills and periods, which are bounded.
    pub fn read(log: impl BufRead, every: PeriodLength) -> io::Result<Self> {
        let mut counting = StatsBuilder {
            periods: Periods::new(every),
            ..StatsBuilder::default()
        };
        let mut lines = LogReader::new(log);
        while let Some(noted) = lines.next_noted()? {
            counting.add(noted);
        }
        Ok(counting.stats(lines.finish()))
    }
}

impl Tally {
    /// Returns how many skills something was said of.
    pub const fn outcomes(&self) -> u64 {
        self.used
            .saturating_add(self.unused)
            .saturating_add(self.missed)
    }

    /// Returns how many of these came out wrong: given for nothing, or missed.
    pub const fn wrong(&self) -> u64 {
        self.unused.saturating_add(self.missed)
    }

    /// Returns the share of the skills that a model was told of and used, from 0 to 1; none before the first.
    pub fn precision(&self) -> Option<f64> {
        share(self.used, self.unused)
    }

    /// Returns the share of the skills that were right and that a model was told of, from 0 to 1; none before the first.
    pub fn recall(&self) -> Option<f64> {
        share(self.used, self.missed)
    }

    fn turn(&mut self, is_matched: bool) {
        self.turns += 1;
        self.matched_turns += u64::from(is_matched);
    }

    fn verdict(&mut self, verdict: Feedback) {
        match verdict {
            Feedback::Used => self.used += 1,
            Feedback::Unused => self.unused += 1,
            Feedback::Missed => self.missed += 1,
            _ => {}
        }
    }
}

fn share(part: u64, rest: u64) -> Option<f64> {
    let all = part.saturating_add(rest);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a share of more than that is as good rounded"
    )]
    let share = part as f64 / all as f64;
    (all > 0).then_some(share)
}

/// A log, while it is read.
#[derive(Default)]
struct StatsBuilder {
    all: Tally,
    periods: Periods,
    skills: BTreeMap<Box<str>, Tally>,
    ways: BTreeMap<Box<str>, Tally>,
    of_more_skills: u64,
}

impl StatsBuilder {
    fn add(&mut self, noted: LogEntry) {
        let mut both = |count: &dyn Fn(&mut Tally)| {
            count(&mut self.all);
            self.periods.add(noted.time_ms, count);
        };
        match noted.said {
            LogEvent::Turn { is_matched } => both(&|tally| tally.turn(is_matched)),
            LogEvent::Outcome { skill, by, verdict } => {
                both(&|tally| tally.verdict(verdict));
                if !put(&mut self.skills, skill, verdict, SKILLS) {
                    self.of_more_skills += 1;
                }
                if !put(&mut self.ways, by, verdict, WAYS) {
                    let unknown = self.ways.entry(line::UNKNOWN.into()).or_default();
                    unknown.verdict(verdict);
                }
            }
        }
    }

    fn stats(self, lines: LogCounts) -> Stats {
        let (periods, of_more_periods) = self.periods.finish();
        let skills = self.skills.into_iter();
        let mut skills: Vec<_> = skills.map(|(id, tally)| SkillStats { id, tally }).collect();
        skills.sort_by_key(|skill| (Reverse(skill.tally.wrong()), skill.tally.used));
        let ways = self.ways.into_iter();
        let mut ways: Vec<_> = ways.map(|(by, tally)| SignalStats { by, tally }).collect();
        ways.sort_by_key(|way| Reverse(way.tally.outcomes()));
        Stats {
            periods,
            skills,
            ways,
            all: self.all,
            lines: LogCounts {
                of_more_skills: self.of_more_skills,
                of_more_periods,
                ..lines
            },
        }
    }
}

/// Counts under a name, and returns whether there was room for it.
fn put(
    tallies: &mut BTreeMap<Box<str>, Tally>,
    name: Box<str>,
    verdict: Feedback,
    limit: usize,
) -> bool {
    if tallies.len() >= limit && !tallies.contains_key(&name) {
        return false;
    }
    tallies.entry(name).or_default().verdict(verdict);
    true
}
