//! Which of the documents that have the words of a request come first.

use crate::choose::search::document::Document;
use crate::choose::search::features::Measure;
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

impl Weighed {
    /// Puts documents in order, the best first; equal ones by their keys.
    pub fn rank<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<Ranked<K>> {
        let features = self.features(candidates);
        let ranked = features.into_iter().map(|(key, score, _)| Ranked {
            key,
            score,
            confidence: 0.0,
        });
        ranked.collect()
    }

    /// Returns documents by BM25F with their features, the best first.
    #[doc(hidden)]
    pub fn features<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<(K, f32, Vec<f32>)> {
        let measure = Measure::new(self);
        let scored = candidates.into_iter();
        let mut scored: Vec<_> = scored
            .map(|(key, document)| (key, document, self.score(document)))
            .collect();
        scored.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        let best = scored.first().map_or(0.0, |first| first.2);
        (0_u16..)
            .zip(scored)
            .map(|(rank, (key, document, score))| {
                let features = measure.features(document, score, best, f32::from(rank));
                (key, score, features.into())
            })
            .collect()
    }
}
