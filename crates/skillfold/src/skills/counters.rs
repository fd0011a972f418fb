//! Activity counters of a live handle.

use std::sync::atomic::{AtomicU64, Ordering};

use skillfold_core::choose::Signal;
use skillfold_core::disclose::Turn;
use skillfold_core::disclose::{Decision, Feedback, SkillOutcome};
use skillfold_core::load::CacheStats;
use skillfold_core::{Error, ErrorKind};

/// One of the [`Counters`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CounterRow {
    /// Its name, such as `turns`.
    pub name: &'static str,
    /// What it counts.
    pub description: &'static str,
    /// Its value.
    pub value: u64,
}

/// Defines the counters, the atomics behind them and their descriptions from one table.
macro_rules! counters {
    ($($name:ident: $description:literal,)*) => {
        /// Counters of what was done since the skills were first discovered.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
        #[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub struct Counters {
            $(#[doc = $description] pub $name: u64,)*
            /// The cache of loaded instructions.
            pub cache: CacheStats,
            /// The cache of matched requests.
            pub match_cache: CacheStats,
        }

        impl Counters {
            /// Returns each counter but those of the caches.
            pub fn rows(&self) -> impl Iterator<Item = CounterRow> {
                [$(CounterRow {
                    name: stringify!($name),
                    description: $description,
                    value: self.$name,
                },)*].into_iter()
            }
        }

        /// [`Counters`] that many threads add to.
        #[derive(Debug, Default)]
        pub(crate) struct AtomicCounters {
            $($name: AtomicU64,)*
        }

        impl AtomicCounters {
            /// Returns the current values.
            pub(crate) fn snapshot(&self, cache: CacheStats, match_cache: CacheStats) -> Counters {
                Counters {
                    $($name: self.$name.load(Ordering::Relaxed),)*
                    cache,
                    match_cache,
                }
            }
        }
    };
}

counters! {
    refreshes: "Rescans for skills",
    turns: "User requests for which skills were selected",
    matched_turns: "User requests that at least one skill matched",
    matched: "Skills that matched, summed over all requests",
    given: "Skills whose instructions were given for a request or after a compaction",
    no_room: "Skills that matched but did not fit the budget",
    failed: "Skills that matched but could not be loaded",
    turn_tokens: "Tokens added by requests and after compactions",
    refused: "Refused loads and reads",
    used: "Skills that the host reported as used",
    unused: "Skills that the host reported as given but unused",
    missed: "Skills that the host reported as missed",
}

impl AtomicCounters {
    pub(crate) fn count_refresh(&self) {
        add(&self.refreshes, 1);
    }

    /// Counts a request.
    pub(crate) fn count_turn(&self, turn: &Turn) {
        add(&self.turns, 1);
        add(&self.turn_tokens, turn.tokens);
        let is_matched = |decision: &&Decision| decision.signal != Signal::Earlier;
        let matched = turn.decisions.iter().filter(is_matched).count();
        add(&self.matched_turns, u64::from(matched > 0));
        add(&self.matched, matched as u64);
        self.count_outcomes(turn);
    }

    /// Counts the skills that were given again after a compaction.
    pub(crate) fn count_compaction(&self, turn: &Turn) {
        add(&self.turn_tokens, turn.tokens);
        self.count_outcomes(turn);
    }

    fn count_outcomes(&self, turn: &Turn) {
        for decision in &turn.decisions {
            match decision.outcome {
                SkillOutcome::Given(..) => add(&self.given, 1),
                SkillOutcome::NoRoom(_) => add(&self.no_room, 1),
                SkillOutcome::Failed(_) => add(&self.failed, 1),
                _ => {}
            }
        }
    }

    /// Counts the host's feedback on a skill.
    pub(crate) fn count_feedback(&self, feedback: Feedback) {
        match feedback {
            Feedback::Used => add(&self.used, 1),
            Feedback::Unused => add(&self.unused, 1),
            Feedback::Missed => add(&self.missed, 1),
            _ => {}
        }
    }

    /// Counts an error if it is a refusal.
    pub(crate) fn count_refusal(&self, error: &Error) {
        if error.kind() == ErrorKind::Refused {
            add(&self.refused, 1);
        }
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}
