//! Ranking features, which separate relevant documents from those that merely contain the query terms.

use crate::search::bm25f::{FieldNorms, to_f32};
use crate::search::document::{FIELD_BREAK, FieldCounts, SearchDocument};
use crate::search::fields::{FIELD_COUNT, METADATA_FIELDS, SearchField};
use crate::search::query::WeightedQuery;

pub(super) const FEATURE_COUNT: usize = 26 + 2 * FIELD_COUNT;

/// The last feature: the z-score of the document's embedding similarity among the candidates, or 0 without embeddings.
pub(super) const SIMILARITY_FEATURE: &str = "meaning.usual";

/// The features of one document for one query, in the order of [`feature_names`].
pub(super) type Features = [f32; FEATURE_COUNT];

/// Maximum distance in words between two terms that count as near each other.
const PROXIMITY_WINDOW: usize = 3;

/// Returns the names of the features.
pub(super) fn feature_names() -> Vec<String> {
    let per_field =
        |prefix: &str| SearchField::ALL.map(|field| format!("{prefix}.{}", field.as_str()));
    let mut names: Vec<String> = ["score.share", "score.relative", "score.gap", "score.rank"]
        .map(str::to_owned)
        .into();
    names.extend(per_field("answers"));
    names.extend(per_field("covers"));
    let others = [
        "covers.any",
        "covers.described",
        "covers.rare.any",
        "covers.rare.described",
        "covers.rare.name",
        "terms.described",
        "terms.any",
        "name.share",
        "name.whole",
        "description.share",
        "rarest.described",
        "rarest.any",
        "three_rarest.described",
        "rarest.missing",
        "first_half.described",
        "second_half.described",
        "pairs.name",
        "pairs.described",
        "pairs.body",
        "near.described",
        "near.body",
        SIMILARITY_FEATURE,
    ];
    names.extend(others.map(str::to_owned));
    names
}

/// The query terms found in a document.
pub(super) struct DocumentMatch<'d> {
    /// The BM25F score.
    pub(super) score: f32,
    pub(super) document: &'d SearchDocument,
    norms: FieldNorms,
    /// For each query term, its index in the document and its field counts.
    terms: Vec<Option<(u16, FieldCounts)>>,
}

/// The BM25F rank of a document among the candidates.
pub(super) struct Bm25Rank {
    /// The highest BM25F score.
    pub(super) best_score: f32,
    pub(super) rank: u16,
}

/// Sums over the query terms, used to normalize the features of all documents.
pub(super) struct QueryTotals<'a> {
    query: &'a WeightedQuery,
    idf_sum: f32,
    idf_squared_sum: f32,
    /// Upper bound of the BM25F score.
    max_score: f32,
    max_idf: f32,
    /// The third highest IDF, or the lowest one of fewer terms.
    third_idf: f32,
    /// IDF sum of the terms with at least `third_idf`.
    top_three_idf: f32,
    /// IDF sum of all adjacent pairs.
    pair_idf_sum: f32,
}

impl<'a> QueryTotals<'a> {
    pub(super) fn new(query: &'a WeightedQuery) -> Self {
        let idfs = query.terms.iter().map(|term| term.idf);
        let mut sorted: Vec<f32> = idfs.clone().collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let third_idf = sorted.get(2).or(sorted.last()).copied().unwrap_or_default();
        let min = f32::MIN_POSITIVE.sqrt();
        let idf = |term: u8| query.terms[usize::from(term)].idf;
        let pairs = query.pairs.iter().map(|(a, b)| idf(*a) + idf(*b));
        Self {
            idf_sum: idfs.clone().sum::<f32>().max(min),
            idf_squared_sum: idfs.clone().map(|idf| idf * idf).sum::<f32>().max(min),
            max_score: query
                .terms()
                .map(|(_, weight)| weight)
                .sum::<f32>()
                .max(min),
            max_idf: sorted.first().copied().unwrap_or_default().max(min),
            third_idf,
            top_three_idf: idfs.filter(|idf| *idf >= third_idf).sum::<f32>().max(min),
            pair_idf_sum: pairs.sum::<f32>().max(min),
            query,
        }
    }

    /// Finds the query terms in a document and computes its BM25F score.
    pub(super) fn match_document<'d>(&self, document: &'d SearchDocument) -> DocumentMatch<'d> {
        let norms = FieldNorms::new(document.lengths(), &self.query.average_lengths);
        let query_terms = self.query.terms.iter();
        let terms: Vec<_> = query_terms
            .map(|term| document.find_term(term.term))
            .collect();
        let scores = self.query.terms.iter().zip(&terms);
        let scores = scores.filter_map(|(term, found)| {
            let (_, counts) = found.as_ref()?;
            Some(term.weight * norms.term_score(*counts))
        });
        DocumentMatch {
            score: scores.sum(),
            document,
            norms,
            terms,
        }
    }

    /// Returns the features of a document. `similarity` is the z-score of its embedding similarity.
    pub(super) fn features(
        &self,
        matched: &DocumentMatch<'_>,
        rank: &Bm25Rank,
        similarity: f32,
    ) -> Features {
        let mut values = Vec::with_capacity(FEATURE_COUNT);
        values.extend([
            matched.score / self.max_score,
            matched.score / rank.best_score.max(f32::MIN_POSITIVE),
            (rank.best_score - matched.score) / self.max_score,
            f32::from(rank.rank).ln_1p(),
        ]);
        self.push_field_features(matched, &mut values);
        self.push_coverage_features(matched.document, &matched.terms, &mut values);
        self.push_proximity_features(matched.document, &matched.terms, &mut values);
        values.push(similarity);
        let mut features = [0.0; FEATURE_COUNT];
        features
            .iter_mut()
            .zip(values)
            .for_each(|(feature, value)| *feature = value);
        features
    }

    /// Adds the score and the query coverage of each field.
    fn push_field_features(&self, matched: &DocumentMatch<'_>, values: &mut Vec<f32>) {
        let (mut scores, mut coverage) = ([0.0; FIELD_COUNT], [0.0; FIELD_COUNT]);
        for (term, found) in self.query.terms.iter().zip(&matched.terms) {
            let Some((_, counts)) = found else { continue };
            for field in SearchField::ALL {
                let count = counts.get(field);
                if count > 0 {
                    scores[field as usize] += term.idf * matched.norms.field_score(field, count);
                    coverage[field as usize] += term.idf;
                }
            }
        }
        values.extend(scores.map(|sum| sum / self.idf_sum));
        values.extend(coverage.map(|sum| sum / self.idf_sum));
    }

    /// Adds how much of the query the document covers, and which share of its name and description that is.
    fn push_coverage_features(
        &self,
        document: &SearchDocument,
        found: &[Option<(u16, FieldCounts)>],
        values: &mut Vec<f32>,
    ) {
        let (mut any, mut described, mut named) = (
            TermCoverage::default(),
            TermCoverage::default(),
            TermCoverage::default(),
        );
        let (mut in_description, mut top_three, mut missing) = (0.0, 0.0, 0.0_f32);
        let mut halves = [0.0; 2];
        for (position, (term, found)) in self.query.terms.iter().zip(found).enumerate() {
            let counts = found.map(|(_, counts)| counts).unwrap_or_default();
            let has = |field: SearchField| counts.get(field) > 0;
            if found.is_some() {
                any.add(term.idf);
            }
            if has(SearchField::Name) {
                named.add(term.idf);
            }
            in_description += f32::from(u8::from(has(SearchField::Description)));
            if METADATA_FIELDS.into_iter().any(has) {
                described.add(term.idf);
                top_three += if term.idf >= self.third_idf {
                    term.idf
                } else {
                    0.0
                };
                halves[usize::from(2 * position >= self.query.terms.len())] += term.idf;
            } else {
                missing = missing.max(term.idf);
            }
        }
        let terms = to_f32(self.query.terms.len().max(1) as u64);
        let length = |field: SearchField| f32::from(document.lengths()[field as usize].max(1));
        values.extend([any.idf_sum / self.idf_sum, described.idf_sum / self.idf_sum]);
        values.extend(
            [any, described, named].map(|coverage| coverage.idf_squared_sum / self.idf_squared_sum),
        );
        values.extend([described.count / terms, any.count / terms]);
        let share = (named.count / length(SearchField::Name)).min(1.0);
        values.extend([share, if share >= 1.0 { 1.0 } else { 0.0 }]);
        values.push(in_description / length(SearchField::Description));
        values.extend([described.max_idf / self.max_idf, any.max_idf / self.max_idf]);
        values.extend([top_three / self.top_three_idf, missing / self.max_idf]);
        values.extend(halves.map(|sum| sum / self.idf_sum));
    }

    /// Adds how many of the query's term pairs are adjacent or near each other in the document.
    fn push_proximity_features(
        &self,
        document: &SearchDocument,
        found: &[Option<(u16, FieldCounts)>],
        values: &mut Vec<f32>,
    ) {
        let mut query_terms = vec![None; document.terms().len()];
        for (query_term, found) in (0..).zip(found) {
            if let Some((index, _)) = found {
                query_terms[usize::from(*index)] = Some(query_term);
            }
        }
        let proximities = document
            .sequences()
            .map(|sequence| self.proximity(sequence, &query_terms));
        values.extend(
            proximities
                .iter()
                .map(|proximity| proximity.pairs / self.pair_idf_sum),
        );
        values.extend(
            proximities[1..]
                .iter()
                .map(|proximity| proximity.near / self.pair_idf_sum),
        );
    }

    /// Returns the IDF of the query's term pairs that are adjacent or near each other in a text, counting each pair
    /// once. `query_terms` maps term indices of the document to those of the query.
    fn proximity(&self, sequence: &[u16], query_terms: &[Option<u8>]) -> Proximity {
        let (mut pairs, mut near_pairs) = (PairSet::default(), PairSet::default());
        let idf = |term: u8| self.query.terms[usize::from(term)].idf;
        let mut proximity = Proximity::default();
        let mut last: Option<(usize, u8)> = None;
        for (position, index) in sequence.iter().enumerate() {
            if *index == FIELD_BREAK {
                last = None;
                continue;
            }
            let Some(term) = query_terms[usize::from(*index)] else {
                continue;
            };
            if let Some((previous_position, previous)) =
                last.filter(|(_, previous)| *previous != term)
            {
                let pair_idf = idf(previous) + idf(term);
                if position - previous_position == 1
                    && self.query.pairs.binary_search(&(previous, term)).is_ok()
                    && pairs.insert(previous, term)
                {
                    proximity.pairs += pair_idf;
                }
                if position - previous_position <= PROXIMITY_WINDOW
                    && near_pairs.insert(previous.min(term), previous.max(term))
                {
                    proximity.near += pair_idf;
                }
            }
            last = Some((position, term));
        }
        proximity
    }
}

/// A set of term pairs, as a bit matrix.
struct PairSet([u64; 64]);

impl Default for PairSet {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl PairSet {
    /// Adds a pair and returns whether it is new. A query has fewer than 64 terms.
    fn insert(&mut self, first: u8, second: u8) -> bool {
        let (row, bit) = (&mut self.0[usize::from(first & 63)], 1 << (second & 63));
        let is_new = *row & bit == 0;
        *row |= bit;
        is_new
    }
}

/// The query terms covered by a document or a field.
#[derive(Clone, Copy, Default)]
struct TermCoverage {
    idf_sum: f32,
    idf_squared_sum: f32,
    count: f32,
    max_idf: f32,
}

impl TermCoverage {
    fn add(&mut self, idf: f32) {
        self.idf_sum += idf;
        self.idf_squared_sum += idf * idf;
        self.count += 1.0;
        self.max_idf = self.max_idf.max(idf);
    }
}

/// IDF sums of the query's term pairs in a text.
#[derive(Default)]
struct Proximity {
    /// Pairs that are adjacent in the same order.
    pairs: f32,
    /// Pairs within [`PROXIMITY_WINDOW`], in any order.
    near: f32,
}
