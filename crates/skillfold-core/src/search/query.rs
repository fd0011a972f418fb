//! Search queries and their term weights.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::error::Error;
use crate::excerpt::Excerpt;
use crate::search::bm25f::{AverageLengths, CorpusStatistics, idf, to_f32};
use crate::search::embedding::QuantizedVector;
use crate::search::tokenizer::{Term, Tokenizer};

/// Maximum bytes of a request to use: half from its start, half from its end.
const QUERY_BYTES: usize = 16 * 1024;
/// Maximum terms to search for, by weight.
const MAX_WEIGHTED_TERMS: usize = 60;
/// Position in the request, in terms, at which a term weighs half as much: people state first what they want.
const HALF_WEIGHT_POSITION: f32 = 40.0;

/// A tokenized request.
#[derive(Clone, Debug)]
pub struct Query {
    /// Distinct terms, in order of first occurrence.
    terms: Vec<Term>,
    /// All terms of the request in order, as indices into `terms`.
    sequence: Vec<u16>,
    unread: Option<Range<usize>>,
    /// The embedding of the request, if there is an embedder.
    embedding: Option<QuantizedVector>,
    /// Why embedding failed, if it did.
    problem: Option<Arc<str>>,
}

impl Query {
    /// Tokenizes a request.
    pub fn new(request: &str) -> Self {
        let excerpt = Excerpt::new(request, QUERY_BYTES);
        let mut indices: HashMap<Term, u16> = HashMap::new();
        let (mut terms, mut sequence) = (Vec::new(), Vec::new());
        Tokenizer::new().for_each_term(&excerpt.text, |term, _| {
            let next = u16::try_from(terms.len()).unwrap_or(u16::MAX);
            let index = *indices.entry(term).or_insert(next);
            if index == next {
                terms.push(term);
            }
            sequence.push(index);
        });
        Self {
            terms,
            sequence,
            unread: excerpt.unread,
            embedding: None,
            problem: None,
        }
    }

    /// Sets the embedding of the request.
    #[must_use]
    pub fn with_embedding(mut self, embedding: Option<QuantizedVector>) -> Self {
        self.embedding = embedding;
        self
    }

    /// Sets why embedding the request failed.
    pub(super) fn with_problem(mut self, error: &Error) -> Self {
        self.problem = Some(error.with_cause().into());
        self
    }

    /// Returns why embedding the request failed, if it did. The search then uses words only.
    pub fn embedding_error(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns the embedding of the request, if any.
    pub fn embedding(&self) -> Option<&QuantizedVector> {
        self.embedding.as_ref()
    }

    /// Returns the distinct terms.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Term> {
        self.terms.iter().copied()
    }

    /// Returns the byte range in the middle of a too long request that was ignored.
    pub fn unread(&self) -> Option<Range<usize>> {
        self.unread.clone()
    }

    /// Returns whether the query has no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// A query with its terms weighted by IDF and position.
#[derive(Clone, Debug)]
pub struct WeightedQuery {
    /// The terms to search for, in the order of the request.
    pub(super) terms: Vec<WeightedTerm>,
    /// Distinct pairs of these terms that are adjacent in the request, sorted.
    pub(super) pairs: Vec<(u8, u8)>,
    pub(super) average_lengths: AverageLengths,
    pub(super) embedding: Option<QuantizedVector>,
}

/// A term to search for.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightedTerm {
    pub(super) term: Term,
    pub(super) idf: f32,
    /// The IDF, reduced the later the term occurs in the request.
    pub(super) weight: f32,
}

impl WeightedQuery {
    /// Weights the terms of a query. `document_frequency` returns the number of documents with a term.
    pub fn new(
        query: &Query,
        statistics: &CorpusStatistics,
        document_frequency: impl Fn(Term) -> u64,
    ) -> Self {
        let mut first_position = vec![0_u64; query.terms.len()];
        for (position, index) in query.sequence.iter().enumerate().rev() {
            first_position[usize::from(*index)] = position as u64;
        }
        let weigh = |(index, term): (u16, &Term)| {
            let idf = idf(statistics.documents(), document_frequency(*term));
            let weight =
                idf / (1.0 + to_f32(first_position[usize::from(index)]) / HALF_WEIGHT_POSITION);
            let term = WeightedTerm {
                term: *term,
                idf,
                weight,
            };
            (index, term)
        };
        let mut terms: Vec<(u16, WeightedTerm)> = (0..).zip(&query.terms).map(weigh).collect();
        if terms.len() > MAX_WEIGHTED_TERMS {
            terms.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(&b.0)));
            terms.truncate(MAX_WEIGHTED_TERMS);
            terms.sort_by_key(|(index, _)| *index);
        }
        Self {
            pairs: adjacent_pairs(&query.sequence, &terms),
            terms: terms.into_iter().map(|(_, term)| term).collect(),
            average_lengths: statistics.average_lengths(),
            embedding: query.embedding.clone(),
        }
    }

    /// Returns the terms to search for with their weights.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (Term, f32)> {
        self.terms.iter().map(|term| (term.term, term.weight))
    }
}

/// Returns the distinct pairs of terms that are adjacent in a request, as indices into `terms`, sorted.
fn adjacent_pairs(sequence: &[u16], terms: &[(u16, WeightedTerm)]) -> Vec<(u8, u8)> {
    let position = |index: &u16| {
        let found = terms.binary_search_by_key(index, |(index, _)| *index);
        u8::try_from(found.ok()?).ok()
    };
    let adjacent = sequence.windows(2).filter(|pair| pair[0] != pair[1]);
    let adjacent = adjacent.filter_map(|pair| Some((position(&pair[0])?, position(&pair[1])?)));
    let mut pairs: Vec<(u8, u8)> = adjacent.collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
