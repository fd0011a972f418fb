//! The best documents of one commit.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use skillfold_core::{Document, Query, WeightedQuery};
use tantivy::query::{BooleanQuery, EnableScoring, Query as _, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Score, TantivyError};

use crate::disk::key::Key;
use crate::disk::opened::{Damage, OpenIndex, panicked};
use crate::disk::schema::Stored;

/// Documents that the engine finds, of which those that answer best are looked at closely. It measures by one field, and an
/// index in memory by all of them. For 400 real requests among 2,000 real skills, 200 documents gave another score or
/// confidence in 294, so many in 5, and 1,024 in none, at twice the time to read them.
const FOUND: usize = 512;

/// What the index answers to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer<T> {
    /// The best first.
    pub hits: Vec<Hit<T>>,
    /// How many documents were searched.
    pub documents: u64,
}

/// A document that answers a request.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit<T> {
    /// As what it is seen.
    pub seen: T,
    /// How well it answers, in no unit: scores of one request can be compared, those of two cannot.
    pub score: f32,
    /// How likely it is what was meant, from 0 to 1.
    pub confidence: f32,
}

impl OpenIndex {
    /// Returns the documents that answer a request best, at most so many.
    pub(super) fn search<T: Ord + Copy>(
        &self,
        query: &Query,
        limit: usize,
        seen: impl Fn(Key) -> Option<T>,
    ) -> Result<Answer<T>, Damage> {
        guarded(seen, |seen| {
            let weighed = self.weighed(query)?;
            let found = self.best(&weighed, seen)?;
            let mut documents: Vec<(T, Document)> = Vec::with_capacity(found.len());
            for candidate in found {
                let Stored(document) = self.searcher.doc(candidate.place)?;
                let unreadable = || Damage::Content("A document is not what was written".into());
                documents.push((candidate.seen, document.ok_or_else(unreadable)?));
            }
            let found = documents.iter().map(|(seen, document)| (*seen, document));
            let ranked = weighed.rank(weighed.candidates(found));
            self.check_unchanged()?;
            let hits = ranked.into_iter().take(limit).map(|ranked| Hit {
                seen: ranked.key,
                score: ranked.score,
                confidence: ranked.confidence,
            });
            Ok(Answer {
                hits: hits.collect(),
                documents: self.statistics.documents(),
            })
        })
    }

    /// Returns the documents that are looked at closely for a request, in no order.
    pub(super) fn candidates<T: Copy>(
        &self,
        query: &Query,
        seen: impl Fn(Key) -> Option<T>,
    ) -> Result<Vec<T>, Damage> {
        guarded(seen, |seen| {
            let found = self.best(&self.weighed(query)?, seen)?;
            self.check_unchanged()?;
            Ok(found.into_iter().map(|candidate| candidate.seen).collect())
        })
    }

    /// Weighs a request by how many documents have its terms.
    fn weighed(&self, query: &Query) -> Result<WeightedQuery, TantivyError> {
        let failed = Cell::new(None);
        let with_term = |term| {
            let known = self.searcher.doc_freq(&self.fields.by_term(term));
            known.unwrap_or_else(|error| {
                failed.set(Some(error));
                0
            })
        };
        let weighed = WeightedQuery::new(query, &self.statistics, with_term);
        failed.into_inner().map_or(Ok(weighed), Err)
    }

    /// Returns the documents that answer a request best by one field, of those that may be seen.
    fn best<T: Copy>(
        &self,
        weighed: &WeightedQuery,
        seen: &dyn Fn(Key) -> Option<T>,
    ) -> Result<Vec<Candidate<T>>, Damage> {
        let Some(weight) = self.weight(weighed)? else {
            return Ok(Vec::new());
        };
        let mut best = BinaryHeap::with_capacity(FOUND + 1);
        // What a document of a later segment has to surpass is known from those before it.
        let mut threshold = Score::MIN;
        for (number, (segment, keys)) in (0..).zip(self.segments()) {
            let (alive, start) = (segment.alive_bitset(), threshold);
            let mut take = |document, score| {
                if alive.is_some_and(|alive| alive.is_deleted(document)) {
                    return threshold;
                }
                let Some(seen) = seen(keys.get(document)) else {
                    return threshold;
                };
                let place = DocAddress::new(number, document);
                best.push(Candidate { score, place, seen });
                if best.len() > FOUND {
                    best.pop();
                    threshold = best.peek().map_or(Score::MIN, |worst| worst.score);
                }
                threshold
            };
            weight.for_each_pruning(start, segment, &mut take)?;
        }
        Ok(best.into_vec())
    }

    /// Returns what is looked for as the engine sees it; nothing, if nothing is.
    fn weight(&self, weighed: &WeightedQuery) -> Result<Option<Box<dyn Weight>>, TantivyError> {
        let wanted = weighed.terms();
        if wanted.len() == 0 {
            return Ok(None);
        }
        let terms = wanted.map(|(term, _)| {
            let term = self.fields.by_term(term);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            Box::new(query) as Box<dyn tantivy::query::Query>
        });
        let query = BooleanQuery::union(terms.collect());
        let scoring = EnableScoring::enabled_from_searcher(&self.searcher);
        query.weight(scoring).map(Some)
    }
}

/// A document that is looked at closely.
#[derive(Clone, Copy)]
struct Candidate<T> {
    score: Score,
    place: DocAddress,
    seen: T,
}

/// The greatest is the one that goes first: that with the lowest score, and of equal ones the last.
impl<T> Ord for Candidate<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = other.score.total_cmp(&self.score);
        scores.then(self.place.cmp(&other.place))
    }
}

impl<T> PartialOrd for Candidate<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Candidate<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Candidate<T> {}

/// Runs a search. A panic of the engine is damage of the index; one of the caller stays what it is.
fn guarded<T, R>(
    seen: impl Fn(Key) -> Option<T>,
    search: impl FnOnce(&dyn Fn(Key) -> Option<T>) -> Result<R, Damage>,
) -> Result<R, Damage> {
    let is_callers = Cell::new(false);
    let watched = |key| {
        is_callers.set(true);
        let seen = seen(key);
        is_callers.set(false);
        seen
    };
    catch_unwind(AssertUnwindSafe(|| search(&watched))).unwrap_or_else(|panic| {
        if is_callers.get() {
            resume_unwind(panic);
        }
        Err(panicked(&*panic))
    })
}
