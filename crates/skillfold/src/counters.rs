//! What was done since the skills were found, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use skillfold_core::{
    CacheStats, Decision, Error, ErrorKind, Feedback, MatchStats, Outcome, Signal, Turn,
};

/// What was done since the skills were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Times that the skills were looked for again.
    pub refreshes: u64,
    /// Requests.
    pub turns: u64,
    /// Requests that at least one skill matched.
    pub matched_turns: u64,
    /// Skills that matched, in all requests.
    pub matched: u64,
    /// Skills whose instructions were given for a request, or again.
    pub given: u64,
    /// Skills that matched and did not fit the budget.
    pub no_room: u64,
    /// Skills that matched and could not be loaded.
    pub failed: u64,
    /// Tokens that requests added, and that were given again.
    pub tokens: u64,
    /// Refused loads and reads.
    pub refused: u64,
    /// Skills that the host said were used.
    pub used: u64,
    /// Skills that the host said were given for nothing.
    pub unused: u64,
    /// Skills that the host said were missed.
    pub missed: u64,
    /// How the cache of loaded instructions does.
    pub cache: CacheStats,
    /// How the memory of matched requests does.
    pub matches: MatchStats,
}

/// Numbers that many threads add to.
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
    pub(crate) fn refreshed(&self) {
        add(&self.refreshes, 1);
    }

    /// Counts a request.
    pub(crate) fn turn(&self, turn: &Turn) {
        add(&self.turns, 1);
        add(&self.tokens, turn.tokens);
        let is_asked = |decision: &&Decision| decision.signal != Signal::Earlier;
        let asked = turn.decisions.iter().filter(is_asked).count();
        add(&self.matched_turns, u64::from(asked > 0));
        add(&self.matched, asked as u64);
        self.outcomes(turn);
    }

    /// Counts what is given again after a conversation was cut short.
    pub(crate) fn again(&self, turn: &Turn) {
        add(&self.tokens, turn.tokens);
        self.outcomes(turn);
    }

    fn outcomes(&self, turn: &Turn) {
        for decision in &turn.decisions {
            match decision.outcome {
                Outcome::Given(..) => add(&self.given, 1),
                Outcome::NoRoom(_) => add(&self.no_room, 1),
                Outcome::Failed(_) => add(&self.failed, 1),
                _ => {}
            }
        }
    }

    /// Counts what became of a skill.
    pub(crate) fn verdict(&self, verdict: Feedback) {
        match verdict {
            Feedback::Used => add(&self.used, 1),
            Feedback::Unused => add(&self.unused, 1),
            Feedback::Missed => add(&self.missed, 1),
            _ => {}
        }
    }

    /// Counts what could not be done because a rule forbids it.
    pub(crate) fn error(&self, error: &Error) {
        if error.kind() == ErrorKind::Refused {
            add(&self.refused, 1);
        }
    }

    /// Returns the numbers of now.
    pub(crate) fn now(&self, cache: CacheStats, matches: MatchStats) -> Counters {
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
