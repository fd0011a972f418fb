//! A log in parts: days, or so many outcomes.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use crate::stats::Tally;

/// Parts of a log that are counted one by one.
const PERIODS: usize = 10_000;
const SECOND: u64 = 1_000;
const DAY: u64 = 24 * 60 * 60 * SECOND;

/// What one part of a log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeriodLength {
    /// A day, as UTC has it.
    #[default]
    Day,
    /// So many outcomes, in the order of the lines, with the requests before them.
    Outcomes(NonZeroU64),
}

/// One part of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatsPeriod {
    /// When the first line of it was written, in milliseconds since 1970.
    pub from_ms: u64,
    /// When the last line of it was written.
    pub to_ms: u64,
    /// What it says.
    pub tally: Tally,
}

impl StatsPeriod {
    /// Returns when the first line of it was written, as RFC 3339 has it.
    pub fn from(&self) -> String {
        written(self.from_ms)
    }

    /// Returns when the last line of it was written, as RFC 3339 has it.
    pub fn to(&self) -> String {
        written(self.to_ms)
    }
}

/// Parts of a log, while it is read.
#[derive(Default)]
pub(super) struct Periods {
    every: PeriodLength,
    /// The number is that of the day, or of the part.
    by_number: BTreeMap<u64, StatsPeriod>,
    /// The part that lines go to, where it is not for a day.
    open: u64,
    /// What there is no part for.
    left_out: u64,
}

impl Periods {
    pub(super) fn new(every: PeriodLength) -> Self {
        Self {
            every,
            ..Self::default()
        }
    }

    /// Counts a line in its part.
    pub(super) fn add(&mut self, time_ms: u64, count: &dyn Fn(&mut Tally)) {
        let number = match self.every {
            PeriodLength::Day => time_ms / DAY,
            PeriodLength::Outcomes(_) => self.open,
        };
        if self.by_number.len() >= PERIODS && !self.by_number.contains_key(&number) {
            self.left_out += 1;
            return;
        }
        let new = StatsPeriod {
            from_ms: time_ms,
            ..StatsPeriod::default()
        };
        let period = self.by_number.entry(number).or_insert(new);
        period.from_ms = period.from_ms.min(time_ms);
        period.to_ms = period.to_ms.max(time_ms);
        count(&mut period.tally);
        if let PeriodLength::Outcomes(most) = self.every
            && period.tally.outcomes() >= most.get()
        {
            self.open += 1;
        }
    }

    /// Returns the parts in their order, and how many lines are in none.
    pub(super) fn finish(self) -> (Vec<StatsPeriod>, u64) {
        (self.by_number.into_values().collect(), self.left_out)
    }
}

/// Returns a time as RFC 3339 has it, in UTC and to the second.
fn written(time_ms: u64) -> String {
    let (year, month, day) = date(time_ms / DAY);
    let second = time_ms % DAY / SECOND;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns the year, the month and the day of a number of days since 1970, by the calendar in which 400 years are 146,097
/// days. The year is taken to begin with March, so that the odd day is its last.
fn date(days: u64) -> (u64, u64, u64) {
    // From 0000-03-01 on.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    let month = if is_next { month - 9 } else { month + 3 };
    (era * 400 + year + u64::from(is_next), month, day)
}

#[cfg(test)]
mod tests {
    use super::{DAY, written};

    #[test]
    fn date_is_that_of_the_calendar() {
        let first = |day: u64| written(day * DAY)[..10].to_owned();
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(1_763_212_668_999), "2025-11-15T13:17:48Z");
        assert_eq!(first(11_016), "2000-02-29");
        assert_eq!(first(11_017), "2000-03-01");
        assert_eq!(first(47_540), "2100-02-28");
        assert_eq!(first(47_541), "2100-03-01");
        assert_eq!(written(253_402_300_799_999), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn days_follow_one_another() {
        let mut before = String::new();
        for day in 0..60_000 {
            let now = written(day * DAY);
            assert!(before < now, "{before} {now}");
            before = now;
        }
    }
}
