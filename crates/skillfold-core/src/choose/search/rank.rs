//! Which of the documents that have the words of a request come first, and how likely they are right.
//!
//! The weights were fitted by `bench/train_ranker.py` on requests of which the authors of skills say what they need.

use std::sync::LazyLock;

use crate::choose::search::bm25f::real;
use crate::choose::search::document::Document;
use crate::choose::search::features::{Bm25Rank, FEATURES, Features, QueryTotals, names};
use crate::choose::search::query::WeightedQuery;

/// Documents that answer best by their terms alone, which are then looked at closely.
pub const CANDIDATES: usize = 200;

/// Documents that are found in one part of an index, of which those that answer best are looked at closely. They are more,
/// since parts measure a little differently.
pub(super) const OF_PART: usize = CANDIDATES + CANDIDATES / 4;

/// Documents that are closest by their meaning, which are looked at too.
pub(super) const NEAREST: usize = 40;

/// A line for each weight: its name and its value.
const WRITTEN: &str = include_str!("ranker.tsv");

static RANKER: LazyLock<Ranker> = LazyLock::new(|| Ranker::read(WRITTEN));

/// What each feature says.
struct Ranker {
    order: Features,
    /// What says how likely a document is right, after it is in its rank.
    likely: [f32; LIKELY],
}

/// How many features a likelihood has, and what they are.
const LIKELY: usize = 9;
const LIKELY_NAMES: [&str; LIKELY] = [
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
    /// Reads weights; a name that is not there has none.
    fn read(text: &str) -> Self {
        let weight = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
            line.and_then(|value| value.parse().ok()).unwrap_or(0.0)
        };
        let mut order = [0.0; FEATURES];
        (order.iter_mut().zip(names())).for_each(|(own, name)| *own = weight(&name));
        Self {
            order,
            likely: LIKELY_NAMES.map(weight),
        }
    }
}

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

impl WeightedQuery {
    /// Returns the documents that answer best by their terms alone, at most [`CANDIDATES`], in no order; of equal ones those
    /// with the lesser keys.
    ///
    /// Who finds candidates by a measure of its own, or in parts, finds more than that, so that the same documents are
    /// looked at closely however they were found: the order depends on which others there are.
    pub fn candidates<'a, K: Ord + Copy>(
        &self,
        found: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<(K, &'a Document)> {
        let mut found: Vec<(K, &Document)> = found.into_iter().collect();
        if found.len() <= CANDIDATES {
            return found;
        }
        let measure = QueryTotals::new(self);
        let scored = found.drain(..);
        let mut scored: Vec<_> = scored.map(|one| (measure.look(one.1).score, one)).collect();
        scored.select_nth_unstable_by(CANDIDATES, |(a, one), (b, other)| {
            b.total_cmp(a).then(one.0.cmp(&other.0))
        });
        scored.truncate(CANDIDATES);
        scored.into_iter().map(|(_, one)| one).collect()
    }

    /// Puts documents in order, the best first; equal ones by their keys.
    pub fn rank<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<Ranked<K>> {
        let mut scored = self.scored(candidates);
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let first = scored.first().map_or(0.0, |first| first.1);
        let second = scored.get(1).map_or(first, |second| second.1);
        let all: f32 = scored
            .iter()
            .map(|(_, score, _)| (score - first).exp())
            .sum();
        let ranked = scored
            .iter()
            .enumerate()
            .map(|(at, (key, score, features))| {
                let share = (score - first).exp() / all.max(f32::MIN_POSITIVE);
                let lead = score - if at == 0 { second } else { first };
                Ranked {
                    key: *key,
                    score: *score,
                    confidence: self.confidence(share, lead, features),
                }
            });
        ranked.collect()
    }

    /// Returns documents with their scores and features. A document that is first by its words and has its whole name in
    /// the request stays first, however close others are.
    fn scored<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<(K, f32, Features)> {
        let (of_words, of_meaning) = RANKER.order.split_at(FEATURES - 1);
        let features = self.features(candidates);
        let by_words = features.iter();
        let by_words: Vec<f32> = by_words
            .map(|(_, features)| product(of_words, features))
            .collect();
        let first = (0..by_words.len()).reduce(|best, at| {
            let is_better = by_words[at].total_cmp(&by_words[best]).is_gt();
            if is_better { at } else { best }
        });
        let scores = features.into_iter().zip(&by_words);
        let scores = scores.map(|((key, features), by_words)| {
            let by_meaning = product(of_meaning, &features[FEATURES - 1..]);
            (key, by_words + by_meaning, features)
        });
        let mut ranked: Vec<(K, f32, Features)> = scores.collect();
        let most = ranked.iter().map(|(_, score, _)| *score);
        let most = most.fold(f32::MIN, f32::max);
        if let Some((_, score, features)) = first.map(|first| &mut ranked[first])
            && features[*NAMED] >= 1.0
            && *score < most
        {
            *score = most.next_up();
        }
        ranked
    }

    /// Returns how likely a document is right.
    fn confidence(&self, share: f32, lead: f32, features: &Features) -> f32 {
        let mut likely = [0.0; LIKELY];
        likely[0] = 1.0;
        likely[1] = share;
        likely[2] = lead;
        for (own, at) in likely[3..].iter_mut().zip(&*PLACES) {
            *own = features[*at];
        }
        likely[LIKELY - 1] = real(self.terms.len() as u64).ln_1p();
        1.0 / (1.0 + (-product(&RANKER.likely, &likely)).exp())
    }

    /// Returns documents with their features, the best by BM25F first.
    pub(super) fn features<'a, K: Ord + Copy>(
        &self,
        candidates: impl IntoIterator<Item = (K, &'a Document)>,
    ) -> Vec<(K, Features)> {
        let measure = QueryTotals::new(self);
        let looks = candidates.into_iter();
        let looks = looks.map(|(key, document)| (key, measure.look(document)));
        let mut looks: Vec<_> = looks.collect();
        looks.sort_by(|(a, one), (b, other)| other.score.total_cmp(&one.score).then(a.cmp(b)));
        let best = looks.first().map_or(0.0, |(_, first)| first.score);
        let close = self.closeness(looks.iter().map(|(_, look)| look.document));
        (0_u16..)
            .zip(looks.iter().zip(close))
            .map(|(rank, ((key, look), close))| {
                let place = Bm25Rank { best, rank };
                (*key, measure.features(look, &place, close))
            })
            .collect()
    }

    /// Returns how close documents are to the request by their meaning, in what is usual among them, so that it says the
    /// same whatever the model. Nothing where nothing tells.
    fn closeness<'a>(&self, documents: impl Iterator<Item = &'a Document>) -> Vec<f32> {
        let close = |document: &Document| {
            let (own, asked) = (document.embedding()?, self.meaning.as_ref()?);
            Some(own.similarity(asked))
        };
        let close: Vec<Option<f32>> = documents.map(close).collect();
        let known = close.iter().flatten();
        let count = real(known.clone().count().max(1) as u64);
        let mean = known.clone().sum::<f32>() / count;
        let spread = known.map(|one| (one - mean).powi(2)).sum::<f32>() / count;
        let spread = spread.sqrt().max(f32::EPSILON);
        let compared = close
            .iter()
            .map(|one| one.map_or(0.0, |one| (one - mean) / spread));
        compared.collect()
    }
}

/// Where the feature stands that is 1 where a request has the whole name of a skill.
static NAMED: LazyLock<usize> = LazyLock::new(|| {
    let place = names().iter().position(|name| name == "name.whole");
    place.unwrap_or(FEATURES - 1)
});

/// Where the features stand that a likelihood has too.
static PLACES: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let known = names();
    let names = LIKELY_NAMES[3..LIKELY - 1].iter();
    let place = |name: &&str| {
        let name = name.strip_prefix("likely.");
        known.iter().position(|own| Some(&**own) == name)
    };
    names.filter_map(place).collect()
});

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::search::features::MEANING;

    #[test]
    fn every_weight_that_is_written_is_that_of_a_feature() {
        let known = names();
        for line in WRITTEN.lines() {
            let (name, value) = line.split_once('\t').unwrap();
            let is_known = known.iter().any(|own| own == name) || LIKELY_NAMES.contains(&name);
            assert!(is_known, "{name}");
            assert!(value.parse::<f32>().unwrap().is_finite(), "{name}");
        }
        assert_eq!(known.len(), FEATURES);
        assert_eq!(known.last().map(String::as_str), Some(MEANING));
        assert_eq!(known[*NAMED], "name.whole");
        assert_eq!(PLACES.len(), LIKELY - 4);
    }
}
