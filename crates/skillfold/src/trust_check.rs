//! Checks before each answer that the user still trusts what a snapshot serves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::environment::Environment;
use crate::settings::Settings;
use crate::trust::{TrustRule, TrustedFolders};

/// How long a check stays valid. It reads a small file, while an answer may take only a few microseconds.
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

    /// Returns whether the trust list is unchanged and `rule` is still what trusts the project.
    pub(crate) fn is_current(
        &self,
        environment: &Environment,
        settings: &Settings,
        trusted: &TrustedFolders,
        rule: Option<&TrustRule>,
    ) -> bool {
        let now_us = self.elapsed_us();
        if self.is_recent() {
            return true;
        }
        // The rule is found anew, because a folder that replaced a trusted one is not trusted.
        let current_rule = || TrustRule::find(environment, settings, &mut trusted.clone());
        let is_same = trusted.is_unchanged() && current_rule().as_ref() == rule;
        if is_same {
            self.last_check_us.store(now_us.max(1), Ordering::Relaxed);
        }
        is_same
    }
}
