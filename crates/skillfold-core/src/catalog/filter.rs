//! Filtering and paging of a catalog.

use regex::{Regex, RegexBuilder};

use crate::catalog::canonical::canonical;
use crate::catalog::entry::{Entry, Status};
use crate::catalog::scope::Scope;
use crate::catalog::snapshot::Catalog;
use crate::error::Error;
use crate::source::Cursor;
use crate::text::fold_case;

/// Size limit of a compiled name pattern. Patterns may come from a model, and those for names are short.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Selects skills by metadata. A skill must meet all conditions.
///
/// ```
/// use skillfold_core::Scope;
/// use skillfold_core::catalog::Filter;
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
    /// Requires a scope. Several calls allow any of their scopes.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scopes.push(scope);
        self
    }

    /// Requires a status. Several calls allow any of their statuses.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.statuses.push(status);
        self
    }

    /// Requires the name to match a regular expression. Matching takes linear time; an invalid or too large pattern is
    /// an error.
    pub fn name(mut self, pattern: &str) -> Result<Self, Error> {
        let compiled = RegexBuilder::new(pattern)
            .size_limit(MAX_PATTERN_BYTES)
            .build();
        self.name = Some(compiled.map_err(|error| Error::invalid(pattern, reason(&error)))?);
        Ok(self)
    }

    /// Requires the description to contain all of the words, as substrings and ignoring case.
    #[must_use]
    pub fn words(mut self, words: &str) -> Self {
        self.words.extend(words.split_whitespace().map(fold_case));
        self
    }

    /// Requires a tag, ignoring case.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.tags.push(fold_case(tag.trim()));
        self
    }

    /// Requires the id or a tag to contain the text, ignoring case; an empty text matches everything.
    #[must_use]
    pub fn query(mut self, text: &str) -> Self {
        let text = canonical(text.trim());
        self.query = (!text.is_empty()).then(|| text.into_owned());
        self
    }

    /// Returns whether a skill meets all conditions.
    pub fn matches(&self, entry: &Entry<'_>) -> bool {
        let manifest = entry.manifest();
        let has_tag = |tag: &String| manifest.tags().iter().any(|own| fold_case(own) == *tag);
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
        let description = fold_case(description);
        self.words.iter().all(|word| description.contains(word))
    }
}

/// Returns the last line of the error, which is the reason; the other lines repeat the pattern.
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
    /// Returns at most `limit` skills that match the filter, starting after `cursor`. A cursor is an id and stays valid
    /// in later snapshots.
    ///
    /// Without a filter, the cost of a page does not depend on the size of the catalog; a filter is applied to each
    /// skill until the page is full.
    pub fn page(&self, filter: &Filter, cursor: Option<&Cursor>, limit: usize) -> Page<'_> {
        let by_id = self.tables.by_id();
        let start = cursor.map_or(0, |cursor| {
            by_id.partition_point(|index| self.entry(*index).id() <= cursor.as_str())
        });
        let mut matching = by_id[start..]
            .iter()
            .map(|index| self.entry(*index))
            .filter(|entry| filter.matches(entry));
        let entries: Vec<Entry<'_>> = matching.by_ref().take(limit.max(1)).collect();
        let next = matching
            .next()
            .and_then(|_| entries.last().map(|last| Cursor::after(last.id())));
        Page { entries, next }
    }
}
