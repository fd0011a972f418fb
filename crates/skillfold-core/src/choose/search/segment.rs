//! Documents, inverted: for each term, which of them have it.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::choose::search::bm25f::{CorpusStatistics, FieldNorms};
use crate::choose::search::document::Document;
use crate::choose::search::embedding::{QuantizedVector, QuantizedVectors};
use crate::choose::search::query::WeightedQuery;
use crate::choose::search::tokenizer::Term;

/// Documents that are searched together.
pub(super) struct Segment {
    documents: Vec<Arc<Document>>,
    statistics: CorpusStatistics,
    /// The number of each term, by which its documents are found.
    numbers: HashMap<Term, u32>,
    /// Where the documents of each term end among the postings; they start where those of the term before end.
    ends: Vec<u32>,
    postings: Vec<Posting>,
    /// What the documents mean, where something tells.
    meanings: QuantizedVectors,
}

/// A document that has a term, and how well it answers it.
#[derive(Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) slot: u32,
    pub(super) answers: f32,
}

impl Segment {
    /// Inverts documents; they are compared with those of another segment, where there is one.
    pub(super) fn new(documents: Vec<Arc<Document>>, base: Option<&Self>) -> Self {
        let statistics: CorpusStatistics = documents.iter().map(|document| &**document).collect();
        let base = base.map(|base| base.statistics);
        let compared = base
            .filter(|base| base.documents() > 0)
            .unwrap_or(statistics);
        let averages = compared.averages();
        let mut numbers: HashMap<Term, u32> = HashMap::new();
        let mut ends: Vec<u32> = Vec::new();
        for term in documents.iter().flat_map(|document| document.terms()) {
            let number = *numbers.entry(*term).or_insert_with(|| {
                ends.push(0);
                u32::try_from(ends.len() - 1).unwrap_or(u32::MAX)
            });
            ends[number as usize] += 1;
        }
        // Each count becomes the place where the list starts, which filling it moves to its end.
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut postings = vec![Posting::default(); start as usize];
        for (slot, document) in (0..).zip(&documents) {
            let worth = FieldNorms::new(document.lengths(), &averages);
            for (term, counts) in document.all_counts() {
                let end = &mut ends[numbers[&term] as usize];
                postings[*end as usize] = Posting {
                    slot,
                    answers: worth.answers(counts),
                };
                *end += 1;
            }
        }
        Self {
            meanings: QuantizedVectors::new(documents.iter().map(|document| document.embedding())),
            documents,
            statistics,
            numbers,
            ends,
            postings,
        }
    }

    pub(super) fn documents(&self) -> &[Arc<Document>] {
        &self.documents
    }

    pub(super) fn statistics(&self) -> &CorpusStatistics {
        &self.statistics
    }

    /// Returns the documents that have a term, in order.
    pub(super) fn postings(&self, term: Term) -> &[Posting] {
        let Some(number) = self.numbers.get(&term).map(|number| *number as usize) else {
            return &[];
        };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.postings[start as usize..self.ends[number] as usize]
    }

    /// Returns the documents that answer a request best by its terms alone, at most so many, in no order; `seen` tells which
    /// of them may be seen, and as what.
    pub(super) fn best<T>(
        &self,
        weighed: &WeightedQuery,
        limit: usize,
        seen: impl Fn(usize) -> Option<T>,
    ) -> Vec<(T, &Document)> {
        let mut scores = vec![0.0_f32; self.documents.len()];
        for (term, weight) in weighed.terms() {
            for posting in self.postings(term) {
                scores[posting.slot as usize] += weight * posting.answers;
            }
        }
        self.first(&scores, limit, seen)
    }

    /// Returns the documents that are closest to a request by their meaning, at most so many, in no order.
    pub(super) fn nearest<T>(
        &self,
        meaning: &QuantizedVector,
        limit: usize,
        seen: impl Fn(usize) -> Option<T>,
    ) -> Vec<(T, &Document)> {
        self.first(&self.meanings.closeness(meaning), limit, seen)
    }

    /// Returns the documents with the highest scores above 0 of those that may be seen.
    fn first<T>(
        &self,
        scores: &[f32],
        limit: usize,
        seen: impl Fn(usize) -> Option<T>,
    ) -> Vec<(T, &Document)> {
        let found = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
        let mut found: Vec<usize> = found.map(|(slot, _)| slot).collect();
        let better = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        let (mut best, mut rest) = (Vec::new(), &mut found[..]);
        // Those that may not be seen make room for the next.
        while best.len() < limit && !rest.is_empty() {
            let wanted = (limit - best.len()).min(rest.len());
            if wanted < rest.len() {
                rest.select_nth_unstable_by(wanted, better);
            }
            let (first, others) = rest.split_at_mut(wanted);
            let first = first.iter();
            best.extend(first.filter_map(|slot| Some((seen(*slot)?, &*self.documents[*slot]))));
            rest = others;
        }
        best
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let documents = self.documents.iter().map(|document| document.bytes());
        documents.sum::<usize>()
            + size_of_val(&*self.postings)
            + size_of_val(&*self.ends)
            + self.meanings.bytes()
            + self.numbers.capacity() * size_of::<(Term, u32)>()
    }
}
