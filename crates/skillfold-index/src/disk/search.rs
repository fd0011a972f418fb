//! Search in one commit.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use skillfold_core::search::{Query, SearchDocument, WeightedQuery};
use tantivy::query::{BooleanQuery, EnableScoring, Query as _, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Score, TantivyError};

use crate::disk::key::DocumentKey;
use crate::disk::open_index::{Damage, OpenIndex, panic_damage};
use crate::disk::schema::StoredDocument;

/// Number of documents to take from the engine. The engine scores by a single field, an in-memory index by all fields,
/// so more are needed than are ranked. For 400 real requests over 2,000 real skills, the score or confidence differed
/// from the in-memory index in 294 with 200 documents, in 5 with 512, and in none with 1,024, which take twice as long
/// to read.
const ENGINE_CANDIDATES: usize = 512;

/// The results of a search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiskResults<T> {
    /// The hits, best first.
    pub hits: Vec<DiskHit<T>>,
    /// Number of documents searched.
    pub documents: u64,
}

/// A document found for a query.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiskHit<T> {
    /// The caller's value for the document.
    pub value: T,
    /// The relevance score. Scores are comparable only within one query.
    pub score: f32,
    /// Estimated probability that the document is relevant, from 0 to 1.
    pub confidence: f32,
    /// Estimated probability that the text needs the document, from 0 to 1, if nobody searched for one.
    pub activation: f32,
}

impl OpenIndex {
    /// Returns up to `limit` documents that fit a query best.
    pub(super) fn search<T: Ord + Copy>(
        &self,
        query: &Query,
        limit: usize,
        resolve: impl Fn(DocumentKey) -> Option<T>,
    ) -> Result<DiskResults<T>, Damage> {
        catch_engine_panic(resolve, |resolve| {
            let weighted = self.weigh(query)?;
            let found = self.find_best(&weighted, resolve)?;
            let mut documents: Vec<(T, SearchDocument)> = Vec::with_capacity(found.len());
            for candidate in found {
                let StoredDocument(document) = self.searcher.doc(candidate.address)?;
                let corrupt =
                    || Damage::Content("A document doesn't match what was written".into());
                documents.push((candidate.seen, document.ok_or_else(corrupt)?));
            }
            let found = documents.iter().map(|(seen, document)| (*seen, document));
            let ranked = weighted.rank(weighted.candidates(found));
            self.check_unchanged()?;
            let hits = ranked.into_iter().take(limit).map(|ranked| DiskHit {
                value: ranked.key,
                score: ranked.score,
                confidence: ranked.confidence,
                activation: ranked.activation,
            });
            Ok(DiskResults {
                hits: hits.collect(),
                documents: self.statistics.documents(),
            })
        })
    }

    /// Returns the documents to rank for a query, in no particular order.
    pub(super) fn candidates<T: Copy>(
        &self,
        query: &Query,
        resolve: impl Fn(DocumentKey) -> Option<T>,
    ) -> Result<Vec<T>, Damage> {
        catch_engine_panic(resolve, |resolve| {
            let found = self.find_best(&self.weigh(query)?, resolve)?;
            self.check_unchanged()?;
            Ok(found.into_iter().map(|candidate| candidate.seen).collect())
        })
    }

    /// Weights the terms of a query by their document frequencies.
    fn weigh(&self, query: &Query) -> Result<WeightedQuery, TantivyError> {
        let failed = Cell::new(None);
        let document_frequency = |term| {
            let frequency = self.searcher.doc_freq(&self.fields.search_term(term));
            frequency.unwrap_or_else(|error| {
                failed.set(Some(error));
                0
            })
        };
        let weighted = WeightedQuery::new(query, &self.statistics, document_frequency);
        failed.into_inner().map_or(Ok(weighted), Err)
    }

    /// Returns the visible documents with the best engine scores.
    fn find_best<T: Copy>(
        &self,
        query: &WeightedQuery,
        resolve: &dyn Fn(DocumentKey) -> Option<T>,
    ) -> Result<Vec<Candidate<T>>, Damage> {
        let Some(weight) = self.engine_weight(query)? else {
            return Ok(Vec::new());
        };
        let mut best = BinaryHeap::with_capacity(ENGINE_CANDIDATES + 1);
        // The threshold carries over from one segment to the next.
        let mut threshold = Score::MIN;
        for (ordinal, (segment, keys)) in (0..).zip(self.segments()) {
            let (alive, start) = (segment.alive_bitset(), threshold);
            let mut collect = |document, score| {
                if alive.is_some_and(|alive| alive.is_deleted(document)) {
                    return threshold;
                }
                let Some(seen) = resolve(keys.get(document)) else {
                    return threshold;
                };
                let address = DocAddress::new(ordinal, document);
                best.push(Candidate {
                    score,
                    address,
                    seen,
                });
                if best.len() > ENGINE_CANDIDATES {
                    best.pop();
                    threshold = best.peek().map_or(Score::MIN, |worst| worst.score);
                }
                threshold
            };
            weight.for_each_pruning(start, segment, &mut collect)?;
        }
        Ok(best.into_vec())
    }

    /// Converts a query for the engine, or returns `None` if it has no terms.
    fn engine_weight(
        &self,
        weighted: &WeightedQuery,
    ) -> Result<Option<Box<dyn Weight>>, TantivyError> {
        let terms = weighted.terms();
        if terms.len() == 0 {
            return Ok(None);
        }
        let terms = terms.map(|(term, _)| {
            let term = self.fields.search_term(term);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            Box::new(query) as Box<dyn tantivy::query::Query>
        });
        let query = BooleanQuery::union(terms.collect());
        let scoring = EnableScoring::enabled_from_searcher(&self.searcher);
        query.weight(scoring).map(Some)
    }
}

/// A document to rank.
#[derive(Clone, Copy)]
struct Candidate<T> {
    score: Score,
    address: DocAddress,
    seen: T,
}

/// The greatest candidate is the first to drop: the one with the lowest score and, among equal ones, the last address.
impl<T> Ord for Candidate<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = other.score.total_cmp(&self.score);
        scores.then(self.address.cmp(&other.address))
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

/// Runs a search. A panic of the engine means that the index is damaged; a panic of the caller's `resolve` is resumed.
fn catch_engine_panic<T, R>(
    resolve: impl Fn(DocumentKey) -> Option<T>,
    search: impl FnOnce(&dyn Fn(DocumentKey) -> Option<T>) -> Result<R, Damage>,
) -> Result<R, Damage> {
    let in_resolve = Cell::new(false);
    let watched = |key| {
        in_resolve.set(true);
        let resolved = resolve(key);
        in_resolve.set(false);
        resolved
    };
    catch_unwind(AssertUnwindSafe(|| search(&watched))).unwrap_or_else(|panic| {
        if in_resolve.get() {
            resume_unwind(panic);
        }
        Err(panic_damage(&*panic))
    })
}
