//! Skills that a message does not ask for by name or trigger, and may be about.

use crate::catalog::entry::Entry;
use crate::choose::search::index::SearchIndex;

/// Finds the skills of a snapshot that a message may be about. A [`Matcher`](crate::Matcher) that has one suggests them.
pub trait Finder: Send + Sync {
    /// Returns the skills that answer a message best, at most so many, of those that may be seen.
    fn find(
        &self,
        message: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Suggestion>;
}

/// A skill that a message may be about.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever finds skills makes suggestions of these two"
)]
pub struct Suggestion {
    /// The skill's id.
    pub id: Box<str>,
    /// How likely it is what was meant, from 0 to 1.
    pub confidence: f32,
}

impl Finder for SearchIndex {
    fn find(
        &self,
        message: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Suggestion> {
        let found = self.search(&self.query(message), limit, may_see);
        let hits = found.hits.iter().map(|hit| Suggestion {
            id: hit.entry.id().into(),
            confidence: hit.confidence,
        });
        hits.collect()
    }
}
