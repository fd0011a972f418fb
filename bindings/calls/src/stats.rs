//! How well skills are chosen over time.

use std::num::NonZeroU64;

use skillfold::core::Error;
use skillfold::reports::{PeriodLength, Stats};
use skillfold::view::{Document, StatsView};

use crate::error::{Answer, view};

/// Returns statistics of a log, by day or by a number of outcomes.
pub fn stats(log: &[u8], outcomes: Option<NonZeroU64>) -> Answer {
    let every = outcomes.map_or(PeriodLength::Day, PeriodLength::Outcomes);
    let stats = Stats::read(log, every).map_err(|error| Error::read("the log", error))?;
    Ok(view(Document::Stats(StatsView::new(stats, every))))
}
