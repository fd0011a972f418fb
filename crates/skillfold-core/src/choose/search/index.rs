//! All skills of a snapshot, searchable in memory.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::layers::{Layer, Layers};
use crate::choose::search::document::{BODY_BYTES, Document, DocumentBuilder};
use crate::choose::search::embedding::{Embedder, QuantizedVector};
use crate::choose::search::features::names;
use crate::choose::search::query::{Query, WeightedQuery};
use crate::choose::search::rank::{NEAREST, OF_PART};
use crate::choose::search::segment::Segment;
use crate::error::Error;
use crate::read::discover::Skill;
use crate::read::source::SKILL_FILE;
use crate::text::start_of;

/// Bytes of a text that are compared by their meaning.
const MEANT: usize = 2 * 1024;
/// Texts that are turned into vectors together.
const BATCH: usize = 256;

/// What of the skills a search looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SearchCoverage {
    /// What they say of themselves.
    #[default]
    Metadata,
    /// Their instructions too.
    Bodies,
}

impl SearchCoverage {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Bodies => "bodies",
        }
    }
}

/// All skills of a snapshot, searchable in memory.
///
/// ```
/// use skillfold_core::{Catalog, SearchCoverage, MemorySource, Root, CatalogOptions, Scope, SearchIndex};
///
/// let skill = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\n");
/// let source = MemorySource::new([
///     ("pdf/SKILL.md", skill("pdf", "Fills in forms")),
///     ("mail/SKILL.md", skill("mail", "Writes letters")),
/// ]);
/// let catalog = Catalog::discover(vec![Root::new(Scope::User, "mine", source)], CatalogOptions::default(), 0);
/// let index = SearchIndex::new(&catalog, SearchCoverage::Bodies);
///
/// let found = index.search(&index.query("fill this form, please"), 10, |_| true);
/// assert_eq!(found.hits[0].entry.id(), "pdf");
/// assert_eq!(found.hits.len(), 1);
/// ```
pub struct SearchIndex {
    layers: Layers<Segment>,
    reading: IndexOptions,
    /// Why nothing is compared by meaning, where something should be.
    problem: Option<Arc<Error>>,
}

/// What is made searchable of a skill.
#[derive(Clone)]
struct IndexOptions {
    covers: SearchCoverage,
    embedder: Option<Arc<dyn Embedder>>,
}

/// The skills that answer a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchResults<'a> {
    /// The best first.
    pub hits: Vec<SearchHit<'a>>,
    /// What of the skills was looked at.
    pub coverage: SearchCoverage,
    /// The bytes in the middle of the request that were not looked at, where it is too long.
    pub unread: Option<Range<usize>>,
}

/// A skill that answers a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SearchHit<'a> {
    /// The skill.
    pub entry: Entry<'a>,
    /// How well it answers, in no unit: scores of one request can be compared, those of two cannot.
    pub score: f32,
    /// How likely it is what was meant, from 0 to 1.
    pub confidence: f32,
}

impl SearchIndex {
    /// Makes the skills of a snapshot searchable by words. To cover bodies, the start of each is read.
    pub fn new(catalog: &Catalog, covers: SearchCoverage) -> Self {
        let embedder = None;
        Self::made(catalog, IndexOptions { covers, embedder })
    }

    /// The same, by words and by meaning.
    pub fn with_embedder(
        catalog: &Catalog,
        covers: SearchCoverage,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        let embedder = Some(embedder);
        Self::made(catalog, IndexOptions { covers, embedder })
    }

    fn made(catalog: &Catalog, reading: IndexOptions) -> Self {
        let problem = Cell::new(None);
        let make = |skills: &[Arc<Skill>], base: Option<&Segment>| {
            reading.segment(catalog, skills, base, &HashMap::new(), &problem)
        };
        Self {
            layers: Layers::new(catalog, |_| true, make),
            problem: problem.into_inner(),
            reading,
        }
    }

    /// Returns the same for a newer snapshot; only what changed is read. What could not be compared by meaning before is
    /// tried again.
    #[must_use]
    pub fn refresh(&self, catalog: &Catalog) -> Self {
        let known = self.layers.all().into_iter().flat_map(documents);
        let known: HashMap<*const Skill, &Arc<Document>> = known.collect();
        let problem = Cell::new(None);
        let make = |skills: &[Arc<Skill>], base: Option<&Segment>| {
            self.reading
                .segment(catalog, skills, base, &known, &problem)
        };
        // What could not be compared by meaning is tried again, wherever it stands.
        let layers = if self.problem.is_some() {
            Layers::new(catalog, |_| true, make)
        } else {
            self.layers.refresh(catalog, make)
        };
        Self {
            layers,
            problem: problem.into_inner(),
            reading: self.reading.clone(),
        }
    }

    /// Returns the snapshot that is searched.
    pub fn catalog(&self) -> &Catalog {
        self.layers.catalog()
    }

    /// Returns what of the skills is searched.
    pub fn coverage(&self) -> SearchCoverage {
        self.reading.covers
    }

    /// Returns why some skills are not compared by meaning, where they should be.
    pub fn problem(&self) -> Option<&Error> {
        self.problem.as_deref()
    }

    /// Returns the bytes that it takes.
    pub fn bytes(&self) -> usize {
        let layers = self.layers.all().into_iter();
        layers.map(|layer| layer.made.bytes()).sum()
    }

    /// Takes a request apart, by words and, where the index does, by meaning.
    pub fn query(&self, request: &str) -> Query {
        let query = Query::new(request);
        let Some(embedder) = &self.reading.embedder else {
            return query;
        };
        match embedder.embed(&[start_of(request, MEANT)]) {
            Ok(vectors) => {
                let vector = vectors.into_iter().next();
                query.with_embedding(vector.and_then(|vector| QuantizedVector::new(&vector)))
            }
            Err(error) => {
                tracing::warn!(
                    problem = error.with_cause(),
                    "a request is compared by its words alone"
                );
                query.without_meaning(&error)
            }
        }
    }

    /// Returns the skills that answer a request best, at most so many, of those that may be seen.
    pub fn search(
        &self,
        query: &Query,
        limit: usize,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> SearchResults<'_> {
        let (weighed, candidates) = self.candidates(query, may_see);
        let order = |entry: &Entry<'_>| self.catalog().tables.order(entry.at());
        let entries: Vec<Entry<'_>> = candidates.iter().map(|found| found.0).collect();
        let documents = candidates.iter().enumerate();
        let ranked = weighed
            .rank(documents.map(|(number, (entry, document))| ((order(entry), number), *document)));
        let hits = ranked.into_iter().take(limit).map(|ranked| SearchHit {
            entry: entries[ranked.key.1],
            score: ranked.score,
            confidence: ranked.confidence,
        });
        SearchResults {
            hits: hits.collect(),
            coverage: self.reading.covers,
            unread: query.unread(),
        }
    }

    /// Returns the names of the features that a ranker is fitted on.
    #[doc(hidden)]
    pub fn feature_names() -> Vec<String> {
        names()
    }

    /// Returns what a ranker is fitted on: the candidates for a request, each with its features.
    #[doc(hidden)]
    pub fn features(&self, query: &Query) -> Vec<(Entry<'_>, Vec<f32>)> {
        let (weighed, candidates) = self.candidates(query, |_| true);
        let documents = candidates.iter().enumerate();
        let features = weighed.features(documents.map(|(number, found)| (number, found.1)));
        let features = features.into_iter();
        features
            .map(|(number, features)| (candidates[number].0, features.into()))
            .collect()
    }

    /// Returns the skills that come into question for a request.
    fn candidates(
        &self,
        query: &Query,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> (WeightedQuery, Vec<(Entry<'_>, &Document)>) {
        let layers = self.layers.all();
        let with_term = |term| {
            let lists = layers.iter().map(|layer| layer.made.postings(term).len());
            lists.sum::<usize>() as u64
        };
        let statistics = layers.iter().map(|layer| *layer.made.statistics()).sum();
        let weighed = WeightedQuery::new(query, &statistics, with_term);
        let (mut found, mut close) = (Vec::new(), Vec::new());
        let order = |entry: &Entry<'_>| self.catalog().tables.order(entry.at());
        for layer in layers {
            let seen = |slot: usize| {
                let entry = layer.place(slot).map(|at| self.catalog().entry(at));
                entry.filter(&may_see)
            };
            found.extend(layer.made.best(&weighed, OF_PART, seen));
            if let Some(meaning) = query.embedding() {
                close.extend(layer.made.nearest(meaning, NEAREST, seen));
            }
        }
        let keyed = found.iter().enumerate();
        let keyed = keyed.map(|(number, (entry, document))| ((order(entry), number), *document));
        let best = weighed.candidates(keyed).into_iter();
        let mut candidates: Vec<(Entry<'_>, &Document)> =
            best.map(|((_, number), _)| found[number]).collect();
        candidates.extend(close);
        candidates.sort_by_key(|(entry, _)| entry.at());
        candidates.dedup_by_key(|(entry, _)| entry.at());
        (weighed, candidates)
    }
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SearchIndex")
            .field("skills", &self.catalog().len())
            .field("coverage", &self.reading.covers)
            .finish_non_exhaustive()
    }
}

fn documents(layer: &Layer<Segment>) -> impl Iterator<Item = (*const Skill, &Arc<Document>)> {
    let documents = layer.made.documents().iter();
    layer.skills().iter().map(Arc::as_ptr).zip(documents)
}

impl IndexOptions {
    /// Makes skills searchable; those that are known are not read again.
    fn segment(
        &self,
        catalog: &Catalog,
        skills: &[Arc<Skill>],
        base: Option<&Segment>,
        known: &HashMap<*const Skill, &Arc<Document>>,
        problem: &Cell<Option<Arc<Error>>>,
    ) -> Segment {
        let mut documents = DocumentBuilder::new();
        let (mut all, mut new) = (Vec::with_capacity(skills.len()), Vec::new());
        for skill in skills {
            if let Some(document) = known.get(&Arc::as_ptr(skill)) {
                if document.embedding().is_none() {
                    new.push(all.len());
                }
                all.push(Arc::clone(document));
                continue;
            }
            let body = match self.covers {
                SearchCoverage::Bodies => body(catalog, skill),
                SearchCoverage::Metadata => None,
            };
            new.push(all.len());
            all.push(Arc::new(
                documents.from_manifest(&skill.manifest, body.as_deref()),
            ));
        }
        if let Some(embedder) = &self.embedder {
            for some in new.chunks(BATCH) {
                if let Err(error) = add_meanings(&**embedder, skills, some, &mut all) {
                    problem.set(Some(Arc::new(error)));
                    break;
                }
            }
        }
        Segment::new(all, base)
    }
}

/// Adds what some skills mean to their documents.
fn add_meanings(
    embedder: &dyn Embedder,
    skills: &[Arc<Skill>],
    some: &[usize],
    documents: &mut [Arc<Document>],
) -> Result<(), Error> {
    let text = |at: &usize| {
        let manifest = &skills[*at].manifest;
        let name = manifest.name().as_str().replace(['-', '_'], " ");
        format!("{name}. {}", start_of(manifest.description(), MEANT))
    };
    let texts: Vec<String> = some.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    for (at, vector) in some.iter().zip(embedder.embed(&texts)?) {
        let document =
            Document::clone(&documents[*at]).with_embedding(QuantizedVector::new(&vector));
        documents[*at] = Arc::new(document);
    }
    Ok(())
}

impl DocumentBuilder {
    /// Returns a skill of a snapshot as search sees it. To cover its body, the start of that is read.
    pub fn from_entry(&mut self, entry: &Entry<'_>, covers: SearchCoverage) -> Document {
        let body = match covers {
            SearchCoverage::Bodies => body(entry.catalog(), entry.skill()),
            SearchCoverage::Metadata => None,
        };
        self.from_manifest(entry.manifest(), body.as_deref())
    }
}

/// Reads the start of a skill's instructions; one that cannot be read is searched by its metadata.
fn body(catalog: &Catalog, skill: &Skill) -> Option<String> {
    let path = SKILL_FILE.parse().ok()?;
    let end = skill.body_start.saturating_add(BODY_BYTES as u64);
    let source = catalog.roots().get(skill.source)?.source();
    let content = source.read(&skill.folder, &path, skill.body_start..end);
    Some(String::from_utf8_lossy(&content.ok()?.bytes).into_owned())
}
