//! Which of the skills that match come first.

use std::cmp::Reverse;

use crate::choose::matcher::Candidate;

/// Puts candidates in the order in which they are given: those that are mentioned, then those with a phrase found whole,
/// then those that were used last, then by id. `used` returns when a skill was used, the later the higher; none if never.
///
/// Without a mention, a phrase or a use this is the order of the catalog.
pub fn rank(
    mut candidates: Vec<Candidate<'_>>,
    used: impl Fn(&str) -> Option<u64>,
) -> Vec<Candidate<'_>> {
    candidates.sort_by_cached_key(|candidate| {
        let used = used(candidate.entry.id());
        (Reverse(candidate.signal), Reverse(used), candidate.order())
    });
    candidates
}
