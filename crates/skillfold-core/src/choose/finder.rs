//! Finds skills related to a message that names neither them nor their triggers.

use crate::catalog::entry::Entry;
use crate::search::index::SearchIndex;

/// Finds skills related to a message. A [`Matcher`](crate::Matcher) with a finder suggests what it returns.
pub trait Finder: Send + Sync {
    /// Returns up to `limit` skills that fit a message best, among those that pass `may_see`.
    fn find(
        &self,
        message: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Suggestion>;
}

/// A skill that a message may be asking for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The skill's id.
    pub id: Box<str>,
    /// Estimated probability that the message needs the skill, from 0 to 1.
    pub confidence: f32,
}

impl Suggestion {
    /// Creates a suggestion from a skill's id and the probability that the message needs it.
    pub fn new(id: impl Into<Box<str>>, confidence: f32) -> Self {
        let id = id.into();
        Self { id, confidence }
    }
}

impl Finder for SearchIndex {
    fn find(
        &self,
        message: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Suggestion> {
        let results = self.search(&self.query(message), limit, may_see);
        let hits = results.hits.iter().map(|hit| Suggestion {
            id: hit.entry.id().into(),
            confidence: hit.activation,
        });
        hits.collect()
    }
}
