//! The JSON view of the activity counters.

use crate::counters;

/// What was done since the skills were found, in numbers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CountersView {
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
    /// Texts that the cache remembers.
    pub cache_entries: usize,
    /// Bytes that they take.
    pub cache_bytes: usize,
    /// Loads served from the cache.
    pub cache_hits: u64,
    /// Loads that read the file.
    pub cache_misses: u64,
    /// Texts that made place for others.
    pub cache_evicted: u64,
    /// Requests whose matches are remembered.
    pub match_entries: usize,
    /// Bytes that they take.
    pub match_bytes: usize,
    /// Requests whose matches were remembered.
    pub match_hits: u64,
    /// Requests that were matched.
    pub match_misses: u64,
    /// Requests that made place for others.
    pub match_evicted: u64,
}

impl CountersView {
    /// Creates the view of counters.
    pub fn new(counters: &counters::Counters) -> Self {
        let (cache, matches) = (&counters.cache, &counters.matches);
        Self {
            refreshes: counters.refreshes,
            turns: counters.turns,
            matched_turns: counters.matched_turns,
            matched: counters.matched,
            given: counters.given,
            no_room: counters.no_room,
            failed: counters.failed,
            tokens: counters.tokens,
            refused: counters.refused,
            used: counters.used,
            unused: counters.unused,
            missed: counters.missed,
            cache_entries: cache.entries,
            cache_bytes: cache.bytes,
            cache_hits: cache.hits,
            cache_misses: cache.misses,
            cache_evicted: cache.evicted,
            match_entries: matches.entries,
            match_bytes: matches.bytes,
            match_hits: matches.hits,
            match_misses: matches.misses,
            match_evicted: matches.evicted,
        }
    }
}
