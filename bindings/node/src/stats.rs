//! How well skills are chosen over time.

use std::num::NonZeroU64;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::promise::or_throw;

/// Returns statistics of a log, by day or by a number of outcomes.
#[napi]
pub fn stats(log: Uint8Array, outcomes: Option<i64>) -> Result<String> {
    let count = |outcomes| u64::try_from(outcomes).and_then(NonZeroU64::try_from);
    let outcomes = outcomes.map(count).transpose();
    let outcomes = or_throw(outcomes.map_err(|_| {
        let problem = "it is a number of outcomes, at least 1";
        skillfold::core::Error::invalid("outcomes", problem)
    }))?;
    or_throw(skillfold_calls::stats(&log, outcomes))
}
