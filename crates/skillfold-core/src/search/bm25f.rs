//! BM25F term scores: one saturation over weighted fields.
//!
//! A sum of per-field scores would count a word in several fields several times. Here a field only sets the weight of
//! an occurrence.

use crate::search::document::{FieldCounts, FieldLengths, SearchDocument};
use crate::search::fields::{FIELD_COUNT, SearchField};
use crate::search::tokenizer::Term;

/// Weight of an occurrence in each field.
const FIELD_WEIGHTS: [f32; FIELD_COUNT] = [7.0, 8.0, 5.0, 7.0, 0.4, 0.7, 0.6, 0.25, 0.45, 0.4];
/// Strength of length normalization for each field, the `b` of BM25F.
const LENGTH_NORMALIZATION: [f32; FIELD_COUNT] = [0.3, 0.5, 0.5, 0.3, 0.7, 0.3, 0.3, 0.9, 0.5, 0.7];
/// Weighted term frequency at which a term reaches half of its maximum score, the `k1` of BM25F.
const SATURATION: f32 = 1.5;

/// Document count and field lengths of a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStatistics {
    documents: u64,
    /// Total number of terms in each field.
    lengths: [u64; FIELD_COUNT],
}

impl CorpusStatistics {
    /// Adds a document.
    pub fn add(&mut self, document: &SearchDocument) {
        self.documents += 1;
        for (field, length) in document.lengths().iter().enumerate() {
            self.lengths[field] += u64::from(*length);
        }
    }

    /// Removes a document that was added before.
    pub fn remove(&mut self, document: &SearchDocument) {
        self.documents = self.documents.saturating_sub(1);
        for (field, length) in document.lengths().iter().enumerate() {
            self.lengths[field] = self.lengths[field].saturating_sub(u64::from(*length));
        }
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Serializes the statistics as little-endian 64-bit integers.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.documents].into_iter().chain(self.lengths);
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    /// Deserializes the statistics, or returns `None` if the bytes are not valid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() || numbers.len() != 1 + FIELD_COUNT {
            return None;
        }
        let number = |index: usize| u64::from_le_bytes(numbers[index]);
        Some(Self {
            documents: number(0),
            lengths: std::array::from_fn(|field| number(1 + field)),
        })
    }

    /// Returns the average length of each field.
    pub(super) fn average_lengths(&self) -> AverageLengths {
        AverageLengths(std::array::from_fn(|field| {
            to_f32(self.lengths[field]) / to_f32(self.documents.max(1))
        }))
    }
}

impl<'a> FromIterator<&'a SearchDocument> for CorpusStatistics {
    fn from_iter<I: IntoIterator<Item = &'a SearchDocument>>(documents: I) -> Self {
        let mut statistics = Self::default();
        for document in documents {
            statistics.add(document);
        }
        statistics
    }
}

impl std::iter::Sum for CorpusStatistics {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            documents: sum.documents + one.documents,
            lengths: std::array::from_fn(|field| sum.lengths[field] + one.lengths[field]),
        })
    }
}

/// The average number of terms in each field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct AverageLengths([f32; FIELD_COUNT]);

/// Factors by which an occurrence counts in each field of one document.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldNorms {
    /// Length norm of each field.
    norms: [f32; FIELD_COUNT],
    /// Length norm times weight of each field.
    weighted_norms: [f32; FIELD_COUNT],
}

impl FieldNorms {
    pub(super) fn new(lengths: &FieldLengths, averages: &AverageLengths) -> Self {
        let norms: [f32; FIELD_COUNT] = std::array::from_fn(|field| {
            let average = averages.0[field];
            let relative = if average > 0.0 {
                f32::from(lengths[field]) / average
            } else {
                1.0
            };
            1.0 / (1.0 - LENGTH_NORMALIZATION[field] + LENGTH_NORMALIZATION[field] * relative)
        });
        Self {
            norms,
            weighted_norms: std::array::from_fn(|field| FIELD_WEIGHTS[field] * norms[field]),
        }
    }

    /// Returns the BM25F score of a term with these counts, without IDF, between 0 and 1.
    pub(super) fn term_score(&self, counts: FieldCounts) -> f32 {
        let counts = counts.to_array().into_iter();
        let frequency: f32 = (counts.zip(self.weighted_norms))
            .map(|(count, norm)| norm * f32::from(count))
            .sum();
        frequency / (SATURATION + frequency)
    }

    /// Returns the score of a term within a single field, unweighted and without IDF, between 0 and 1.
    pub(super) fn field_score(&self, field: SearchField, count: u8) -> f32 {
        let frequency = self.norms[field as usize] * f32::from(count);
        frequency / (1.0 + frequency)
    }
}

impl SearchDocument {
    /// Returns each term with its weighted frequency, rounded. A single field in which terms have these frequencies
    /// ranks documents almost as all weighted fields do.
    pub fn weighted_terms(&self) -> impl Iterator<Item = (Term, u16)> {
        self.term_counts().map(|(term, counts)| {
            let weighted = FIELD_WEIGHTS.iter().zip(counts.to_array());
            let frequency: f32 = weighted
                .map(|(weight, count)| weight * f32::from(count))
                .sum();
            (term, round_frequency(frequency))
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of a few weighted bytes, between 1 and 65,535"
)]
fn round_frequency(frequency: f32) -> u16 {
    frequency.round().clamp(1.0, f32::from(u16::MAX)) as u16
}

/// Returns the IDF of a term found in `with_term` of `documents` documents.
pub(super) fn idf(documents: u64, with_term: u64) -> f32 {
    let (total, with_term) = (to_f32(documents), to_f32(with_term));
    (1.0 + (total - with_term + 0.5).max(0.0) / (with_term + 0.5)).ln()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of documents and terms; rounding does not matter"
)]
pub(super) fn to_f32(count: u64) -> f32 {
    count as f32
}
