//! The order of matching skills.

use std::cmp::Reverse;

use crate::choose::matcher::Candidate;

/// Sorts candidates by signal (mentions first, then whole phrases, then other triggers), then by most recent use, then
/// by id. `last_used` returns when a skill was last used, later being higher, or `None` if never.
///
/// With equal signals and no uses this is the catalog order.
pub fn rank(
    mut candidates: Vec<Candidate<'_>>,
    last_used: impl Fn(&str) -> Option<u64>,
) -> Vec<Candidate<'_>> {
    candidates.sort_by_cached_key(|candidate| {
        let last_used = last_used(candidate.entry.id());
        (
            Reverse(candidate.signal),
            Reverse(last_used),
            candidate.order(),
        )
    });
    candidates
}
