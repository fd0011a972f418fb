//! Whether the person still trusts what a state gives out, looked at again before each answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::environment::Environment;
use crate::settings::Settings;
use crate::trust::{TrustRule, TrustedFolders};

/// A look holds for so long: it reads a small file, and an answer may take a few microseconds.
const HOLDS: Duration = Duration::from_millis(200);

/// When the trust of one state was looked at last. A new state was not looked at yet.
#[derive(Debug)]
pub(crate) struct TrustCheck {
    made: Instant,
    /// Microseconds after `made`; 0 if never.
    looked: AtomicU64,
}

impl Default for TrustCheck {
    fn default() -> Self {
        Self {
            made: Instant::now(),
            looked: AtomicU64::new(0),
        }
    }
}

impl TrustCheck {
    /// Returns whether the list that was read still says the same, and `rule` is still what trusts the project.
    pub(crate) fn is_current(
        &self,
        environment: &Environment,
        settings: &Settings,
        trusted: &TrustedFolders,
        rule: Option<&TrustRule>,
    ) -> bool {
        let now = u64::try_from(self.made.elapsed().as_micros()).unwrap_or(u64::MAX);
        let looked = self.looked.load(Ordering::Relaxed);
        if looked > 0 && Duration::from_micros(now.saturating_sub(looked)) < HOLDS {
            return true;
        }
        // A folder that was put in the place of a trusted one is not trusted.
        let rule_now = || TrustRule::of(environment, settings, &mut trusted.clone());
        let is_same = trusted.is_unchanged() && rule_now().as_ref() == rule;
        if is_same {
            self.looked.store(now.max(1), Ordering::Relaxed);
        }
        is_same
    }
}
