//! Which of the documents that have the words of a request come first.

use crate::choose::search::document::Document;
use crate::choose::search::query::Weighed;

/// Documents that answer best by their terms alone, which are then looked at closely.
pub const CANDIDATES: usize = 200;

/// A document in its rank.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranked<K> {
    /// Which document it is.
    pub key: K,
    /// How well it answers, in no unit: scores of one request can be compared, those of two cannot.
    pub score: f32,
    /// How likely it is what was meant, from 0 to 1.
    pub confidence: f32,
}

impl Weighed<'_> {
    /// Puts documents in order, the best first; equal ones by their keys.
    pub fn rank<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<Ranked<K>> {
        let scored = candidates.into_iter().map(|(key, document)| Ranked {
            key,
            score: self.score(document),
            confidence: 0.0,
        });
        let mut ranked: Vec<_> = scored.collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        ranked
    }
}
