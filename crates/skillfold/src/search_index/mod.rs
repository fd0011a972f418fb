//! The search index of one snapshot: in memory, or on disk if there are many skills and a cache folder.

mod hits;
#[cfg(feature = "index")]
mod rebuild;
mod resources;

#[cfg(feature = "index")]
mod disk;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use skillfold_core::choose::{Finder, Suggestion};
use skillfold_core::search::{Embedder, Query, SearchCoverage, SearchIndex};
use skillfold_core::{Catalog, Entry, Error};

#[cfg(feature = "index")]
use skillfold_index::VectorCache;

#[cfg(feature = "index")]
use crate::search_index::disk::DiskSnapshotIndex;
use crate::search_index::hits::Hits;
pub(crate) use crate::search_index::hits::RankedId;
#[cfg(feature = "index")]
use crate::search_index::rebuild::WriteTurn;
use crate::search_index::resources::CachedEmbedder;
pub(crate) use crate::search_index::resources::SearchResources;

/// Maximum skills whose instructions are indexed in memory, at about six kilobytes each. For more, only the metadata
/// is.
const MAX_BODIES: usize = if cfg!(test) { 20 } else { 20_000 };

/// Minimum skills for an index on disk, if there is a cache folder. Fewer are read faster than a user notices.
#[cfg(feature = "index")]
pub(crate) const MIN_DISK_SKILLS: usize = 1_000;

/// The same for a process that ends after one request.
#[cfg(feature = "index")]
pub(crate) const MIN_DISK_SKILLS_ONCE: usize = 20;

/// How long a search waits for an index that is being built.
const MAX_WAIT: Duration = Duration::from_millis(300);

/// How often that wait looks.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum skills for embeddings. A search compares the request with each of them.
const MAX_EMBEDDED: usize = 50_000;

/// The subfolder of the cache folder for embedding vectors.
#[cfg(feature = "index")]
const VECTORS_FOLDER: &str = "vectors";

/// The search index of one snapshot. It is built by the first search, or [in the background](Self::prepare).
pub(crate) struct SnapshotIndex {
    catalog: Arc<Catalog>,
    resources: Arc<SearchResources>,
    built: OnceLock<Arc<BuiltIndex>>,
    /// Whether a thread is building it.
    is_preparing: AtomicBool,
    /// The index of the metadata, for searches meanwhile.
    interim: ArcSwapOption<SearchIndex>,
    /// The index of an earlier snapshot. Building this one from it is cheaper; dropped once that is done.
    previous: ArcSwapOption<BuiltIndex>,
    /// The snapshot's turn to write to the shared index on disk.
    #[cfg(feature = "index")]
    turn: Arc<WriteTurn>,
}

/// Ends the preparation of an index when dropped, whether it was built or not.
struct Preparation<'i>(&'i SnapshotIndex);

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        self.0.is_preparing.store(false, Ordering::Release);
        self.0.interim.store(None);
    }
}

/// An index that was built.
struct BuiltIndex {
    index: Index,
    /// Why it is less complete than configured.
    problem: Option<Arc<str>>,
}

enum Index {
    Memory(Box<SearchIndex>),
    #[cfg(feature = "index")]
    Disk(Arc<DiskSnapshotIndex>),
}

impl SnapshotIndex {
    pub(crate) fn new(catalog: &Arc<Catalog>, resources: Arc<SearchResources>) -> Self {
        Self {
            catalog: Arc::clone(catalog),
            resources,
            built: OnceLock::new(),
            is_preparing: AtomicBool::new(false),
            interim: ArcSwapOption::empty(),
            previous: ArcSwapOption::empty(),
            #[cfg(feature = "index")]
            turn: Arc::default(),
        }
    }

    /// Returns the index for a newer snapshot. Building it reads only what changed.
    pub(crate) fn next(&self, catalog: &Arc<Catalog>, resources: Arc<SearchResources>) -> Self {
        // The previous index must be read first: it disappears once this one's is set, which itself is never unset.
        let previous = self.previous.load_full();
        let latest = self.built.get().cloned().or(previous);
        let is_compatible = resources.is_compatible(&self.resources);
        // Keeps an open model open.
        let resources = if is_compatible {
            Arc::clone(&self.resources)
        } else {
            resources
        };
        Self {
            previous: ArcSwapOption::new(latest.filter(|_| is_compatible)),
            #[cfg(feature = "index")]
            turn: Arc::new(self.turn.next()),
            ..Self::new(catalog, resources)
        }
    }

    /// Returns whether the index is built, so that a search reads no skill files.
    pub(crate) fn is_built(&self) -> bool {
        self.built.get().is_some()
    }

    /// Returns whether the index is built and in memory, and a search calls no model.
    pub(crate) fn is_in_memory(&self) -> bool {
        let built = self.built.get();
        let is_in_memory = built.is_some_and(|built| matches!(built.index, Index::Memory(_)));
        is_in_memory && !self.uses_embeddings()
    }

    /// Returns why searches are less complete than configured. Known once the index is built.
    pub(crate) fn problem(&self) -> Option<Arc<str>> {
        let built = self.built.get()?;
        #[cfg(feature = "index")]
        if let Index::Disk(disk) = &built.index
            && let Some(damage) = disk.damage()
        {
            return Some(damage);
        }
        built.problem.clone()
    }

    /// Returns the catalog that is searched.
    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Builds the index on a thread of its own. Searches wait a moment for it at most: until it is built, they look at the
    /// metadata alone. If an earlier snapshot's index can be reused, the first search builds it instead, which is quick.
    pub(crate) fn prepare(self: &Arc<Self>) {
        let is_quick = self.previous.load().is_some();
        if is_quick || self.is_built() || self.is_preparing.swap(true, Ordering::AcqRel) {
            return;
        }
        let index = Arc::clone(self);
        let thread = thread::Builder::new().name("skillfold-index".to_owned());
        let started = thread.spawn(move || {
            let preparation = Preparation(&index);
            index.built();
            drop(preparation);
        });
        if started.is_err() {
            // The first search builds it.
            self.is_preparing.store(false, Ordering::Release);
        }
    }

    /// Searches for the `limit` skills that answer a request best, among those that `may_see` accepts.
    pub(crate) fn search(
        &self,
        request: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> (Query, Hits) {
        if !self.wait_while_preparing() {
            let query = Query::new(request);
            let index = self.interim_index();
            let hits = Hits {
                is_fallback: true,
                ..search_in_memory(&index, &query, limit, may_see, None)
            };
            return (query, hits);
        }
        let query = match &self.built().index {
            Index::Memory(index) => index.query(request),
            #[cfg(feature = "index")]
            Index::Disk(_) => Query::new(request),
        };
        let hits = self.search_built(&query, limit, may_see);
        (query, hits)
    }

    /// Waits a moment if the index is being built: that of few skills is ready at once. Returns false if it takes longer.
    fn wait_while_preparing(&self) -> bool {
        let start = Instant::now();
        while self.is_preparing.load(Ordering::Acquire) && !self.is_built() {
            if start.elapsed() > MAX_WAIT {
                return false;
            }
            thread::sleep(RETRY_INTERVAL);
        }
        true
    }

    /// Returns the index of the metadata, which are in memory.
    fn interim_index(&self) -> Arc<SearchIndex> {
        if let Some(index) = self.interim.load_full() {
            return index;
        }
        let index = Arc::new(SearchIndex::new(&self.catalog, SearchCoverage::Metadata));
        if !self.is_built() {
            self.interim.store(Some(Arc::clone(&index)));
        }
        index
    }

    fn search_built(
        &self,
        query: &Query,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Hits {
        let built = self.built();
        let problem = built.problem.clone();
        match &built.index {
            Index::Memory(index) => search_in_memory(index, query, limit, may_see, problem),
            #[cfg(feature = "index")]
            Index::Disk(disk) => match disk.search(query, limit, may_see) {
                Ok(best) => Hits {
                    ranked: best,
                    coverage: SearchCoverage::Bodies,
                    problem,
                    is_fallback: false,
                },
                Err(damage) => {
                    disk.rebuild();
                    Hits {
                        is_fallback: true,
                        ..search_in_memory(disk.fallback(), query, limit, may_see, Some(damage))
                    }
                }
            },
        }
    }

    fn built(&self) -> &BuiltIndex {
        let built = self.built.get_or_init(|| Arc::new(self.build()));
        if self.previous.load().is_some() {
            self.previous.store(None);
        }
        built
    }

    #[cfg(feature = "index")]
    fn build(&self) -> BuiltIndex {
        let is_on_disk =
            self.catalog.len() >= self.resources.min_disk_skills && !self.uses_embeddings();
        let Some(folder) = self
            .resources
            .cache_folder
            .as_deref()
            .filter(|_| is_on_disk)
        else {
            return self.build_in_memory();
        };
        let previous = self.previous.load();
        let previous = match previous.as_deref() {
            Some(BuiltIndex {
                index: Index::Disk(disk),
                ..
            }) => Some(&**disk),
            _ => None,
        };
        match DiskSnapshotIndex::open_synced(folder, &self.catalog, previous, &self.turn) {
            Ok((disk, problem)) => BuiltIndex {
                index: Index::Disk(Arc::new(disk)),
                problem: problem.or(self.embedding_limit_problem()).map(Into::into),
            },
            Err(problem) => BuiltIndex {
                problem: Some(problem.into()),
                ..self.build_in_memory()
            },
        }
    }

    #[cfg(not(feature = "index"))]
    fn build(&self) -> BuiltIndex {
        self.build_in_memory()
    }

    /// Returns whether skills are compared by embeddings, which requires an index in memory.
    fn uses_embeddings(&self) -> bool {
        self.resources.has_model() && self.catalog.len() <= MAX_EMBEDDED
    }

    /// Returns a problem if there is a model but too many skills for it.
    fn embedding_limit_problem(&self) -> Option<String> {
        let has_too_many = self.resources.has_model() && !self.uses_embeddings();
        has_too_many.then(|| format!("more than {MAX_EMBEDDED} skills: searching by words only"))
    }

    /// Returns the embedder, with a vector cache if possible, and the problem if there is one.
    fn embedder(&self) -> (Option<CachedEmbedder>, Option<String>) {
        if !self.uses_embeddings() {
            return (None, self.embedding_limit_problem());
        }
        match self.resources.embedder() {
            Some(Ok(model)) => {
                let (remembering, problem) = self.cached_embedder(model);
                (Some(remembering), problem)
            }
            Some(Err(problem)) => (None, Some(problem)),
            None => (None, None),
        }
    }

    #[cfg(feature = "index")]
    fn cached_embedder(&self, model: Arc<dyn Embedder>) -> (CachedEmbedder, Option<String>) {
        let Some(folder) = &self.resources.cache_folder else {
            return (CachedEmbedder(model, None), None);
        };
        let name = disk::roots_fingerprint(&self.catalog);
        let (vectors, problem) = VectorCache::open(folder.join(VECTORS_FOLDER), &name, model);
        let vectors = Arc::new(vectors);
        let embedder: Arc<dyn Embedder> = Arc::<VectorCache>::clone(&vectors);
        let problem = problem.map(|error| error.with_cause());
        (CachedEmbedder(embedder, Some(vectors)), problem)
    }

    #[cfg(not(feature = "index"))]
    #[expect(clippy::unused_self, reason = "used with the feature `index`")]
    fn cached_embedder(&self, model: Arc<dyn Embedder>) -> (CachedEmbedder, Option<String>) {
        (CachedEmbedder(model), None)
    }

    fn build_in_memory(&self) -> BuiltIndex {
        let coverage = memory_coverage(&self.catalog);
        let previous = self.previous.load();
        if let Some(BuiltIndex {
            index: Index::Memory(previous),
            problem,
        }) = previous.as_deref()
            && has_same_layout(previous.catalog(), &self.catalog)
        {
            let index = previous.refresh(&self.catalog);
            let problem = match (previous.embedding_error(), index.embedding_error()) {
                (_, Some(error)) => Some(error.with_cause().into()),
                (Some(_), None) => None,
                (None, None) => problem.clone(),
            };
            return BuiltIndex {
                index: Index::Memory(Box::new(index)),
                problem,
            };
        }
        let (embedder, mut problem) = self.embedder();
        let index = match &embedder {
            Some(embedder) => {
                let model = Arc::clone(&embedder.0);
                SearchIndex::with_embedder(&self.catalog, coverage, model)
            }
            None => SearchIndex::new(&self.catalog, coverage),
        };
        let embed_problem = index.embedding_error().map(Error::with_cause);
        let save_problem = embedder.and_then(|embedder| embedder.save().err());
        problem = embed_problem.or(problem).or(save_problem);
        BuiltIndex {
            problem: problem.map(Into::into),
            index: Index::Memory(Box::new(index)),
        }
    }
}

impl Finder for SnapshotIndex {
    fn find(
        &self,
        message: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Suggestion> {
        let (_, hits) = self.search(message, limit, may_see);
        let found = hits.ranked.into_iter();
        found
            .map(|found| Suggestion::new(found.id, found.activation))
            .collect()
    }
}

/// Returns which parts of a catalog's skills are indexed in memory, by the number of skills.
fn memory_coverage(catalog: &Catalog) -> SearchCoverage {
    if catalog.len() <= MAX_BODIES {
        SearchCoverage::Bodies
    } else {
        SearchCoverage::Metadata
    }
}

/// Returns whether two catalogs, by their numbers of skills, are indexed in the same way.
fn has_same_layout(one: &Catalog, other: &Catalog) -> bool {
    let can_embed = |catalog: &Catalog| catalog.len() <= MAX_EMBEDDED;
    memory_coverage(one) == memory_coverage(other) && can_embed(one) == can_embed(other)
}

fn search_in_memory(
    index: &SearchIndex,
    query: &Query,
    limit: usize,
    may_see: &dyn Fn(&Entry<'_>) -> bool,
    problem: Option<Arc<str>>,
) -> Hits {
    let found = index.search(query, limit, may_see);
    let hits = found.hits.iter();
    let best = hits.map(|hit| RankedId {
        id: hit.entry.id().into(),
        score: hit.score,
        confidence: hit.confidence,
        activation: hit.activation,
    });
    Hits {
        ranked: best.collect(),
        coverage: found.coverage,
        problem,
        is_fallback: false,
    }
}

impl fmt::Debug for SnapshotIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SnapshotIndex")
            .field("is_built", &self.is_built())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, OnceLock};

    use skillfold_core::search::SearchCoverage;
    use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
    use skillfold_testkit::far_future;

    use super::{MAX_BODIES, SearchResources, SnapshotIndex};

    fn catalog(skills: usize) -> Arc<Catalog> {
        let files = (0..skills).map(|number| {
            let text =
                format!("---\nname: skill-{number}\ndescription: Handles things\n---\nBody\n");
            (format!("skill-{number}/SKILL.md"), text)
        });
        let root = Root::new(Scope::User, "made", MemorySource::new(files));
        Arc::new(Catalog::discover(
            vec![root],
            CatalogOptions::default(),
            far_future(),
        ))
    }

    fn coverage(index: &SnapshotIndex) -> SearchCoverage {
        index.search("things", 1, &|_| true).1.coverage
    }

    #[test]
    fn in_memory_index_is_sized_for_the_current_number_of_skills() {
        let resources = Arc::new(SearchResources {
            #[cfg(feature = "index")]
            cache_folder: None,
            host_embedder: None,
            model_folder: None,
            opened_model: OnceLock::new(),
            #[cfg(feature = "index")]
            min_disk_skills: super::MIN_DISK_SKILLS,
        });
        let few = SnapshotIndex::new(&catalog(MAX_BODIES), Arc::clone(&resources));
        assert_eq!(coverage(&few), SearchCoverage::Bodies);
        let many = few.next(&catalog(MAX_BODIES + 1), Arc::clone(&resources));
        assert_eq!(coverage(&many), SearchCoverage::Metadata);
        let few = many.next(&catalog(MAX_BODIES), resources);
        assert_eq!(coverage(&few), SearchCoverage::Bodies);
    }

    #[test]
    fn search_does_not_wait_long_for_an_index_under_construction() {
        let resources = Arc::new(SearchResources {
            #[cfg(feature = "index")]
            cache_folder: None,
            host_embedder: None,
            model_folder: None,
            opened_model: OnceLock::new(),
            #[cfg(feature = "index")]
            min_disk_skills: super::MIN_DISK_SKILLS,
        });
        let index = Arc::new(SnapshotIndex::new(&catalog(3), resources));
        index.is_preparing.store(true, Ordering::Release);
        let (_, hits) = index.search("things", 5, &|_| true);
        assert_eq!((hits.ranked.len(), hits.is_fallback), (3, true));
        assert_eq!(hits.coverage, SearchCoverage::Metadata);
        drop(super::Preparation(&index));
        index.prepare();
        while !index.is_built() {
            std::thread::yield_now();
        }
        let (_, hits) = index.search("Body", 5, &|_| true);
        assert_eq!((hits.ranked.len(), hits.is_fallback), (3, false));
    }
}
