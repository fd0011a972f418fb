//! A linear ranker over the candidates, and the confidence of its results.
//!
//! The weights were fitted by `bench/train_ranker.py` on requests that skill authors labelled with the skills they
//! need.

use std::sync::LazyLock;

use crate::search::activation::{RankedDocument, activation, activation_features, find_weight};
use crate::search::bm25f::to_f32;
use crate::search::document::SearchDocument;
use crate::search::features::{Bm25Rank, FEATURE_COUNT, Features, QueryTotals, feature_names};
use crate::search::query::WeightedQuery;

/// Number of documents with the best BM25F scores to rank.
pub const MAX_CANDIDATES: usize = 200;

/// Number of candidates to take from one layer of an index. It exceeds [`MAX_CANDIDATES`] because the scores of layers
/// differ slightly.
pub(super) const LAYER_CANDIDATES: usize = MAX_CANDIDATES + MAX_CANDIDATES / 4;

/// Number of the first documents whose activation is computed.
const MAX_ACTIVATED: usize = 16;

/// Number of documents with the most similar embeddings to rank as well.
pub(super) const EMBEDDING_CANDIDATES: usize = 40;

/// The weights: a name and a value per line.
const WEIGHTS_TSV: &str = include_str!("ranker.tsv");

static RANKER: LazyLock<Ranker> = LazyLock::new(|| Ranker::parse(WEIGHTS_TSV));

/// The weights of the ranking model.
struct Ranker {
    /// Weights of the relevance score.
    relevance: Features,
    /// Weights of the confidence of a ranked document.
    confidence: [f32; CONFIDENCE_COUNT],
}

const CONFIDENCE_COUNT: usize = 9;
/// The features of the confidence. Those from the fourth to the last but one are ranking features.
const CONFIDENCE_NAMES: [&str; CONFIDENCE_COUNT] = [
    "likely.always",
    "likely.share",
    "likely.lead",
    "likely.covers.described",
    "likely.covers.any",
    "likely.score.share",
    "likely.rarest.missing",
    "likely.name.share",
    "likely.terms",
];

impl Ranker {
    /// Parses weights. A missing weight is 0.
    fn parse(text: &str) -> Self {
        let weight = |name: &str| find_weight(text, name);
        let mut relevance = [0.0; FEATURE_COUNT];
        (relevance.iter_mut().zip(feature_names())).for_each(|(slot, name)| *slot = weight(&name));
        Self {
            relevance,
            confidence: CONFIDENCE_NAMES.map(weight),
        }
    }
}

/// A ranked document.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranked<K> {
    /// The caller's key of the document.
    pub key: K,
    /// The relevance score. Scores are comparable only within one query.
    pub score: f32,
    /// Estimated probability that the document is relevant, from 0 to 1, if somebody searched for it.
    pub confidence: f32,
    /// Estimated probability that the text needs the document, from 0 to 1, if nobody searched: most messages to an agent
    /// need none. It is 0 after the first documents.
    pub activation: f32,
}

impl WeightedQuery {
    /// Returns up to [`MAX_CANDIDATES`] documents with the best BM25F scores, in no particular order. Ties go to the lower
    /// key.
    ///
    /// An index that scores differently, or in several parts, should pass more documents than that. The final order
    /// depends on the set of candidates, which must be the same for every index.
    pub fn candidates<'a, K: Ord + Copy>(
        &self,
        found: impl IntoIterator<Item = (K, &'a SearchDocument)>,
    ) -> Vec<(K, &'a SearchDocument)> {
        let mut found: Vec<(K, &SearchDocument)> = found.into_iter().collect();
        if found.len() <= MAX_CANDIDATES {
            return found;
        }
        let totals = QueryTotals::new(self);
        let scored = found.drain(..);
        let mut scored: Vec<_> = scored
            .map(|candidate| (totals.match_document(candidate.1).score, candidate))
            .collect();
        scored.select_nth_unstable_by(MAX_CANDIDATES, |(a, first), (b, second)| {
            b.total_cmp(a).then(first.0.cmp(&second.0))
        });
        scored.truncate(MAX_CANDIDATES);
        scored.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// Ranks documents, best first. Ties are ordered by key.
    pub fn rank<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a SearchDocument)>,
    ) -> Vec<Ranked<K>> {
        let ranked = self.rank_documents(candidates).into_iter();
        let mut least = 1.0_f32;
        let ranked = ranked.enumerate().map(|(position, (key, score, ranked))| {
            // No document is more likely than one that is ranked higher.
            least = least.min(if position < MAX_ACTIVATED {
                activation(&activation_features(self, &ranked))
            } else {
                0.0
            });
            Ranked {
                key,
                score,
                confidence: self.confidence(&ranked),
                activation: least,
            }
        });
        ranked.collect()
    }

    /// Returns documents with their scores, best first, and what the ranker knows of each.
    pub(super) fn rank_documents<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a SearchDocument)>,
    ) -> Vec<(K, f32, RankedDocument<'a>)> {
        let mut scored = self.score(candidates);
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.0.cmp(&b.0.0)));
        let first = scored.first().map_or(0.0, |first| first.1);
        let second = scored.get(1).map_or(first, |second| second.1);
        let total: f32 = scored
            .iter()
            .map(|(_, score, _)| (score - first).exp())
            .sum();
        let ranked =
            scored
                .into_iter()
                .enumerate()
                .map(|(position, ((key, document), score, features))| {
                    let ranked = RankedDocument {
                        document,
                        share: (score - first).exp() / total.max(f32::MIN_POSITIVE),
                        lead: score - if position == 0 { second } else { first },
                        is_first: position == 0,
                        shared: SHARED_FEATURES.map(|index| features[index]),
                    };
                    (key, score, ranked)
                });
        ranked.collect()
    }

    /// Returns documents with their scores and features. A document that is first by its words and has its whole name
    /// in the query stays first, whatever the embeddings of others.
    fn score<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a SearchDocument)>,
    ) -> Vec<((K, &'a SearchDocument), f32, Features)> {
        let (word_weights, embedding_weights) = RANKER.relevance.split_at(FEATURE_COUNT - 1);
        let features = self.features(candidates);
        let word_scores = features.iter();
        let word_scores: Vec<f32> = word_scores
            .map(|(_, features)| dot(word_weights, features))
            .collect();
        let first = (0..word_scores.len()).reduce(|best, index| {
            let is_better = word_scores[index].total_cmp(&word_scores[best]).is_gt();
            if is_better { index } else { best }
        });
        let scores = features.into_iter().zip(&word_scores);
        let scores = scores.map(|((key, features), word_score)| {
            let embedding_score = dot(embedding_weights, &features[FEATURE_COUNT - 1..]);
            (key, word_score + embedding_score, features)
        });
        let mut ranked: Vec<_> = scores.collect();
        let max = ranked.iter().map(|(_, score, _)| *score);
        let max = max.fold(f32::MIN, f32::max);
        if let Some((_, score, features)) = first.map(|first| &mut ranked[first])
            && features[*WHOLE_NAME] >= 1.0
            && *score < max
        {
            *score = max.next_up();
        }
        ranked
    }

    /// Returns the confidence of a document by logistic regression.
    fn confidence(&self, ranked: &RankedDocument<'_>) -> f32 {
        let mut values = [0.0; CONFIDENCE_COUNT];
        values[..3].copy_from_slice(&[1.0, ranked.share, ranked.lead]);
        values[3..CONFIDENCE_COUNT - 1].copy_from_slice(&ranked.shared);
        values[CONFIDENCE_COUNT - 1] = to_f32(self.terms.len() as u64).ln_1p();
        1.0 / (1.0 + (-dot(&RANKER.confidence, &values)).exp())
    }

    /// Returns documents with their features, in order of BM25F score.
    pub(super) fn features<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a SearchDocument)>,
    ) -> Vec<((K, &'a SearchDocument), Features)> {
        let totals = QueryTotals::new(self);
        let matches = candidates.into_iter();
        let matches = matches.map(|(key, document)| (key, totals.match_document(document)));
        let mut matches: Vec<_> = matches.collect();
        matches
            .sort_by(|(a, first), (b, second)| second.score.total_cmp(&first.score).then(a.cmp(b)));
        let best_score = matches.first().map_or(0.0, |(_, first)| first.score);
        let similarities =
            self.similarity_z_scores(matches.iter().map(|(_, matched)| matched.document));
        (0_u16..)
            .zip(matches.iter().zip(similarities))
            .map(|(rank, ((key, matched), similarity))| {
                let rank = Bm25Rank { best_score, rank };
                let features = totals.features(matched, &rank, similarity);
                ((*key, matched.document), features)
            })
            .collect()
    }

    /// Returns the z-score of each document's embedding similarity to the query, which makes models comparable. It is 0
    /// for a document or query without an embedding.
    fn similarity_z_scores<'a>(
        &self,
        documents: impl Iterator<Item = &'a SearchDocument>,
    ) -> Vec<f32> {
        let similarity = |document: &SearchDocument| {
            let (embedding, query) = (document.embedding()?, self.embedding.as_ref()?);
            Some(embedding.similarity(query))
        };
        let similarities: Vec<Option<f32>> = documents.map(similarity).collect();
        let values = similarities.iter().flatten();
        let count = to_f32(values.clone().count().max(1) as u64);
        let mean = values.clone().sum::<f32>() / count;
        let variance = values.map(|value| (value - mean).powi(2)).sum::<f32>() / count;
        let deviation = variance.sqrt().max(f32::EPSILON);
        let z_scores = similarities
            .iter()
            .map(|value| value.map_or(0.0, |value| (value - mean) / deviation));
        z_scores.collect()
    }
}

/// Index of the feature that is 1 if the query has the whole name of a skill.
static WHOLE_NAME: LazyLock<usize> = LazyLock::new(|| {
    let index = feature_names().iter().position(|name| name == "name.whole");
    index.unwrap_or(FEATURE_COUNT - 1)
});

/// Indices of the ranking features that are also features of the confidence.
static SHARED_FEATURES: LazyLock<[usize; 5]> = LazyLock::new(|| {
    let features = feature_names();
    std::array::from_fn(|number| {
        let name = CONFIDENCE_NAMES[3 + number].strip_prefix("likely.");
        let index = features.iter().position(|feature| Some(&**feature) == name);
        index.unwrap_or(FEATURE_COUNT - 1)
    })
});

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::features::SIMILARITY_FEATURE;

    #[test]
    fn every_weight_belongs_to_a_feature() {
        let features = feature_names();
        for line in WEIGHTS_TSV.lines() {
            let (name, value) = line.split_once('\t').unwrap();
            let is_known =
                features.iter().any(|feature| feature == name) || CONFIDENCE_NAMES.contains(&name);
            assert!(is_known, "{name}");
            assert!(value.parse::<f32>().unwrap().is_finite(), "{name}");
        }
        assert_eq!(features.len(), FEATURE_COUNT);
        assert_eq!(
            features.last().map(String::as_str),
            Some(SIMILARITY_FEATURE)
        );
        assert_eq!(features[*WHOLE_NAME], "name.whole");
        for (index, name) in SHARED_FEATURES.iter().zip(&CONFIDENCE_NAMES[3..]) {
            assert_eq!(format!("likely.{}", features[*index]), *name);
        }
    }
}
