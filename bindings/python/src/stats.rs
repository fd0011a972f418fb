//! How well skills are chosen over time.

use std::num::NonZeroU64;

use pyo3::prelude::*;
use skillfold::core::Error;
use skillfold::reports::{PeriodLength, Stats};
use skillfold::view::{Document, StatsView};

use crate::error::{detached, json};

/// Returns statistics of a log, by day or by a number of outcomes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python passes bytes")]
pub(crate) fn stats(
    py: Python<'_>,
    log: Vec<u8>,
    outcomes: Option<NonZeroU64>,
) -> PyResult<String> {
    let every = outcomes.map_or(PeriodLength::Day, PeriodLength::Outcomes);
    detached(py, || {
        let stats = Stats::read(&*log, every).map_err(|error| Error::read("the log", error))?;
        Ok(json(Document::Stats(StatsView::new(stats, every))))
    })
}
