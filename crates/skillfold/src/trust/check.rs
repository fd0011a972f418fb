//! Checks before each answer that the user still trusts what a snapshot serves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a check stays valid. It reads small files, while an answer may take only a few microseconds.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The time of the last trust check of one snapshot. A new snapshot has not been checked yet.
#[derive(Debug)]
pub(crate) struct TrustCheck {
    created: Instant,
    /// The last successful check, in microseconds after `created`; 0 if there was none.
    last_check_us: AtomicU64,
}

impl Default for TrustCheck {
    fn default() -> Self {
        Self {
            created: Instant::now(),
            last_check_us: AtomicU64::new(0),
        }
    }
}

impl TrustCheck {
    /// Returns whether the last check is still valid.
    pub(crate) fn is_recent(&self) -> bool {
        let last_us = self.last_check_us.load(Ordering::Relaxed);
        let age_us = self.elapsed_us().saturating_sub(last_us);
        last_us > 0 && Duration::from_micros(age_us) < CHECK_INTERVAL
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns whether the last check is still valid, or a new one finds that nothing changed.
    pub(crate) fn is_current(&self, is_unchanged: impl FnOnce() -> bool) -> bool {
        let now_us = self.elapsed_us();
        if self.is_recent() {
            return true;
        }
        let is_same = is_unchanged();
        if is_same {
            self.last_check_us.store(now_us.max(1), Ordering::Relaxed);
        }
        is_same
    }
}
