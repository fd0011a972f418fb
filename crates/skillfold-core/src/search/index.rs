//! The in-memory search index of a snapshot.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::layers::{Layer, Layers};
use crate::catalog::snapshot::Catalog;
use crate::error::Error;
use crate::read::discover::Skill;
use crate::search::activation::{ACTIVATION_COUNT, ACTIVATION_NAMES, activation_features};
use crate::search::document::{BODY_BYTES, DocumentBuilder, SearchDocument};
use crate::search::embedding::{Embedder, QuantizedVector};
use crate::search::features::feature_names;
use crate::search::query::{Query, WeightedQuery};
use crate::search::rank::{EMBEDDING_CANDIDATES, LAYER_CANDIDATES};
use crate::search::segment::Segment;
use crate::source::SKILL_FILE;
use crate::source::progress;
use crate::text::truncate_bytes;

/// Maximum bytes of a text to embed.
const MAX_EMBEDDED_BYTES: usize = 2 * 1024;
/// Number of texts embedded per call.
const EMBEDDING_BATCH: usize = 256;

words! {
    /// Which parts of the skills are searched.
    #[derive(Default)]
    pub enum SearchCoverage {
        /// The metadata.
        #[default]
        Metadata = "metadata",
        /// The metadata and the instructions.
        Bodies = "bodies",
    }
}

/// An in-memory search index over all skills of a snapshot.
///
/// ```
/// use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
/// use skillfold_core::search::{SearchCoverage, SearchIndex};
///
/// let skill = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\n");
/// let source = MemorySource::new([
///     ("pdf/SKILL.md", skill("pdf", "Fills in forms")),
///     ("mail/SKILL.md", skill("mail", "Writes letters")),
/// ]);
/// let catalog = Catalog::discover(vec![Root::new(Scope::User, "mine", source)], CatalogOptions::default(), std::time::SystemTime::now());
/// let index = SearchIndex::new(&catalog, SearchCoverage::Bodies);
///
/// let found = index.search(&index.query("fill this form, please"), 10, |_| true);
/// assert_eq!(found.hits[0].entry.id(), "pdf");
/// assert_eq!(found.hits.len(), 1);
/// ```
pub struct SearchIndex {
    layers: Layers<Segment>,
    options: IndexOptions,
    /// Why embedding failed, if it did.
    problem: Option<Arc<Error>>,
}

/// What to index of a skill.
#[derive(Clone)]
struct IndexOptions {
    coverage: SearchCoverage,
    embedder: Option<Arc<dyn Embedder>>,
}

/// The skills found for a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexResults<'a> {
    /// The hits, best first.
    pub hits: Vec<SearchHit<'a>>,
    /// Which parts of the skills were searched.
    pub coverage: SearchCoverage,
    /// Byte range in the middle of a too long request that was ignored.
    pub unread: Option<Range<usize>>,
}

/// A skill found for a query.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SearchHit<'a> {
    /// The skill.
    pub entry: Entry<'a>,
    /// The relevance score. Scores are comparable only within one query.
    pub score: f32,
    /// Estimated probability that the skill is relevant, from 0 to 1.
    pub confidence: f32,
    /// Estimated probability that the text needs the skill, from 0 to 1, if nobody searched for one.
    pub activation: f32,
}

impl SearchIndex {
    /// Indexes the skills of a snapshot by their words. To cover bodies, the start of each is read.
    pub fn new(catalog: &Catalog, coverage: SearchCoverage) -> Self {
        let embedder = None;
        Self::build(catalog, IndexOptions { coverage, embedder })
    }

    /// Indexes the skills of a snapshot by their words and their embeddings.
    pub fn with_embedder(
        catalog: &Catalog,
        coverage: SearchCoverage,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        let embedder = Some(embedder);
        Self::build(catalog, IndexOptions { coverage, embedder })
    }

    fn build(catalog: &Catalog, options: IndexOptions) -> Self {
        let problem = Cell::new(None);
        let build = |skills: &[Arc<Skill>], base: Option<&Segment>| {
            options.build_segment(catalog, skills, base, &HashMap::new(), &problem)
        };
        Self {
            layers: Layers::new(catalog, |_| true, build),
            problem: problem.into_inner(),
            options,
        }
    }

    /// Returns the index of a newer snapshot. Only changed skills are read. If embedding failed before, it is retried.
    #[must_use]
    pub fn refresh(&self, catalog: &Catalog) -> Self {
        let documents = self.layers.all().into_iter().flat_map(layer_documents);
        let documents: HashMap<*const Skill, &Arc<SearchDocument>> = documents.collect();
        let problem = Cell::new(None);
        let build = |skills: &[Arc<Skill>], base: Option<&Segment>| {
            self.options
                .build_segment(catalog, skills, base, &documents, &problem)
        };
        // Documents without an embedding may be in either layer.
        let layers = if self.problem.is_some() {
            Layers::new(catalog, |_| true, build)
        } else {
            self.layers.refresh(catalog, build)
        };
        Self {
            layers,
            problem: problem.into_inner(),
            options: self.options.clone(),
        }
    }

    /// Returns the indexed snapshot.
    pub fn catalog(&self) -> &Catalog {
        self.layers.catalog()
    }

    /// Returns which parts of the skills are searched.
    pub fn coverage(&self) -> SearchCoverage {
        self.options.coverage
    }

    /// Returns why embedding some skills failed, if it did. Those skills are found by their words only.
    pub fn embedding_error(&self) -> Option<&Error> {
        self.problem.as_deref()
    }

    /// Returns the approximate memory size in bytes.
    pub fn memory_bytes(&self) -> usize {
        let layers = self.layers.all().into_iter();
        layers.map(|layer| layer.data.bytes()).sum()
    }

    /// Tokenizes a request and, if the index has an embedder, embeds it.
    pub fn query(&self, request: &str) -> Query {
        let query = Query::new(request);
        let Some(embedder) = &self.options.embedder else {
            return query;
        };
        match embedder.embed_query(truncate_bytes(request, MAX_EMBEDDED_BYTES)) {
            Ok(vector) => query.with_embedding(QuantizedVector::new(&vector)),
            Err(error) => {
                tracing::warn!(
                    problem = error.with_cause(),
                    "comparing a request by words only"
                );
                query.with_problem(&error)
            }
        }
    }

    /// Returns up to `limit` skills that fit a query best, among those that pass `may_see`.
    pub fn search(
        &self,
        query: &Query,
        limit: usize,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> IndexResults<'_> {
        let (weighted, candidates) = self.candidates(query, may_see);
        let order = |entry: &Entry<'_>| self.catalog().tables.position(entry.index());
        let entries: Vec<Entry<'_>> = candidates.iter().map(|candidate| candidate.0).collect();
        let documents = candidates.iter().enumerate();
        let ranked = weighted
            .rank(documents.map(|(number, (entry, document))| ((order(entry), number), *document)));
        let hits = ranked.into_iter().take(limit).map(|ranked| SearchHit {
            entry: entries[ranked.key.1],
            score: ranked.score,
            confidence: ranked.confidence,
            activation: ranked.activation,
        });
        IndexResults {
            hits: hits.collect(),
            coverage: self.options.coverage,
            unread: query.unread(),
        }
    }

    /// Returns the names of the ranking features.
    #[doc(hidden)]
    pub fn feature_names() -> Vec<String> {
        feature_names()
    }

    /// Returns the candidates for a query with their features, to train the ranker on.
    #[doc(hidden)]
    pub fn features(&self, query: &Query) -> Vec<(Entry<'_>, Vec<f32>)> {
        let (weighted, candidates) = self.candidates(query, |_| true);
        let documents = candidates.iter().enumerate();
        let features =
            weighted.features(documents.map(|(number, candidate)| (number, candidate.1)));
        let features = features.into_iter();
        features
            .map(|((number, _), features)| (candidates[number].0, features.into()))
            .collect()
    }

    /// Returns the names of the features of the activation.
    #[doc(hidden)]
    pub fn activation_feature_names() -> [&'static str; ACTIVATION_COUNT] {
        ACTIVATION_NAMES
    }

    /// Returns the best skills for a query with the features of their activation, to train it on.
    #[doc(hidden)]
    pub fn activation_features(
        &self,
        query: &Query,
        limit: usize,
    ) -> Vec<(Entry<'_>, [f32; ACTIVATION_COUNT])> {
        let (weighted, candidates) = self.candidates(query, |_| true);
        let order = |entry: &Entry<'_>| self.catalog().tables.position(entry.index());
        let documents = candidates.iter().enumerate();
        let documents =
            documents.map(|(number, (entry, document))| ((order(entry), number), *document));
        let ranked = weighted.rank_documents(documents).into_iter().take(limit);
        ranked
            .map(|((_, number), _, ranked)| {
                let features = activation_features(&weighted, &ranked);
                (candidates[number].0, features)
            })
            .collect()
    }

    /// Returns the skills to rank for a query.
    fn candidates(
        &self,
        query: &Query,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> (WeightedQuery, Vec<(Entry<'_>, &SearchDocument)>) {
        let layers = self.layers.all();
        let document_frequency = |term| {
            let lists = layers.iter().map(|layer| layer.data.postings(term).len());
            lists.sum::<usize>() as u64
        };
        let statistics = layers.iter().map(|layer| *layer.data.statistics()).sum();
        let weighted = WeightedQuery::new(query, &statistics, document_frequency);
        let (mut by_terms, mut by_embedding) = (Vec::new(), Vec::new());
        let order = |entry: &Entry<'_>| self.catalog().tables.position(entry.index());
        for layer in layers {
            let visible_entry = |slot: usize| {
                let entry = layer
                    .snapshot_index(slot)
                    .map(|index| self.catalog().entry(index));
                entry.filter(&may_see)
            };
            by_terms.extend(
                layer
                    .data
                    .best_by_terms(&weighted, LAYER_CANDIDATES, visible_entry),
            );
            if let Some(embedding) = query.embedding() {
                by_embedding.extend(layer.data.nearest(
                    embedding,
                    EMBEDDING_CANDIDATES,
                    visible_entry,
                ));
            }
        }
        let keyed = by_terms.iter().enumerate();
        let keyed = keyed.map(|(number, (entry, document))| ((order(entry), number), *document));
        let best = weighted.candidates(keyed).into_iter();
        let mut candidates: Vec<(Entry<'_>, &SearchDocument)> =
            best.map(|((_, number), _)| by_terms[number]).collect();
        candidates.extend(by_embedding);
        candidates.sort_by_key(|(entry, _)| entry.index());
        candidates.dedup_by_key(|(entry, _)| entry.index());
        (weighted, candidates)
    }
}

debug!(SearchIndex, "SearchIndex", |it| "skills": it.catalog().len(), "coverage": it.options.coverage);

/// Returns the skills of a layer with their documents.
fn layer_documents(
    layer: &Layer<Segment>,
) -> impl Iterator<Item = (*const Skill, &Arc<SearchDocument>)> {
    let documents = layer.data.documents().iter();
    layer.skills().iter().map(Arc::as_ptr).zip(documents)
}

impl IndexOptions {
    /// Indexes skills, reusing the known documents.
    fn build_segment(
        &self,
        catalog: &Catalog,
        skills: &[Arc<Skill>],
        base: Option<&Segment>,
        known: &HashMap<*const Skill, &Arc<SearchDocument>>,
        problem: &Cell<Option<Arc<Error>>>,
    ) -> Segment {
        let mut builder = DocumentBuilder::new();
        let (mut documents, mut to_embed) = (Vec::with_capacity(skills.len()), Vec::new());
        for skill in skills {
            if let Some(document) = known.get(&Arc::as_ptr(skill)) {
                if document.embedding().is_none() {
                    to_embed.push(documents.len());
                }
                documents.push(Arc::clone(document));
                continue;
            }
            let body = match self.coverage {
                SearchCoverage::Bodies => read_body(catalog, skill),
                SearchCoverage::Metadata => None,
            };
            to_embed.push(documents.len());
            documents.push(Arc::new(
                builder.from_manifest(&skill.manifest, body.as_deref()),
            ));
            progress::report("indexing", documents.len(), skills.len());
        }
        if let Some(embedder) = &self.embedder {
            // Batches of about the same size: a batch of one would be taken for a request, and not be cached.
            let batches = to_embed.len().div_ceil(EMBEDDING_BATCH).max(1);
            let batch_size = to_embed.len().div_ceil(batches).max(1);
            for (number, batch) in to_embed.chunks(batch_size).enumerate() {
                progress::report("embedding", number * batch_size, to_embed.len());
                if let Err(error) = add_embeddings(&**embedder, skills, batch, &mut documents) {
                    problem.set(Some(Arc::new(error)));
                    break;
                }
            }
        }
        Segment::new(documents, base)
    }
}

/// Adds embeddings to the documents of a batch, given by their positions.
fn add_embeddings(
    embedder: &dyn Embedder,
    skills: &[Arc<Skill>],
    batch: &[usize],
    documents: &mut [Arc<SearchDocument>],
) -> Result<(), Error> {
    let text = |position: &usize| {
        let manifest = &skills[*position].manifest;
        let name = manifest.name().as_str().replace(['-', '_'], " ");
        format!(
            "{name}. {}",
            truncate_bytes(manifest.description(), MAX_EMBEDDED_BYTES)
        )
    };
    let texts: Vec<String> = batch.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    for (position, vector) in batch.iter().zip(embedder.embed_documents(&texts)?) {
        let document = SearchDocument::clone(&documents[*position])
            .with_embedding(QuantizedVector::new(&vector));
        documents[*position] = Arc::new(document);
    }
    Ok(())
}

impl DocumentBuilder {
    /// Builds the document of a skill in a snapshot. To cover its body, the start of that is read.
    pub fn from_entry(&mut self, entry: &Entry<'_>, coverage: SearchCoverage) -> SearchDocument {
        let body = match coverage {
            SearchCoverage::Bodies => read_body(entry.catalog(), entry.skill()),
            SearchCoverage::Metadata => None,
        };
        self.from_manifest(entry.manifest(), body.as_deref())
    }
}

/// Reads the start of a skill's instructions. If that fails, the skill is indexed by its metadata only.
fn read_body(catalog: &Catalog, skill: &Skill) -> Option<String> {
    let path = SKILL_FILE.parse().ok()?;
    let end = skill.body_start.saturating_add(BODY_BYTES as u64);
    let source = catalog.roots().get(skill.source)?.source();
    let content = source.read(&skill.folder, &path, skill.body_start..end);
    Some(String::from_utf8_lossy(&content.ok()?.bytes).into_owned())
}
