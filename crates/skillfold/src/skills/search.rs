//! Search for skills that answer a request.

use std::ops::Range;
use std::sync::Arc;

use skillfold_core::load::read_body;
use skillfold_core::search::{Query, SearchCoverage, Snippet};
use skillfold_core::{Catalog, Entry};

use crate::skills::Skills;

/// The results of a search in one snapshot.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchResults {
    /// The skills, best first.
    pub hits: Vec<Hit>,
    /// Which parts of the skills were searched.
    pub coverage: SearchCoverage,
    /// The byte range in the middle of the request that was skipped because the request is too long.
    pub skipped: Option<Range<usize>>,
    /// How many skills were searched.
    pub searched: usize,
    /// Why the search was less complete than configured, for example without the model or the disk index. The hits are
    /// valid all the same.
    pub problem: Option<String>,
    /// Whether the index is [being built](Skills::prepare_search), or was damaged and is being rebuilt. Only the metadata
    /// was searched instead, and the same search may find more soon.
    pub is_fallback: bool,
    catalog: Arc<Catalog>,
    query: Query,
}

/// A search hit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hit {
    /// The skill's id.
    pub id: Box<str>,
    /// The relevance score, without a unit. Scores are comparable only within one request.
    pub score: f32,
    /// The estimated probability that this is the right skill, from 0 to 1.
    pub confidence: f32,
}

impl Skills {
    /// Returns whether the search index is built.
    pub fn is_search_prepared(&self) -> bool {
        self.index().is_built()
    }

    /// Returns the `limit` skills that answer a request best, among those that a model may see.
    ///
    /// The first search reads the start of each skill's instructions; later ones read only what changed.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// # let file = "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
    /// let found = skills.search("Could you say hello to Alice?", 10);
    /// assert_eq!(&*found.hits[0].id, "greet");
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method path is not general enough over lifetimes"
    )]
    pub fn search(&self, request: &str, limit: usize) -> SearchResults {
        self.search_among(request, limit, |entry| entry.is_visible())
    }

    /// Builds the search index in the background. Until it is built, searches look at the metadata alone and
    /// [say so](SearchResults::is_fallback). Without this call, the first search builds the index and waits for it.
    pub fn prepare_search(&self) {
        self.index().prepare();
    }

    /// Returns the `limit` skills that answer a request best, among those that `may_see` accepts.
    pub fn search_among(
        &self,
        request: &str,
        limit: usize,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> SearchResults {
        self.check_trust();
        let index = self.index();
        let (query, found) = index.search(request, limit, &may_see);
        let hits = found.ranked.into_iter().map(|found| Hit {
            id: found.id,
            score: found.score,
            confidence: found.confidence,
        });
        let catalog = Arc::clone(index.catalog());
        SearchResults {
            hits: hits.collect(),
            coverage: found.coverage,
            skipped: query.unread(),
            searched: catalog.entries().filter(|entry| may_see(entry)).count(),
            is_fallback: found.is_fallback,
            problem: (found.problem.as_deref().or(query.embedding_error())).map(str::to_owned),
            catalog,
            query,
        }
    }
}

impl SearchResults {
    /// Returns the snapshot that was searched.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns whether the request was not compared by meaning because the embedder failed.
    pub(crate) fn is_without_meaning(&self) -> bool {
        self.query.embedding_error().is_some()
    }

    /// Returns the catalog entry of a hit.
    pub fn entry(&self, hit: &Hit) -> Option<Entry<'_>> {
        self.catalog.get(&hit.id)
    }

    /// Returns the passage of a skill, of at most `bytes` bytes, that contains the most words of the request. It is
    /// from the description, or from the instructions if those contain more; the instructions are read now. Returns
    /// `None` if neither contains a word of the request.
    pub fn snippet(&self, hit: &Hit, bytes: usize) -> Option<Snippet> {
        let entry = self.entry(hit)?;
        let from_description = self.query.snippet(entry.manifest().description(), bytes);
        let from_body = match self.coverage {
            SearchCoverage::Bodies => {
                read_body_text(&entry).and_then(|body| self.query.snippet(&body, bytes))
            }
            _ => None,
        };
        let terms = |snippet: &Option<Snippet>| snippet.as_ref().map_or(0, |one| one.terms);
        if terms(&from_body) > terms(&from_description) {
            from_body
        } else {
            from_description
        }
    }
}

fn read_body_text(entry: &Entry<'_>) -> Option<String> {
    let limits = &entry.catalog().options().read.walk.limits;
    let content = read_body(entry.root().source(), entry.skill(), limits).ok()?;
    Some(String::from_utf8_lossy(&content.bytes).into_owned())
}
