//! What searches one snapshot: an index in memory, or on disk where there are many skills and a place for it.

#[cfg(feature = "index")]
mod disk;
#[cfg(feature = "index")]
mod rebuild;
mod resources;

use std::fmt;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use skillfold_core::{
    Catalog, Embedder, Entry, Error, Finder, Query, SearchCoverage, SearchIndex, Suggestion,
};

#[cfg(feature = "index")]
use skillfold_index::VectorCache;

#[cfg(feature = "index")]
use crate::snapshot_index::disk::DiskSnapshotIndex;
#[cfg(feature = "index")]
use crate::snapshot_index::rebuild::WriteTurn;
use crate::snapshot_index::resources::Remembering;
pub(crate) use crate::snapshot_index::resources::SearchResources;

/// Skills whose instructions are held in memory to be searched, at most: some six kilobytes each. Of more only the metadata is.
const BODIES: usize = if cfg!(test) { 20 } else { 20_000 };

/// Skills from which on they are searched on disk, where there is a place for that: fewer are read in the time that a person
/// does not notice.
#[cfg(feature = "index")]
const MANY: usize = 1_000;

/// Skills that are compared by their meaning at most, one by one.
const COMPARED: usize = 50_000;

/// The folder of vectors among other caches.
#[cfg(feature = "index")]
const VECTORS: &str = "vectors";

/// What searches one snapshot. It is made when something is searched for the first time.
pub(crate) struct SnapshotIndex {
    catalog: Arc<Catalog>,
    means: Arc<SearchResources>,
    made: OnceLock<Arc<BuiltIndex>>,
    /// That of an earlier snapshot, from which this one's is made for less, until it is.
    earlier: ArcSwapOption<BuiltIndex>,
    /// The place of the snapshot among others.
    #[cfg(feature = "index")]
    turn: Arc<WriteTurn>,
}

/// What was made to search a snapshot.
struct BuiltIndex {
    index: Index,
    /// Why it is not what it should be.
    problem: Option<Arc<str>>,
}

enum Index {
    Memory(Box<SearchIndex>),
    #[cfg(feature = "index")]
    Disk(Arc<DiskSnapshotIndex>),
}

/// Ids, the best first, each with its score and its confidence.
type RankedIds = Vec<(Box<str>, f32, f32)>;

/// What was found in a snapshot.
pub(crate) struct Hits {
    pub(crate) best: RankedIds,
    pub(crate) covers: SearchCoverage,
    pub(crate) problem: Option<Arc<str>>,
    /// Whether something else was searched, as the index turned out to be damaged and is being made again.
    pub(crate) is_stopgap: bool,
}

impl SnapshotIndex {
    pub(crate) fn new(catalog: &Arc<Catalog>, means: Arc<SearchResources>) -> Self {
        Self {
            catalog: Arc::clone(catalog),
            means,
            made: OnceLock::new(),
            earlier: ArcSwapOption::empty(),
            #[cfg(feature = "index")]
            turn: Arc::default(),
        }
    }

    /// Returns the same for a newer snapshot; only what changed is read.
    pub(crate) fn next(&self, catalog: &Arc<Catalog>, means: Arc<SearchResources>) -> Self {
        // What is made is looked at last: nothing takes it away again.
        let earlier = self.earlier.load_full();
        let made = self.made.get().cloned().or(earlier);
        let is_like = means.is_like(&self.means);
        // A model that is open stays open.
        let means = if is_like {
            Arc::clone(&self.means)
        } else {
            means
        };
        Self {
            earlier: ArcSwapOption::new(made.filter(|_| is_like)),
            #[cfg(feature = "index")]
            turn: Arc::new(self.turn.next()),
            ..Self::new(catalog, means)
        }
    }

    /// Returns whether a search reads no file.
    pub(crate) fn is_made(&self) -> bool {
        self.made.get().is_some()
    }

    /// Returns why less is looked at, or in another way, than there is a place for, as far as that is known.
    pub(crate) fn problem(&self) -> Option<Arc<str>> {
        let made = self.made.get()?;
        #[cfg(feature = "index")]
        if let Index::Disk(disk) = &made.index
            && let Some(damage) = disk.damage()
        {
            return Some(damage);
        }
        made.problem.clone()
    }

    /// Returns the snapshot that is searched.
    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Takes a request apart.
    pub(crate) fn query(&self, request: &str) -> Query {
        match &self.made().index {
            Index::Memory(index) => index.query(request),
            #[cfg(feature = "index")]
            Index::Disk(_) => Query::new(request),
        }
    }

    /// Returns the skills that answer a request best, at most so many, of those that may be seen.
    pub(crate) fn search(
        &self,
        query: &Query,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Hits {
        let made = self.made();
        let problem = made.problem.clone();
        match &made.index {
            Index::Memory(index) => in_memory(index, query, limit, may_see, problem),
            #[cfg(feature = "index")]
            Index::Disk(disk) => match disk.search(query, limit, may_see) {
                Ok(best) => Hits {
                    best,
                    covers: SearchCoverage::Bodies,
                    problem,
                    is_stopgap: false,
                },
                Err(damage) => {
                    disk.heal();
                    Hits {
                        is_stopgap: true,
                        ..in_memory(disk.stopgap(), query, limit, may_see, Some(damage))
                    }
                }
            },
        }
    }

    fn made(&self) -> &BuiltIndex {
        let made = self.made.get_or_init(|| Arc::new(self.make()));
        if self.earlier.load().is_some() {
            self.earlier.store(None);
        }
        made
    }

    #[cfg(feature = "index")]
    fn make(&self) -> BuiltIndex {
        let is_on_disk = self.catalog.len() >= MANY && !self.is_compared();
        let Some(folder) = self.means.cache.as_deref().filter(|_| is_on_disk) else {
            return self.make_in_memory();
        };
        let earlier = self.earlier.load();
        let earlier = match earlier.as_deref() {
            Some(BuiltIndex {
                index: Index::Disk(disk),
                ..
            }) => Some(&**disk),
            _ => None,
        };
        match DiskSnapshotIndex::synced(folder, &self.catalog, earlier, &self.turn) {
            Ok((disk, problem)) => BuiltIndex {
                index: Index::Disk(Arc::new(disk)),
                problem: problem.or(self.too_many()).map(Into::into),
            },
            Err(problem) => BuiltIndex {
                problem: Some(problem.into()),
                ..self.make_in_memory()
            },
        }
    }

    #[cfg(not(feature = "index"))]
    fn make(&self) -> BuiltIndex {
        self.make_in_memory()
    }

    /// Returns whether skills are compared by their meaning: all of them in memory, and not too many.
    fn is_compared(&self) -> bool {
        self.means.has_model() && self.catalog.len() <= COMPARED
    }

    /// Says that there is a model and too many skills for it.
    fn too_many(&self) -> Option<String> {
        let is_too_many = self.means.has_model() && !self.is_compared();
        is_too_many
            .then(|| format!("more than {COMPARED} skills are searched by their words alone"))
    }

    /// Returns what tells meanings and remembers them where it can, and why it does not.
    fn embedder(&self) -> (Option<Remembering>, Option<String>) {
        if !self.is_compared() {
            return (None, self.too_many());
        }
        match self.means.embedder() {
            Some(Ok(model)) => {
                let (remembering, problem) = self.remembering(model);
                (Some(remembering), problem)
            }
            Some(Err(problem)) => (None, Some(problem)),
            None => (None, None),
        }
    }

    #[cfg(feature = "index")]
    fn remembering(&self, model: Arc<dyn Embedder>) -> (Remembering, Option<String>) {
        let Some(folder) = &self.means.cache else {
            return (Remembering(model, None), None);
        };
        let name = disk::name_of(&self.catalog);
        let (vectors, problem) = VectorCache::open(folder.join(VECTORS), &name, model);
        let vectors = Arc::new(vectors);
        let embedder: Arc<dyn Embedder> = Arc::<VectorCache>::clone(&vectors);
        let problem = problem.map(|error| error.with_cause());
        (Remembering(embedder, Some(vectors)), problem)
    }

    #[cfg(not(feature = "index"))]
    #[expect(clippy::unused_self, reason = "with the feature `index` it is used")]
    fn remembering(&self, model: Arc<dyn Embedder>) -> (Remembering, Option<String>) {
        (Remembering(model), None)
    }

    fn make_in_memory(&self) -> BuiltIndex {
        let covers = covers(&self.catalog);
        let earlier = self.earlier.load();
        if let Some(BuiltIndex {
            index: Index::Memory(earlier),
            problem,
        }) = earlier.as_deref()
            && is_of_one_shape(earlier.catalog(), &self.catalog)
        {
            let index = earlier.refresh(&self.catalog);
            let problem = match (earlier.problem(), index.problem()) {
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
                SearchIndex::with_embedder(&self.catalog, covers, model)
            }
            None => SearchIndex::new(&self.catalog, covers),
        };
        let failed = index.problem().map(Error::with_cause);
        let unkept = embedder.and_then(|embedder| embedder.keep().err());
        problem = failed.or(problem).or(unkept);
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
        let hits = self.search(&self.query(message), limit, may_see);
        let found = hits.best.into_iter();
        let suggestion = |(id, _, confidence)| Suggestion { id, confidence };
        found.map(suggestion).collect()
    }
}

/// Returns what of so many skills is searched in memory.
fn covers(catalog: &Catalog) -> SearchCoverage {
    if catalog.len() <= BODIES {
        SearchCoverage::Bodies
    } else {
        SearchCoverage::Metadata
    }
}

/// Returns whether two snapshots are searched in the same way: as many as they are.
fn is_of_one_shape(one: &Catalog, other: &Catalog) -> bool {
    let is_compared = |catalog: &Catalog| catalog.len() <= COMPARED;
    covers(one) == covers(other) && is_compared(one) == is_compared(other)
}

fn in_memory(
    index: &SearchIndex,
    query: &Query,
    limit: usize,
    may_see: &dyn Fn(&Entry<'_>) -> bool,
    problem: Option<Arc<str>>,
) -> Hits {
    let found = index.search(query, limit, may_see);
    let hits = found.hits.iter();
    let best = hits.map(|hit| (hit.entry.id().into(), hit.score, hit.confidence));
    Hits {
        best: best.collect(),
        covers: found.coverage,
        problem,
        is_stopgap: false,
    }
}

impl fmt::Debug for SnapshotIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Searching")
            .field("is_made", &self.is_made())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope, SearchCoverage};

    use super::{BODIES, SearchResources, SnapshotIndex};

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
            i64::MAX,
        ))
    }

    fn covers(searching: &SnapshotIndex) -> SearchCoverage {
        let query = searching.query("things");
        searching.search(&query, 1, &|_| true).covers
    }

    #[test]
    fn index_in_memory_has_the_shape_of_as_many_skills_as_there_are_now() {
        let means = Arc::new(SearchResources {
            #[cfg(feature = "index")]
            cache: None,
            given: None,
            model: None,
            opened: OnceLock::new(),
        });
        let few = SnapshotIndex::new(&catalog(BODIES), Arc::clone(&means));
        assert_eq!(covers(&few), SearchCoverage::Bodies);
        let many = few.next(&catalog(BODIES + 1), Arc::clone(&means));
        assert_eq!(covers(&many), SearchCoverage::Metadata);
        let few = many.next(&catalog(BODIES), means);
        assert_eq!(covers(&few), SearchCoverage::Bodies);
    }
}
