//! Divides a log into periods: days, or a fixed number of outcomes.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use crate::stats::tally::Tally;

/// Maximum periods to count separately.
const MAX_PERIODS: usize = 10_000;
const SECOND_MS: u64 = 1_000;
const DAY_MS: u64 = 24 * 60 * 60 * SECOND_MS;

/// The length of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeriodLength {
    /// A day in UTC.
    #[default]
    Day,
    /// A number of outcomes in line order, with the requests before them.
    Outcomes(NonZeroU64),
}

/// The statistics of one period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatsPeriod {
    /// The time of its earliest line, in milliseconds since 1970.
    pub from_ms: u64,
    /// The time of its latest line, in milliseconds since 1970.
    pub to_ms: u64,
    /// Its counts.
    pub tally: Tally,
}

impl StatsPeriod {
    /// Returns the time of its earliest line in RFC 3339 format.
    pub fn from(&self) -> String {
        to_rfc3339(self.from_ms)
    }

    /// Returns the time of its latest line in RFC 3339 format.
    pub fn to(&self) -> String {
        to_rfc3339(self.to_ms)
    }
}

/// Accumulates the periods while a log is read.
#[derive(Default)]
pub(super) struct Periods {
    length: PeriodLength,
    /// The periods by the number of the day since 1970, or by their own number.
    by_number: BTreeMap<u64, StatsPeriod>,
    /// The number of the current period, if periods are counted by outcomes.
    current: u64,
    /// Entries beyond [`MAX_PERIODS`].
    uncounted: u64,
}

impl Periods {
    pub(super) fn new(length: PeriodLength) -> Self {
        Self {
            length,
            ..Self::default()
        }
    }

    /// Counts an entry in its period.
    pub(super) fn add(&mut self, time_ms: u64, count: &dyn Fn(&mut Tally)) {
        let number = match self.length {
            PeriodLength::Day => time_ms / DAY_MS,
            PeriodLength::Outcomes(_) => self.current,
        };
        if self.by_number.len() >= MAX_PERIODS && !self.by_number.contains_key(&number) {
            self.uncounted += 1;
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
        if let PeriodLength::Outcomes(most) = self.length
            && period.tally.outcomes() >= most.get()
        {
            self.current += 1;
        }
    }

    /// Returns the periods in order, and the number of entries that are in none.
    pub(super) fn finish(self) -> (Vec<StatsPeriod>, u64) {
        (self.by_number.into_values().collect(), self.uncounted)
    }
}

/// Formats a time as RFC 3339, in UTC and to the second.
pub(crate) fn to_rfc3339(time_ms: u64) -> String {
    let (year, month, day) = civil_date(time_ms / DAY_MS);
    let second = time_ms % DAY_MS / SECOND_MS;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns the year, month and day of a number of days since 1970, in the Gregorian calendar, in which 400 years have
/// 146,097 days. Years start in March here, so that the leap day is the last day of the year.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01.
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
    use super::{DAY_MS, to_rfc3339};

    #[test]
    fn date_is_that_of_the_calendar() {
        let first = |day: u64| to_rfc3339(day * DAY_MS)[..10].to_owned();
        assert_eq!(to_rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(to_rfc3339(1_763_212_668_999), "2025-11-15T13:17:48Z");
        assert_eq!(first(11_016), "2000-02-29");
        assert_eq!(first(11_017), "2000-03-01");
        assert_eq!(first(47_540), "2100-02-28");
        assert_eq!(first(47_541), "2100-03-01");
        assert_eq!(to_rfc3339(253_402_300_799_999), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn days_follow_one_another() {
        let mut before = String::new();
        for day in 0..60_000 {
            let now = to_rfc3339(day * DAY_MS);
            assert!(before < now, "{before} {now}");
            before = now;
        }
    }
}
