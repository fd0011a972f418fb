//! The engine's own search, complete and in parts.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use skillfold::core::search::{Embedder, Query, SearchCoverage, SearchIndex};
use skillfold::core::{Catalog, Entry};

use crate::labelled::{Triggers, installed, pool_id};
use crate::search::method::{Hit, Method};
use crate::search::pool::Pool;

/// Skills in one of the engine's indexes.
pub(crate) struct Indexed {
    pub(crate) index: SearchIndex,
    /// The skills' positions, by their ids in the pool.
    places: HashMap<String, usize>,
}

impl Indexed {
    /// Installs all skills unchanged, and indexes them. Those without a description are refused, as everywhere.
    pub(crate) fn new(pool: &Pool) -> Result<Self, Box<dyn Error>> {
        Self::by(pool, SearchIndex::new)
    }

    /// The same, with words and embeddings.
    pub(crate) fn by_meaning(
        pool: &Pool,
        model: Arc<dyn Embedder>,
    ) -> Result<Self, Box<dyn Error>> {
        let indexed = Self::by(pool, |catalog, covers| {
            SearchIndex::with_embedder(catalog, covers, model)
        })?;
        match indexed.index.embedding_error() {
            Some(problem) => Err(problem.with_cause().into()),
            None => Ok(indexed),
        }
    }

    fn by(
        pool: &Pool,
        index: impl FnOnce(&Catalog, SearchCoverage) -> SearchIndex,
    ) -> Result<Self, Box<dyn Error>> {
        let catalog = installed(pool.skills.iter(), Triggers::Own)?.catalog();
        let has_bodies = pool.skills.iter().any(|skill| !skill.body.is_empty());
        let covers = if has_bodies {
            SearchCoverage::Bodies
        } else {
            SearchCoverage::Metadata
        };
        let ids = pool.skills.iter().map(|skill| skill.id.clone());
        Ok(Self {
            index: index(&catalog, covers),
            places: ids.zip(0..).collect(),
        })
    }

    pub(crate) fn place(&self, entry: &Entry<'_>) -> Option<usize> {
        self.places.get(pool_id(entry)).copied()
    }
}

/// The search that ships.
pub(crate) struct Whole(pub(crate) Indexed);

pub(crate) fn default(pool: &Pool) -> Result<Box<dyn Method>, Box<dyn Error>> {
    Ok(Box::new(Whole(Indexed::new(pool)?)))
}

impl Method for Whole {
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>> {
        let index = &self.0.index;
        let found = index.search(&index.query(request), count, |_| true);
        let hits = found.hits.iter().filter_map(|hit| {
            Some(Hit {
                place: self.0.place(&hit.entry)?,
                score: f64::from(hit.confidence),
            })
        });
        Ok(hits.collect())
    }

    fn index_bytes(&self) -> Option<u64> {
        u64::try_from(self.0.index.memory_bytes()).ok()
    }
}

/// The same without the ranker.
struct Bm25f(Indexed);

pub(crate) fn bm25f(pool: &Pool) -> Result<Box<dyn Method>, Box<dyn Error>> {
    Ok(Box::new(Bm25f(Indexed::new(pool)?)))
}

impl Method for Bm25f {
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>> {
        // The first feature is the share of the best possible score.
        let found = self.0.index.features(&Query::new(request)).into_iter();
        let hits = found.take(count).filter_map(|(entry, features)| {
            Some(Hit {
                place: self.0.place(&entry)?,
                score: f64::from(features[0]),
            })
        });
        Ok(hits.collect())
    }

    fn index_bytes(&self) -> Option<u64> {
        u64::try_from(self.0.index.memory_bytes()).ok()
    }
}
