//! Skills by the words of a request.

use std::ops::Range;
use std::sync::Arc;

use skillfold_core::{Catalog, Entry, Query, SearchCoverage, Snippet, read_body};

use crate::skills::Skills;

/// What was found for a request, in one snapshot.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchResults {
    /// The skills, the best first.
    pub hits: Vec<Hit>,
    /// What of the skills was looked at.
    pub coverage: SearchCoverage,
    /// The bytes in the middle of the request that were not looked at, where it is too long.
    pub unread: Option<Range<usize>>,
    /// How many skills were searched.
    pub searched: usize,
    /// Why less was looked at, or in another way, than there is a place for. What was found is right all the same.
    pub problem: Option<String>,
    /// Whether the index turned out to be damaged and is being made again: the metadata alone was searched in its place, and
    /// the same search may find more soon.
    pub is_stopgap: bool,
    catalog: Arc<Catalog>,
    query: Query,
}

/// A skill that was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hit {
    /// The skill's id.
    pub id: Box<str>,
    /// How well it answers, in no unit: scores of one request can be compared, those of two cannot.
    pub score: f32,
    /// How likely it is what was meant, from 0 to 1.
    pub confidence: f32,
}

impl Skills {
    /// Returns the skills that answer a request best, at most so many, of those that a model may see.
    ///
    /// The first search reads the start of each skill's instructions; later ones read what changed.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// # let file = "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// let found = skills.search("Could you say hello to Alice?", 10);
    /// assert_eq!(&*found.hits[0].id, "greet");
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough for the compiler"
    )]
    pub fn search(&self, request: &str, limit: usize) -> SearchResults {
        self.search_among(request, limit, |entry| entry.is_visible())
    }

    /// Returns the skills that answer a request best, of those that may be seen.
    pub fn search_among(
        &self,
        request: &str,
        limit: usize,
        may_see: impl Fn(&Entry<'_>) -> bool,
    ) -> SearchResults {
        let searching = self.searching();
        let query = searching.query(request);
        let found = searching.search(&query, limit, &may_see);
        let hits = found.best.into_iter().map(|(id, score, confidence)| Hit {
            id,
            score,
            confidence,
        });
        let catalog = Arc::clone(searching.catalog());
        SearchResults {
            hits: hits.collect(),
            coverage: found.covers,
            unread: query.unread(),
            searched: catalog.entries().filter(|entry| may_see(entry)).count(),
            is_stopgap: found.is_stopgap,
            problem: (found.problem.as_deref().or(query.problem())).map(str::to_owned),
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

    /// Returns the skill of a hit.
    pub fn entry(&self, hit: &Hit) -> Option<Entry<'_>> {
        self.catalog.get(&hit.id)
    }

    /// Returns the stretch of a skill that has the most words of the request: of its description, or of its instructions
    /// where they have more, which are read now. Nothing, if neither has one.
    pub fn snippet(&self, hit: &Hit, bytes: usize) -> Option<Snippet> {
        let entry = self.entry(hit)?;
        let described = self.query.snippet(entry.manifest().description(), bytes);
        let instructed = match self.coverage {
            SearchCoverage::Bodies => {
                body(&entry).and_then(|body| self.query.snippet(&body, bytes))
            }
            _ => None,
        };
        let terms = |snippet: &Option<Snippet>| snippet.as_ref().map_or(0, |one| one.terms);
        if terms(&instructed) > terms(&described) {
            instructed
        } else {
            described
        }
    }
}

fn body(entry: &Entry<'_>) -> Option<String> {
    let limits = &entry.catalog().options().read.walk.limits;
    let content = read_body(entry.root().source(), entry.skill(), limits).ok()?;
    Some(String::from_utf8_lossy(&content.bytes).into_owned())
}
