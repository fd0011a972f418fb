//! Races: one thread swaps two paths as fast as it can while the other accesses one of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::contains_secret;

/// Two paths that are swapped atomically. Both always exist.
#[derive(Clone, Debug)]
pub struct Swap {
    first: PathBuf,
    second: PathBuf,
}

/// The outcome of one call to the tested code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RaceOutcome {
    /// Content, names, or anything else that may contain a secret.
    Given(Vec<u8>),
    /// Nothing: the call was refused, the file was missing, or it changed meanwhile.
    Refused,
}

impl RaceOutcome {
    /// Creates an outcome from a result; the kind of error does not matter.
    pub fn from_result<E>(result: Result<impl Into<Vec<u8>>, E>) -> Self {
        result.map_or(Self::Refused, |given| Self::Given(given.into()))
    }
}

/// A race's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceCounts {
    /// How often the two paths were swapped.
    pub swaps: u64,
    /// How often the tested code was called.
    pub calls: u64,
    /// Calls that returned something not secret.
    pub given: u64,
    /// Calls that returned nothing.
    pub refused: u64,
    /// Calls that returned a secret.
    pub leaked: u64,
}

impl fmt::Display for RaceCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} calls, {} read, {} refused, {} leaked, {} swaps",
            self.calls, self.given, self.refused, self.leaked, self.swaps
        )
    }
}

/// Returns how long a race runs: `RACE_SECONDS`, or one second.
#[expect(
    clippy::disallowed_methods,
    reason = "an environment variable sets the duration"
)]
pub fn race_time() -> Duration {
    let seconds = std::env::var("RACE_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(1))
}

impl Swap {
    /// Creates a swap between two paths on one file system.
    pub fn new(first: impl AsRef<Path>, second: impl AsRef<Path>) -> Self {
        Self {
            first: first.as_ref().to_owned(),
            second: second.as_ref().to_owned(),
        }
    }

    /// Calls `call` for [`race_time`] while the paths are swapped. Continues for up to a minute if it has not had both
    /// outcomes yet.
    pub fn race(&self, call: impl FnMut() -> RaceOutcome) -> RaceCounts {
        let time = race_time();
        self.run(call, |counts, elapsed| {
            let has_both_outcomes = counts.leaked > 0 || (counts.given > 0 && counts.refused > 0);
            elapsed >= time && has_both_outcomes
        })
    }

    /// Calls `call` while the paths are swapped until it returns a secret, for up to a minute.
    pub fn race_until_leak(&self, call: impl FnMut() -> RaceOutcome) -> RaceCounts {
        self.run(call, |counts, _| counts.leaked > 0)
    }

    fn run(
        &self,
        mut call: impl FnMut() -> RaceOutcome,
        is_over: impl Fn(&RaceCounts, Duration) -> bool,
    ) -> RaceCounts {
        let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut counts = RaceCounts::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if self.exchange().is_ok() {
                        swaps.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            // The other thread must stop even if a call panics.
            let _stop = StopOnDrop(&stop);
            let start = Instant::now();
            while !is_over(&counts, start.elapsed()) && start.elapsed() < Duration::from_secs(60) {
                counts.record(&call());
            }
        });
        counts.swaps = swaps.into_inner();
        counts
    }

    fn exchange(&self) -> rustix::io::Result<()> {
        renameat_with(CWD, &self.first, CWD, &self.second, RenameFlags::EXCHANGE)
    }
}

impl RaceCounts {
    fn record(&mut self, outcome: &RaceOutcome) {
        self.calls += 1;
        match outcome {
            RaceOutcome::Refused => self.refused += 1,
            RaceOutcome::Given(bytes) if contains_secret(bytes) => self.leaked += 1,
            RaceOutcome::Given(_) => self.given += 1,
        }
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
