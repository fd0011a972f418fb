//! All skills of a snapshot, searchable in memory.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::layers::{Layer, Layers};
use crate::choose::search::document::{BODY_BYTES, Document, Documents};
use crate::choose::search::query::{Query, Weighed};
use crate::choose::search::rank::CANDIDATES;
use crate::choose::search::segment::Segment;
use crate::read::discover::Skill;
use crate::read::source::SKILL_FILE;

/// What of the skills a search looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Covers {
    /// What they say of themselves.
    #[default]
    Metadata,
    /// Their instructions too.
    Bodies,
}

impl Covers {
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
/// use skillfold_core::{Catalog, Covers, MemorySource, Query, Root, Rules, Scope, SearchIndex};
///
/// let skill = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\n");
/// let source = MemorySource::new([
///     ("pdf/SKILL.md", skill("pdf", "Fills in forms")),
///     ("mail/SKILL.md", skill("mail", "Writes letters")),
/// ]);
/// let catalog = Catalog::discover(vec![Root::new(Scope::User, "mine", source)], Rules::default(), 0);
/// let index = SearchIndex::new(&catalog, Covers::Bodies);
///
/// let found = index.search(&Query::new("fill this form, please"), 10, |_| true);
/// assert_eq!(found.hits[0].entry.id(), "pdf");
/// assert_eq!(found.hits.len(), 1);
/// ```
pub struct SearchIndex {
    layers: Layers<Segment>,
    covers: Covers,
}

/// The skills that answer a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found<'a> {
    /// The best first.
    pub hits: Vec<SearchHit<'a>>,
    /// What of the skills was looked at.
    pub covers: Covers,
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
    /// Makes the skills of a snapshot searchable. To cover bodies, the start of each is read.
    pub fn new(catalog: &Catalog, covers: Covers) -> Self {
        let make = |skills: &[Arc<Skill>], base: Option<&Segment>| {
            segment(catalog, covers, skills, base, &HashMap::new())
        };
        Self {
            layers: Layers::new(catalog, |_| true, make),
            covers,
        }
    }

    /// Returns the same for a newer snapshot; only what changed is read.
    #[must_use]
    pub fn refresh(&self, catalog: &Catalog) -> Self {
        let known = self.layers.all().into_iter().flat_map(documents);
        let known: HashMap<*const Skill, &Arc<Document>> = known.collect();
        let make = |skills: &[Arc<Skill>], base: Option<&Segment>| {
            segment(catalog, self.covers, skills, base, &known)
        };
        Self {
            layers: self.layers.refresh(catalog, make),
            covers: self.covers,
        }
    }

    /// Returns the snapshot that is searched.
    pub fn catalog(&self) -> &Catalog {
        self.layers.catalog()
    }

    /// Returns what of the skills is searched.
    pub fn covers(&self) -> Covers {
        self.covers
    }

    /// Returns the bytes that it takes.
    pub fn bytes(&self) -> usize {
        let layers = self.layers.all().into_iter();
        layers.map(|layer| layer.made.bytes()).sum()
    }

    /// Returns the skills that answer a request best, at most so many, of those that may be seen.
    pub fn search(
        &self,
        query: &Query,
        limit: usize,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> Found<'_> {
        let layers = self.layers.all();
        let with_term = |term| {
            let lists = layers.iter().map(|layer| layer.made.postings(term).len());
            lists.sum::<usize>() as u64
        };
        let statistics = layers.iter().map(|layer| *layer.made.statistics()).sum();
        let weighed = Weighed::new(query, &statistics, with_term);
        let mut candidates = Vec::new();
        for layer in layers {
            let seen = |slot: usize| {
                let entry = layer.place(slot).map(|at| self.catalog().entry(at));
                entry.filter(&may_see)
            };
            candidates.extend(layer.made.best(&weighed, CANDIDATES, seen));
        }
        // Both layers gave their best; together they are compared as one.
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
        Found {
            hits: hits.collect(),
            covers: self.covers,
            unread: query.unread(),
        }
    }
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SearchIndex")
            .field("skills", &self.catalog().len())
            .field("covers", &self.covers)
            .finish_non_exhaustive()
    }
}

fn documents(layer: &Layer<Segment>) -> impl Iterator<Item = (*const Skill, &Arc<Document>)> {
    let documents = layer.made.documents().iter();
    layer.skills().iter().map(Arc::as_ptr).zip(documents)
}

/// Makes skills searchable; those that are known are not read again.
fn segment(
    catalog: &Catalog,
    covers: Covers,
    skills: &[Arc<Skill>],
    base: Option<&Segment>,
    known: &HashMap<*const Skill, &Arc<Document>>,
) -> Segment {
    let mut documents = Documents::new();
    let mut made = |skill: &Arc<Skill>| {
        if let Some(document) = known.get(&Arc::as_ptr(skill)) {
            return Arc::clone(document);
        }
        let body = match covers {
            Covers::Bodies => body(catalog, skill),
            Covers::Metadata => None,
        };
        Arc::new(documents.document(&skill.manifest, body.as_deref()))
    };
    let all: Vec<Arc<Document>> = skills.iter().map(&mut made).collect();
    Segment::new(all, base)
}

/// Reads the start of a skill's instructions; one that cannot be read is searched by its metadata.
fn body(catalog: &Catalog, skill: &Skill) -> Option<String> {
    let path = SKILL_FILE.parse().ok()?;
    let end = skill.body_start.saturating_add(BODY_BYTES as u64);
    let source = catalog.roots().get(skill.source)?.source();
    let content = source.read(&skill.folder, &path, skill.body_start..end);
    Some(String::from_utf8_lossy(&content.ok()?.bytes).into_owned())
}
