//! How well a document answers a term: BM25F, one saturation over weighted fields.
//!
//! A sum of one score per field lets a word that stands in each of them count several times; here a field only says how
//! much an occurrence is worth.

use crate::choose::search::document::{Document, FieldCounts, Lengths};
use crate::choose::search::fields::{FIELDS, SearchField};
use crate::choose::search::tokenizer::Term;

/// What an occurrence in each field is worth.
const WEIGHTS: [f32; FIELDS] = [7.0, 8.0, 5.0, 7.0, 0.4, 0.7, 0.6, 0.25, 0.45, 0.4];
/// How much a long field takes from an occurrence in it.
const LENGTHS: [f32; FIELDS] = [0.3, 0.5, 0.5, 0.3, 0.7, 0.3, 0.3, 0.9, 0.5, 0.7];
/// From how many weighted occurrences on the next one adds less than half.
const SATURATION: f32 = 1.5;

/// What is known of all documents together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStatistics {
    documents: u64,
    /// How many terms each field has, over all documents.
    lengths: [u64; FIELDS],
}

impl CorpusStatistics {
    /// Takes a document in.
    pub fn add(&mut self, document: &Document) {
        self.documents += 1;
        for (field, length) in document.lengths().iter().enumerate() {
            self.lengths[field] += u64::from(*length);
        }
    }

    /// Takes a document out that was taken in before.
    pub fn remove(&mut self, document: &Document) {
        self.documents = self.documents.saturating_sub(1);
        for (field, length) in document.lengths().iter().enumerate() {
            self.lengths[field] = self.lengths[field].saturating_sub(u64::from(*length));
        }
    }

    /// Returns how many documents there are.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Writes it down: everything as numbers of fixed width, the smallest byte first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.documents].into_iter().chain(self.lengths);
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    /// Reads what was written down; nothing, if it is not that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() || numbers.len() != 1 + FIELDS {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(numbers[at]);
        Some(Self {
            documents: number(0),
            lengths: std::array::from_fn(|field| number(1 + field)),
        })
    }

    /// Returns how long each field is in the middle.
    pub(super) fn averages(&self) -> AverageLengths {
        AverageLengths(std::array::from_fn(|field| {
            real(self.lengths[field]) / real(self.documents.max(1))
        }))
    }
}

impl<'a> FromIterator<&'a Document> for CorpusStatistics {
    fn from_iter<I: IntoIterator<Item = &'a Document>>(documents: I) -> Self {
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

/// How long each field is in the middle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct AverageLengths([f32; FIELDS]);

/// How much each occurrence counts in one document.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldNorms {
    /// By the length of each field.
    lengths: [f32; FIELDS],
    /// By the length and the weight of each field.
    weighted: [f32; FIELDS],
}

impl FieldNorms {
    pub(super) fn new(lengths: &Lengths, averages: &AverageLengths) -> Self {
        let lengths: [f32; FIELDS] = std::array::from_fn(|field| {
            let average = averages.0[field];
            let relative = if average > 0.0 {
                f32::from(lengths[field]) / average
            } else {
                1.0
            };
            1.0 / (1.0 - LENGTHS[field] + LENGTHS[field] * relative)
        });
        Self {
            lengths,
            weighted: std::array::from_fn(|field| WEIGHTS[field] * lengths[field]),
        }
    }

    /// Returns how well a document answers a term that stands in it so often, between 0 and 1.
    pub(super) fn answers(&self, counts: FieldCounts) -> f32 {
        let counts = counts.each().into_iter();
        let worth: f32 = (counts.zip(self.weighted))
            .map(|(count, worth)| worth * f32::from(count))
            .sum();
        worth / (SATURATION + worth)
    }

    /// Returns how well a field answers a term on its own that stands in it so often, between 0 and 1.
    pub(super) fn alone(&self, field: SearchField, count: u8) -> f32 {
        let worth = self.lengths[field as usize] * f32::from(count);
        worth / (1.0 + worth)
    }
}

impl Document {
    /// Returns each term with how much it counts in the document, as a whole number: one field in which it stands so often
    /// tells nearly as much as all fields with their weights.
    pub fn weighted_terms(&self) -> impl Iterator<Item = (Term, u16)> {
        self.all_counts().map(|(term, counts)| {
            let weighted = WEIGHTS.iter().zip(counts.each());
            let worth: f32 = weighted
                .map(|(weight, count)| weight * f32::from(count))
                .sum();
            (term, whole(worth))
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of a few weighted bytes, between 1 and 65,535"
)]
fn whole(worth: f32) -> u16 {
    worth.round().clamp(1.0, f32::from(u16::MAX)) as u16
}

/// Returns how much a term says, which so many of all documents have.
pub(super) fn rarity(documents: u64, with_term: u64) -> f32 {
    let (all, with_term) = (real(documents), real(with_term));
    (1.0 + (all - with_term + 0.5).max(0.0) / (with_term + 0.5)).ln()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of documents and terms; a millionth does not matter"
)]
pub(super) fn real(count: u64) -> f32 {
    count as f32
}
