//! How likely a message needs a skill, although nobody searched for one.
//!
//! Most messages need none, and have words of some skill all the same. What counts is how much of a message a skill covers,
//! and whether these words are rare in general and not only among the installed skills. The weights were fitted by
//! `bench/train_activation.py`; no feature looks at the style of a message.

use std::sync::LazyLock;

use crate::search::bm25f::to_f32;
use crate::search::common_words::rarity;
use crate::search::document::SearchDocument;
use crate::search::fields::{METADATA_FIELDS, SearchField};
use crate::search::query::WeightedQuery;

pub(super) const ACTIVATION_COUNT: usize = 21;

/// The features. Those from the fifth to the ninth are ranking features.
pub(super) const ACTIVATION_NAMES: [&str; ACTIVATION_COUNT] = [
    "always",
    "share",
    "lead",
    "first",
    "covers.described",
    "covers.any",
    "score.share",
    "rarest.missing",
    "name.share",
    "terms",
    "rare.described",
    "rare.name",
    "rare.any",
    "rare.described.share",
    "rare.any.share",
    "rarest",
    "rarest.two",
    "rarest.three",
    "rare.total",
    "count.described",
    "count.terms",
];

/// The weights: a name and a value per line.
const WEIGHTS_TSV: &str = include_str!("activation.tsv");

static WEIGHTS: LazyLock<[f32; ACTIVATION_COUNT]> =
    LazyLock::new(|| ACTIVATION_NAMES.map(|name| find_weight(WEIGHTS_TSV, name)));

/// What the ranker knows of a document.
pub(super) struct RankedDocument<'d> {
    pub(super) document: &'d SearchDocument,
    /// Its softmax share of all scores.
    pub(super) share: f32,
    /// Its distance to the best other document.
    pub(super) lead: f32,
    pub(super) is_first: bool,
    /// Its ranking features that count.
    pub(super) shared: [f32; 5],
}

/// Returns the features of a document for a message.
pub(super) fn activation_features(
    query: &WeightedQuery,
    ranked: &RankedDocument<'_>,
) -> [f32; ACTIVATION_COUNT] {
    let mut described = Vec::new();
    let (mut named, mut any, mut total) = (0.0, 0.0, 0.0);
    for term in &query.terms {
        let rarity = f32::from(rarity(term.term));
        total += rarity;
        let Some((_, counts)) = ranked.document.find_term(term.term) else {
            continue;
        };
        any += rarity;
        if counts.get(SearchField::Name) > 0 {
            named += rarity;
        }
        if METADATA_FIELDS
            .into_iter()
            .any(|field| counts.get(field) > 0)
        {
            described.push(rarity);
        }
    }
    described.sort_by(|a, b| b.total_cmp(a));
    let rarest = |count: usize| described.iter().take(count).sum::<f32>();
    let terms = to_f32(query.terms.len() as u64);
    let share = |part: f32| part / (total + f32::EPSILON);
    let all: f32 = described.iter().sum();
    let mut values = [0.0; ACTIVATION_COUNT];
    values[..4].copy_from_slice(&[
        1.0,
        ranked.share,
        ranked.lead,
        f32::from(u8::from(ranked.is_first)),
    ]);
    values[4..9].copy_from_slice(&ranked.shared);
    values[9..].copy_from_slice(&[
        terms.ln_1p(),
        all,
        named,
        any,
        share(all),
        share(any),
        rarest(1),
        rarest(2),
        rarest(3),
        total,
        to_f32(described.len() as u64),
        terms,
    ]);
    values
}

/// Returns how likely a message needs a document with these features, by logistic regression.
pub(super) fn activation(features: &[f32; ACTIVATION_COUNT]) -> f32 {
    let sum: f32 = WEIGHTS.iter().zip(features).map(|(a, b)| a * b).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// Returns the weight of a name in lines of names and weights, or 0.
pub(super) fn find_weight(lines: &str, name: &str) -> f32 {
    let mut lines = lines.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_weight() {
        let names: Vec<_> = WEIGHTS_TSV
            .lines()
            .map(|line| line.split_once('\t'))
            .collect();
        let names: Vec<_> = names.into_iter().flatten().map(|(name, _)| name).collect();
        assert_eq!(names, ACTIVATION_NAMES);
        assert!(WEIGHTS.iter().all(|weight| weight.is_finite()));
    }
}
