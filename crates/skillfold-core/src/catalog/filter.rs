//! A part of the catalog: filtered, and page by page.

use regex::{Regex, RegexBuilder};

use crate::catalog::entry::{Entry, Status};
use crate::catalog::key::canonical;
use crate::catalog::scope::Scope;
use crate::catalog::snapshot::Catalog;
use crate::error::Error;
use crate::read::source::Cursor;
use crate::text::fold;

/// Bytes that a compiled name pattern may take. A pattern on names is short; a request may come from a model.
const PATTERN_BYTES: usize = 1 << 20;

/// Which skills are wanted, by their metadata alone. Everything that is said must be true of a skill.
///
/// ```
/// use skillfold_core::{Filter, Scope};
///
/// let filter = Filter::default().scope(Scope::User).name("^pdf-")?.words("fill forms").tag("office");
/// # Ok::<(), skillfold_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    scopes: Vec<Scope>,
    statuses: Vec<Status>,
    name: Option<Regex>,
    words: Vec<String>,
    tags: Vec<String>,
    query: Option<String>,
}

impl Filter {
    /// Asks for skills of a scope; said twice, of either.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scopes.push(scope);
        self
    }

    /// Asks for skills that stand so; said twice, either way.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.statuses.push(status);
        self
    }

    /// Asks for names that a regular expression matches. Patterns take linear time; one that is wrong or too large is an
    /// error.
    pub fn name(mut self, pattern: &str) -> Result<Self, Error> {
        let compiled = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build();
        self.name = Some(compiled.map_err(|error| Error::invalid(pattern, reason(&error)))?);
        Ok(self)
    }

    /// Asks for descriptions that have all of some words, as parts of the text and without regard to case.
    #[must_use]
    pub fn words(mut self, words: &str) -> Self {
        self.words.extend(words.split_whitespace().map(fold));
        self
    }

    /// Asks for a tag, without regard to case.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.tags.push(fold(tag.trim()));
        self
    }

    /// Asks for a text that is part of the id or of a tag, without regard to case; an empty one asks for nothing.
    #[must_use]
    pub fn query(mut self, text: &str) -> Self {
        let text = canonical(text.trim());
        self.query = (!text.is_empty()).then(|| text.into_owned());
        self
    }

    /// Returns whether everything that is asked for is true of a skill.
    pub fn matches(&self, entry: &Entry<'_>) -> bool {
        let manifest = entry.manifest();
        let has_tag = |tag: &String| manifest.tags().iter().any(|own| fold(own) == *tag);
        (self.scopes.is_empty() || self.scopes.contains(&entry.scope()))
            && (self.statuses.is_empty() || self.statuses.contains(&entry.status()))
            && self
                .name
                .as_ref()
                .is_none_or(|name| name.is_match(manifest.name().as_str()))
            && self.tags.iter().all(has_tag)
            && self.has_words(manifest.description())
            && self.query.as_ref().is_none_or(|query| {
                let has_query = |text: &str| canonical(text).contains(&**query);
                has_query(entry.id()) || manifest.tags().iter().any(|tag| has_query(tag))
            })
    }

    fn has_words(&self, description: &str) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let description = fold(description);
        self.words.iter().all(|word| description.contains(word))
    }
}

/// Returns the last line of what the compiler says, which is the reason; the others repeat the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

/// A page of a catalog.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<'a> {
    /// The skills, ordered by id.
    pub entries: Vec<Entry<'a>>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

impl Catalog {
    /// Returns at most `limit` skills that a filter matches, from after `cursor` on. A cursor is an id, and stays good in a
    /// later snapshot.
    ///
    /// Without a filter a page costs the same in a catalog of any size; a filter is asked of each skill until the page is
    /// full.
    pub fn page(&self, filter: &Filter, cursor: Option<&Cursor>, limit: usize) -> Page<'_> {
        let by_id = self.tables.by_id();
        let start = cursor.map_or(0, |cursor| {
            by_id.partition_point(|at| self.entry(*at).id() <= cursor.as_str())
        });
        let mut matching = by_id[start..]
            .iter()
            .map(|at| self.entry(*at))
            .filter(|entry| filter.matches(entry));
        let entries: Vec<Entry<'_>> = matching.by_ref().take(limit.max(1)).collect();
        let next = matching
            .next()
            .and_then(|_| entries.last().map(|last| Cursor::after(last.id())));
        Page { entries, next }
    }
}
