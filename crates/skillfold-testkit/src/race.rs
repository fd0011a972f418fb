//! Races: one thread swaps two things as fast as it can, the other asks for one of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::holds_secret;

/// Two paths whose things change places. Both are there at every moment.
#[derive(Clone, Debug)]
pub struct Swap {
    first: PathBuf,
    second: PathBuf,
}

/// What one call of what is tested gave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Content, names, or whatever else may carry a secret.
    Given(Vec<u8>),
    /// Nothing: it was refused, was not there, or changed meanwhile.
    Refused,
}

impl Outcome {
    /// Creates an outcome from a result; what the error is does not matter.
    pub fn of<E>(result: Result<impl Into<Vec<u8>>, E>) -> Self {
        result.map_or(Self::Refused, |given| Self::Given(given.into()))
    }
}

/// How often a race came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// How often the two things changed places.
    pub swaps: u64,
    /// How often what is tested was called.
    pub calls: u64,
    /// Calls that gave something that is no secret.
    pub given: u64,
    /// Calls that gave nothing.
    pub refused: u64,
    /// Calls that gave a secret.
    pub leaked: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} calls, {} read, {} refused, {} leaked, {} swaps",
            self.calls, self.given, self.refused, self.leaked, self.swaps
        )
    }
}

/// Returns how long a race takes: `RACE_SECONDS`, or one second.
#[expect(
    clippy::disallowed_methods,
    reason = "who runs the tests says how long they may take"
)]
pub fn race_time() -> Duration {
    let seconds = std::env::var("RACE_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(1))
}

impl Swap {
    /// Creates a swap of what stands at two paths of one file system.
    pub fn new(first: impl AsRef<Path>, second: impl AsRef<Path>) -> Self {
        Self {
            first: first.as_ref().to_owned(),
            second: second.as_ref().to_owned(),
        }
    }

    /// Calls `call` for [`race_time`] while the two things change places, and longer if it did not yet come out both
    /// ways, up to a minute.
    pub fn race(&self, call: impl FnMut() -> Outcome) -> Counts {
        let time = race_time();
        self.run(call, |counts, passed| {
            let is_told = counts.leaked > 0 || (counts.given > 0 && counts.refused > 0);
            passed >= time && is_told
        })
    }

    /// Calls `call` while the two things change places, until it gives a secret, up to a minute.
    pub fn race_until_leak(&self, call: impl FnMut() -> Outcome) -> Counts {
        self.run(call, |counts, _| counts.leaked > 0)
    }

    fn run(
        &self,
        mut call: impl FnMut() -> Outcome,
        is_over: impl Fn(&Counts, Duration) -> bool,
    ) -> Counts {
        let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut counts = Counts::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if self.exchange().is_ok() {
                        swaps.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            // Whatever happens in a call, the other thread has to end.
            let _stop = StopOnDrop(&stop);
            let start = Instant::now();
            while !is_over(&counts, start.elapsed()) && start.elapsed() < Duration::from_secs(60) {
                counts.take(&call());
            }
        });
        counts.swaps = swaps.into_inner();
        counts
    }

    fn exchange(&self) -> rustix::io::Result<()> {
        renameat_with(CWD, &self.first, CWD, &self.second, RenameFlags::EXCHANGE)
    }
}

impl Counts {
    fn take(&mut self, outcome: &Outcome) {
        self.calls += 1;
        match outcome {
            Outcome::Refused => self.refused += 1,
            Outcome::Given(bytes) if holds_secret(bytes) => self.leaked += 1,
            Outcome::Given(_) => self.given += 1,
        }
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
