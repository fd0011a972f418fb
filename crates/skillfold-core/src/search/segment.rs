//! An inverted index over some documents.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::search::bm25f::{CorpusStatistics, FieldNorms};
use crate::search::document::SearchDocument;
use crate::search::embedding::{QuantizedVector, QuantizedVectors};
use crate::search::query::WeightedQuery;
use crate::search::tokenizer::Term;

/// Documents with their postings and embeddings. A document's slot is its position.
pub(super) struct Segment {
    documents: Vec<Arc<SearchDocument>>,
    statistics: CorpusStatistics,
    /// Id of each term, which is its index in `ends`.
    term_ids: HashMap<Term, u32>,
    /// End of each term's postings, which start at the end of the previous term's.
    ends: Vec<u32>,
    postings: Vec<Posting>,
    embeddings: QuantizedVectors,
}

/// A document that has a term, with the term's score in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) slot: u32,
    pub(super) score: f32,
}

impl Segment {
    /// Indexes documents. Field lengths are normalized by the averages of `base`, if it has documents.
    pub(super) fn new(documents: Vec<Arc<SearchDocument>>, base: Option<&Self>) -> Self {
        let statistics: CorpusStatistics = documents.iter().map(|document| &**document).collect();
        let base = base.map(|base| base.statistics);
        let reference = base
            .filter(|base| base.documents() > 0)
            .unwrap_or(statistics);
        let averages = reference.average_lengths();
        let mut term_ids: HashMap<Term, u32> = HashMap::new();
        let mut ends: Vec<u32> = Vec::new();
        for term in documents.iter().flat_map(|document| document.terms()) {
            let id = *term_ids.entry(*term).or_insert_with(|| {
                ends.push(0);
                u32::try_from(ends.len() - 1).unwrap_or(u32::MAX)
            });
            ends[id as usize] += 1;
        }
        // Turn each count into the start of its list; filling the list advances it to the end.
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut postings = vec![Posting::default(); start as usize];
        for (slot, document) in (0..).zip(&documents) {
            let norms = FieldNorms::new(document.lengths(), &averages);
            for (term, counts) in document.term_counts() {
                let end = &mut ends[term_ids[&term] as usize];
                postings[*end as usize] = Posting {
                    slot,
                    score: norms.term_score(counts),
                };
                *end += 1;
            }
        }
        Self {
            embeddings: QuantizedVectors::new(
                documents.iter().map(|document| document.embedding()),
            ),
            documents,
            statistics,
            term_ids,
            ends,
            postings,
        }
    }

    pub(super) fn documents(&self) -> &[Arc<SearchDocument>] {
        &self.documents
    }

    pub(super) fn statistics(&self) -> &CorpusStatistics {
        &self.statistics
    }

    /// Returns the postings of a term, in slot order.
    pub(super) fn postings(&self, term: Term) -> &[Posting] {
        let Some(id) = self.term_ids.get(&term).map(|id| *id as usize) else {
            return &[];
        };
        let start = id.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.postings[start as usize..self.ends[id] as usize]
    }

    /// Returns up to `limit` documents with the best BM25F scores, in no particular order. `resolve` maps a slot to the
    /// caller's value, or to `None` if the document is not visible.
    pub(super) fn best_by_terms<T>(
        &self,
        query: &WeightedQuery,
        limit: usize,
        resolve: impl Fn(usize) -> Option<T>,
    ) -> Vec<(T, &SearchDocument)> {
        let mut scores = vec![0.0_f32; self.documents.len()];
        for (term, weight) in query.terms() {
            for posting in self.postings(term) {
                scores[posting.slot as usize] += weight * posting.score;
            }
        }
        self.top_scored(&scores, limit, resolve)
    }

    /// Returns up to `limit` documents with the most similar embeddings, in no particular order.
    pub(super) fn nearest<T>(
        &self,
        embedding: &QuantizedVector,
        limit: usize,
        resolve: impl Fn(usize) -> Option<T>,
    ) -> Vec<(T, &SearchDocument)> {
        self.top_scored(&self.embeddings.similarities(embedding), limit, resolve)
    }

    /// Returns the visible documents with the highest scores above 0.
    fn top_scored<T>(
        &self,
        scores: &[f32],
        limit: usize,
        resolve: impl Fn(usize) -> Option<T>,
    ) -> Vec<(T, &SearchDocument)> {
        let slots = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
        let mut slots: Vec<usize> = slots.map(|(slot, _)| slot).collect();
        let by_score = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        let (mut best, mut rest) = (Vec::new(), &mut slots[..]);
        // Invisible documents make room for the next best.
        while best.len() < limit && !rest.is_empty() {
            let wanted = (limit - best.len()).min(rest.len());
            if wanted < rest.len() {
                rest.select_nth_unstable_by(wanted, by_score);
            }
            let (top, remaining) = rest.split_at_mut(wanted);
            let top = top.iter();
            best.extend(top.filter_map(|slot| Some((resolve(*slot)?, &*self.documents[*slot]))));
            rest = remaining;
        }
        best
    }

    /// Returns the memory size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let documents = self.documents.iter().map(|document| document.bytes());
        documents.sum::<usize>()
            + size_of_val(&*self.postings)
            + size_of_val(&*self.ends)
            + self.embeddings.bytes()
            + self.term_ids.capacity() * size_of::<(Term, u32)>()
    }
}
