//! Divides a log into periods: days, or a fixed number of outcomes.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Serializer;
use skillfold_core::text::utc_ms;

use crate::reports::stats::tally::Tally;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "StatsPeriodView")]
#[non_exhaustive]
pub struct StatsPeriod {
    /// The time of its earliest line, in UTC as RFC 3339.
    #[serde(rename = "from", serialize_with = "as_utc")]
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub from_ms: u64,
    /// The time of its latest line, in UTC as RFC 3339.
    #[serde(rename = "to", serialize_with = "as_utc")]
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub to_ms: u64,
    /// The counts.
    #[serde(flatten)]
    pub tally: Tally,
}

impl StatsPeriod {
    /// Returns the time of its earliest line in RFC 3339 format.
    pub fn from(&self) -> String {
        utc_ms(self.from_ms)
    }

    /// Returns the time of its latest line in RFC 3339 format.
    pub fn to(&self) -> String {
        utc_ms(self.to_ms)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn as_utc<S: Serializer>(time_ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&utc_ms(*time_ms))
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
