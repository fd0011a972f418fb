//! How likely a message needs a skill, although nobody searched for one.
//!
//! Most messages need none, and have words of some skill all the same. What counts is how much of a message a skill covers,
//! whether these words are rare in general and not only among the installed skills, and whether more of them are where a skill
//! says what it is not for. The weights were fitted by `bench/train_activation.py`; no feature looks at the style of a message.

use std::sync::LazyLock;

use crate::search::bm25f::to_f32;
use crate::search::common_words::rarity;
use crate::search::document::SearchDocument;
use crate::search::fields::{PURPOSE_FIELDS, SearchField};
use crate::search::query::WeightedQuery;

pub(super) const ACTIVATION_COUNT: usize = 22;

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
    "excluded.lead",
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
    let (mut described, mut excluded) = (Vec::new(), Vec::new());
    let (mut named, mut any, mut total) = (0.0, 0.0, 0.0);
    for term in &query.terms {
        let rarity = f32::from(rarity(term.term));
        total += rarity;
        let Some((index, counts)) = ranked.document.find_term(term.term) else {
            continue;
        };
        any += rarity;
        if counts.get(SearchField::Name) > 0 {
            named += rarity;
        }
        let is_described = PURPOSE_FIELDS
            .into_iter()
            .any(|field| counts.get(field) > 0);
        if is_described {
            described.push(rarity);
        }
        if counts.get(SearchField::Excluded) > 0 {
            excluded.push((index, rarity));
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
        (nearest_clause(ranked.document, &excluded) - all).max(0.0),
    ]);
    values
}

/// Returns the rarity of the terms of a message that one clause about what a skill is not for has, in sum; of the clause with the
/// most. `excluded` has the message's terms in any clause.
fn nearest_clause(document: &SearchDocument, excluded: &[(u16, f32)]) -> f32 {
    if excluded.is_empty() {
        return 0.0;
    }
    let in_clause = |clause: &[u16]| -> f32 {
        let found = excluded.iter().filter(|(index, _)| clause.contains(index));
        found.map(|(_, rarity)| rarity).sum()
    };
    document
        .excluded_clauses()
        .map(in_clause)
        .fold(0.0, f32::max)
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
