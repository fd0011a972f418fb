//! The skills that a conversation may see: all of them, or those that a message may be about.

use crate::catalog::entry::Entry;
use crate::choose::matcher::{Matcher, Matches};
use crate::choose::search::query::Query;
use crate::choose::signal::Signal;
use crate::disclose::changes::ShownListing;
use crate::disclose::memory::Memory;
use crate::disclose::policy::Policy;

/// Skills that are looked at as to how likely they are.
const LOOKED_AT: usize = 8;

/// Bytes of a description in which the words of a message are looked for.
const WINDOW: usize = 400;

/// Words of a message that evidence names.
const WORDS: usize = 5;

/// The skills that a conversation may see.
pub(super) struct VisibleSkillMatcher<'a> {
    pub(super) matcher: &'a Matcher,
    pub(super) memory: &'a dyn Memory,
}

/// A skill that a message may be about.
pub(super) struct Suggested<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) confidence: f32,
    /// The words of the message that its name and description have.
    pub(super) evidence: Box<str>,
}

impl<'a> VisibleSkillMatcher<'a> {
    /// Returns all of them, in the order of the catalog.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let memory = self.memory;
        let visible = self.matcher.catalog().visible();
        visible.filter(move |entry| memory.may_see(entry.id()))
    }

    /// Returns whether messages are searched for what they are about.
    pub(super) fn is_searched(&self, policy: &Policy) -> bool {
        policy.finder(self.matcher).is_some()
    }

    /// Returns whether the model has a line of every skill before it.
    pub(super) fn has_all_lines(&self) -> bool {
        self.memory.shown().is_some_and(ShownListing::is_whole)
    }

    /// Returns the skills that a message may be about, the likeliest first, at most so many.
    pub(super) fn likeliest(&self, message: &str, limit: usize) -> Vec<(Entry<'a>, f32)> {
        let may_see = |entry: &Entry<'_>| entry.is_visible() && self.memory.may_see(entry.id());
        let finder = self.matcher.finder();
        let found = finder.map(|finder| finder.find(message, limit, &may_see));
        let catalog = self.matcher.catalog();
        let mut found = found.unwrap_or_default();
        found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let found = found.into_iter();
        // Who finds skills is not asked to keep the rules.
        let usable = found
            .filter_map(|one| Some((catalog.resolve_for_model(&one.id).ok()?, one.confidence)));
        usable.filter(|(entry, _)| may_see(entry)).collect()
    }

    /// Returns the skills that a message may be about, of those that are likely enough to be told of. There are none where a
    /// name is said, as it is known then what is meant, or where the message asks what there is.
    pub(super) fn suggested(
        &self,
        policy: &Policy,
        message: &str,
        matched: &Matches<'_>,
    ) -> Vec<Suggested<'a>> {
        let Some(suggesting) = policy.suggesting.filter(|_| self.is_searched(policy)) else {
            return Vec::new();
        };
        let candidates = matched.candidates.iter();
        let mut seen = candidates.filter(|candidate| self.memory.may_see(candidate.entry.id()));
        let is_named = seen.any(|candidate| candidate.signal == Signal::Mention);
        if is_named || matched.asks_for_list {
            return Vec::new();
        }
        let least = suggesting.give_from.min(suggesting.show_from);
        let is_matched = |entry: &Entry<'_>| {
            let mut candidates = matched.candidates.iter();
            candidates.any(|candidate| candidate.entry.id() == entry.id())
        };
        let mut likely = self.likeliest(message, LOOKED_AT);
        likely.retain(|(entry, confidence)| *confidence >= least && !is_matched(entry));
        if likely.is_empty() {
            return Vec::new();
        }
        let query = Query::new(message);
        let likely = likely.into_iter();
        let suggested = likely.map(|(entry, confidence)| Suggested {
            evidence: evidence(&query, &entry),
            entry,
            confidence,
        });
        suggested.collect()
    }
}

/// Returns the words of a message that a skill's name and description have, as they stand there.
fn evidence(query: &Query, entry: &Entry<'_>) -> Box<str> {
    let manifest = entry.manifest();
    let name = manifest.name().as_str().replace(['-', '_'], " ");
    let mut words: Vec<String> = Vec::new();
    for text in [&*name, manifest.description()] {
        let snippet = query.snippet(text, WINDOW).unwrap_or_default();
        for mark in &snippet.marks {
            let word = snippet.text[mark.clone()].to_lowercase();
            if words.len() < WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.join(", ").into()
}
