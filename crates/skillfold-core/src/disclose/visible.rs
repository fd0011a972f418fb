//! The skills that a conversation may see, and those of them that a search suggests for a message.

use crate::catalog::entry::Entry;
use crate::choose::matcher::{Matcher, Matches};
use crate::choose::restraint::Denials;
use crate::choose::signal::Signal;
use crate::disclose::changes::ShownListing;
use crate::disclose::memory::Memory;
use crate::disclose::policy::Policy;
use crate::search::query::Query;

/// Maximum search results that are considered as suggestions.
const MAX_SUGGESTIONS: usize = 8;

/// Bytes of a name or description that are searched for the words of a message.
const EVIDENCE_BYTES: usize = 400;

/// Maximum words that the evidence for a suggestion names.
const MAX_EVIDENCE_WORDS: usize = 5;

/// The skills that a conversation may see.
pub(super) struct VisibleSkillMatcher<'a> {
    pub(super) matcher: &'a Matcher,
    pub(super) memory: &'a dyn Memory,
}

/// A skill that a search suggests for a message.
pub(super) struct SuggestedSkill<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) confidence: f32,
    /// The words of the message that occur in its name or description.
    pub(super) evidence: Box<str>,
}

impl<'a> VisibleSkillMatcher<'a> {
    /// Returns the visible skills, in catalog order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let memory = self.memory;
        let visible = self.matcher.catalog().visible();
        visible.filter(move |entry| memory.may_see(entry.id()))
    }

    /// Returns whether skills are also found by search.
    pub(super) fn uses_search(&self, policy: &Policy) -> bool {
        policy.finder(self.matcher).is_some()
    }

    /// Returns whether the model has a line about every skill.
    pub(super) fn has_complete_listing(&self) -> bool {
        self.memory
            .shown_listing()
            .is_some_and(ShownListing::is_complete)
    }

    /// Returns at most `limit` skills that a message may be about, the most likely first.
    pub(super) fn most_likely(&self, message: &str, limit: usize) -> Vec<(Entry<'a>, f32)> {
        let may_see = |entry: &Entry<'_>| entry.is_visible() && self.memory.may_see(entry.id());
        let finder = self.matcher.finder();
        let found = finder.map(|finder| finder.find(message, limit, &may_see));
        let catalog = self.matcher.catalog();
        let mut found = found.unwrap_or_default();
        found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let found = found.into_iter();
        // A finder is not trusted to respect visibility.
        let resolved = found
            .filter_map(|hit| Some((catalog.resolve_for_model(&hit.id).ok()?, hit.confidence)));
        resolved.filter(|(entry, _)| may_see(entry)).collect()
    }

    /// Returns the skills that a message may be about and that are above a threshold. Returns none if the message names
    /// a skill, which leaves no doubt, or asks for the list of skills.
    pub(super) fn suggestions(
        &self,
        policy: &Policy,
        message: &str,
        denials: &Denials,
        matched: &Matches<'_>,
    ) -> Vec<SuggestedSkill<'a>> {
        let Some(thresholds) = policy.suggestions.filter(|_| self.uses_search(policy)) else {
            return Vec::new();
        };
        let candidates = matched.candidates.iter();
        let mut visible = candidates.filter(|candidate| self.memory.may_see(candidate.entry.id()));
        let is_named = visible.any(|candidate| candidate.signal == Signal::Mention);
        if is_named || matched.asks_for_list {
            return Vec::new();
        }
        let least = thresholds.give_from.min(thresholds.show_from);
        // A search decides about a skill that only a common word speaks for.
        let is_matched = |entry: &Entry<'_>| {
            let mut candidates = matched.candidates.iter();
            candidates
                .any(|candidate| candidate.entry.id() == entry.id() && !policy.is_weak(candidate))
        };
        let mut likely = self.most_likely(message, MAX_SUGGESTIONS);
        likely.retain(|(entry, confidence)| {
            *confidence >= policy.bars.bar(entry.id(), least)
                && !is_matched(entry)
                && !denials.has(entry.manifest().name().as_str())
        });
        if likely.is_empty() {
            return Vec::new();
        }
        let query = Query::new(message);
        let likely = likely.into_iter();
        let suggested = likely.map(|(entry, confidence)| SuggestedSkill {
            evidence: evidence(&query, &entry),
            entry,
            confidence,
        });
        suggested.collect()
    }
}

/// Returns the words of a skill's name and description that match a message, in lower case.
fn evidence(query: &Query, entry: &Entry<'_>) -> Box<str> {
    let manifest = entry.manifest();
    let name = manifest.name().as_str().replace(['-', '_'], " ");
    let mut words: Vec<String> = Vec::new();
    for text in [&*name, manifest.description()] {
        let snippet = query.snippet(text, EVIDENCE_BYTES).unwrap_or_default();
        for mark in &snippet.marks {
            let word = snippet.text[mark.clone()].to_lowercase();
            if words.len() < MAX_EVIDENCE_WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.join(", ").into()
}
