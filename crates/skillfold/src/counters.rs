//! Activity counters of a live handle.

use std::sync::atomic::{AtomicU64, Ordering};

use skillfold_core::{
    CacheStats, Decision, Error, ErrorKind, Feedback, MatchStats, Outcome, Signal, Turn,
};

/// Counters of what was done since the skills were first discovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Refreshes of the catalog.
    pub refreshes: u64,
    /// Requests.
    pub turns: u64,
    /// Requests that matched at least one skill.
    pub matched_turns: u64,
    /// Matched skills, summed over all requests.
    pub matched: u64,
    /// Skills whose instructions were given for a request or after a compaction.
    pub given: u64,
    /// Skills that matched and did not fit the budget.
    pub no_room: u64,
    /// Skills that matched and could not be loaded.
    pub failed: u64,
    /// Tokens added by requests and after compactions.
    pub tokens: u64,
    /// Refused loads and reads.
    pub refused: u64,
    /// Skills that the host reported as used.
    pub used: u64,
    /// Skills that the host reported as given but unused.
    pub unused: u64,
    /// Skills that the host reported as missed.
    pub missed: u64,
    /// Counters for the instruction cache.
    pub cache: CacheStats,
    /// Counters for the match cache.
    pub matches: MatchStats,
}

/// [`Counters`] that many threads add to.
#[derive(Debug, Default)]
pub(crate) struct AtomicCounters {
    refreshes: AtomicU64,
    turns: AtomicU64,
    matched_turns: AtomicU64,
    matched: AtomicU64,
    given: AtomicU64,
    no_room: AtomicU64,
    failed: AtomicU64,
    tokens: AtomicU64,
    refused: AtomicU64,
    used: AtomicU64,
    unused: AtomicU64,
    missed: AtomicU64,
}

impl AtomicCounters {
    pub(crate) fn count_refresh(&self) {
        add(&self.refreshes, 1);
    }

    /// Counts a request.
    pub(crate) fn count_turn(&self, turn: &Turn) {
        add(&self.turns, 1);
        add(&self.tokens, turn.tokens);
        let is_matched = |decision: &&Decision| decision.signal != Signal::Earlier;
        let matched = turn.decisions.iter().filter(is_matched).count();
        add(&self.matched_turns, u64::from(matched > 0));
        add(&self.matched, matched as u64);
        self.count_outcomes(turn);
    }

    /// Counts the skills that were given again after a compaction.
    pub(crate) fn count_compaction(&self, turn: &Turn) {
        add(&self.tokens, turn.tokens);
        self.count_outcomes(turn);
    }

    fn count_outcomes(&self, turn: &Turn) {
        for decision in &turn.decisions {
            match decision.outcome {
                Outcome::Given(..) => add(&self.given, 1),
                Outcome::NoRoom(_) => add(&self.no_room, 1),
                Outcome::Failed(_) => add(&self.failed, 1),
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

    /// Returns the current values.
    pub(crate) fn snapshot(&self, cache: CacheStats, matches: MatchStats) -> Counters {
        Counters {
            refreshes: get(&self.refreshes),
            turns: get(&self.turns),
            matched_turns: get(&self.matched_turns),
            matched: get(&self.matched),
            given: get(&self.given),
            no_room: get(&self.no_room),
            failed: get(&self.failed),
            tokens: get(&self.tokens),
            refused: get(&self.refused),
            used: get(&self.used),
            unused: get(&self.unused),
            missed: get(&self.missed),
            cache,
            matches,
        }
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
