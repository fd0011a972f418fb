//! What one request adds to what a model has been told.

use std::ops::Range;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::matcher::{Candidate, Matcher};
use crate::choose::rank::rank;
use crate::choose::signal::Signal;
use crate::diagnostic::visible;
use crate::disclose::budget::Budget;
use crate::disclose::changes::{AnnouncedChanges, ShownListing, announce};
use crate::disclose::listing::listing;
use crate::disclose::memory::{Memory, NoMemory, RepeatedSkill};
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::policy::{Breadcrumb, Fallback, LogDetail, Mode, Policy, Tier};
use crate::disclose::style::Style;
use crate::disclose::text::TurnText;
use crate::disclose::visible::{SuggestedSkill, VisibleSkillMatcher};
use crate::error::Error;
use crate::load::loader::Loader;

/// Maximum skills that the user is asked to choose from.
const MAX_CANDIDATES: usize = 5;

/// Maximum skills that a log event names; the rest is only counted.
const MAX_LOGGED_SKILLS: usize = 20;

/// What a request adds to the context, and why.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Turn {
    /// The text to append to the model's context, if there is any.
    pub text: Option<String>,
    /// How much the text discloses.
    pub tier: Tier,
    /// Tokens of the text.
    pub tokens: u64,
    /// The changes since the listing that the text announces.
    pub announced: AnnouncedChanges,
    /// The decision about each skill that matched, by rank, followed by the skills that are given again
    /// ([`Signal::Earlier`]).
    pub decisions: Vec<Decision>,
    /// The ids that the user may choose from, if nothing matched and the policy says to ask.
    pub candidates: Vec<Box<str>>,
    /// The bytes in the middle of a message that were not matched because the message is too long.
    pub unread: Option<Range<usize>>,
    /// The bytes in the middle of a message that patterns were not matched against; `None` if there are no patterns.
    pub unread_by_patterns: Option<Range<usize>>,
}

/// The decision about a skill that matched.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// The skill's id.
    pub id: Box<str>,
    /// What made the skill match.
    pub signal: Signal,
    /// The part of the skill that matched, such as its name or a trigger.
    pub evidence: Box<str>,
    /// How likely the skill is the right one, from 0 to 1: the score of the search, or fixed per kind of [`Signal`].
    /// `None` for a skill that is given again.
    pub confidence: Option<f32>,
    /// What was done with the skill.
    pub outcome: SkillOutcome,
}

/// Decides what a message adds to what a model has been told.
///
/// Loads the instructions of matching skills only. A skill beyond the budget or the maximum number gets a line instead.
/// Instructions are never cut, and no match is dropped without a decision.
pub fn turn(
    matcher: &Matcher,
    loader: &Loader,
    policy: &Policy,
    message: &str,
    memory: &dyn Memory,
) -> Turn {
    let _span = tracing::debug_span!("turn").entered();
    let turn = decide(matcher, loader, policy, message, memory);
    log_turn(&turn, policy, message, memory);
    turn
}

/// Like [`turn`], but logs nothing.
pub(crate) fn decide(
    matcher: &Matcher,
    loader: &Loader,
    policy: &Policy,
    message: &str,
    memory: &dyn Memory,
) -> Turn {
    let mut turn = Turn::default();
    let skills = VisibleSkillMatcher { matcher, memory };
    let announced = announce_changes(&skills, policy, &mut turn);
    let (tier, text) = if policy.mode == Mode::Catalog || skills.entries().next().is_none() {
        (Tier::Nothing, None)
    } else {
        disclose_message(&skills, loader, policy, message, &mut turn)
    };
    turn.tier = tier.max(if announced.is_some() {
        Tier::Registry
    } else {
        Tier::Nothing
    });
    turn.text = join_parts([announced, text]);
    let text = turn.text.as_deref();
    turn.tokens = text.map_or(0, |text| policy.counter.count(text));
    turn
}

/// Records the changes since the model's listing in the turn, and returns the text that announces them.
fn announce_changes(
    skills: &VisibleSkillMatcher<'_>,
    policy: &Policy,
    turn: &mut Turn,
) -> Option<String> {
    let shown = skills.memory.shown_listing()?;
    let may_see = |id: &str| skills.memory.may_see(id);
    let (announced, text) = announce(shown, skills.matcher.catalog(), policy, may_see)?;
    turn.announced = announced;
    text
}

/// Returns what a message discloses: the tier and the text.
fn disclose_message(
    skills: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    policy: &Policy,
    message: &str,
    turn: &mut Turn,
) -> (Tier, Option<String>) {
    let mut found = skills.matcher.matches_cached(message);
    if policy.is_triggers_only() {
        found = found.triggers_only();
    }
    let suggested = skills.suggestions(policy, message, &found);
    turn.unread = found.unread;
    turn.unread_by_patterns = found.unread_by_patterns;
    let candidates = TurnCandidates {
        matched: found.candidates,
        suggested,
    };
    let text = disclose_skills(skills, loader, policy, candidates, &mut turn.decisions);
    let decisions = &turn.decisions;
    // A suggestion does not count as a match: the fallback is for a request without a certain match.
    let is_matched = |decision: &Decision| {
        decision.signal != Signal::Search
            || !matches!(
                decision.outcome,
                SkillOutcome::Suggested | SkillOutcome::Named
            )
    };
    let falls_back = !found.asks_for_list && !decisions.iter().any(is_matched);
    if falls_back && policy.fallback == Fallback::AskUser {
        turn.candidates = candidate_ids(skills, policy, message);
    }
    if decisions.is_empty() {
        return disclose_unmatched(skills, policy, found.asks_for_list);
    }
    let shows_all = found.asks_for_list || falls_back && policy.fallback == Fallback::ShowAll;
    let has_list = shows_all && policy.mode == Mode::Triggered;
    let listed = has_list.then(|| listing(skills.entries(), 0, policy).text);
    (Tier::from_decisions(decisions), join_parts([listed, text]))
}

/// The skills that match a message, and those that a search suggests for it.
struct TurnCandidates<'a> {
    matched: Vec<Candidate<'a>>,
    suggested: Vec<SuggestedSkill<'a>>,
}

/// Decides about the skills that match, those that are suggested, and those that are given again, and returns the text.
fn disclose_skills(
    skills: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    policy: &Policy,
    candidates: TurnCandidates<'_>,
    decisions: &mut Vec<Decision>,
) -> Option<String> {
    let memory = skills.memory;
    let matched = candidates.matched.into_iter();
    let matched = matched.filter(|candidate| memory.may_see(candidate.entry.id()));
    let matched = matched.collect();
    let ranked = if policy.is_triggers_only() {
        matched
    } else {
        rank(matched, |id| memory.last_used(id))
    };
    let mut text = TurnText::new(policy, "matched");
    let is_suggested = |candidate: &Candidate<'_>| {
        let mut suggested = candidates.suggested.iter();
        suggested.any(|suggested| suggested.entry.id() == candidate.entry.id())
    };
    for candidate in &ranked {
        let is_weak = policy.is_weak(candidate);
        if is_weak && is_suggested(candidate) {
            continue;
        }
        let outcome = if is_weak {
            text.mention(&candidate.entry, memory)
        } else {
            text.tell(&candidate.entry, loader, memory)
        };
        decisions.push(Decision {
            id: candidate.entry.id().into(),
            signal: candidate.signal,
            evidence: candidate.evidence().into(),
            confidence: candidate.signal.confidence(),
            outcome,
        });
    }
    for (rank, suggested) in candidates.suggested.into_iter().enumerate() {
        let Some(outcome) = add_suggestion(skills, loader, &mut text, rank, &suggested) else {
            continue;
        };
        decisions.push(Decision {
            id: suggested.entry.id().into(),
            signal: Signal::Search,
            evidence: suggested.evidence,
            confidence: Some(suggested.confidence),
            outcome,
        });
    }
    let repeated = if policy.is_triggers_only() {
        Vec::new()
    } else {
        memory.repeated()
    };
    for RepeatedSkill { id, arguments } in repeated {
        let is_decided = decisions.iter().any(|decision| decision.id == id);
        let entry = skills.matcher.catalog().resolve_for_model(&id).ok();
        if let Some(entry) = entry.filter(|_| !is_decided && memory.may_see(&id)) {
            let outcome = text.add(&entry, &arguments, loader, memory);
            decisions.push(Decision {
                id,
                signal: Signal::Earlier,
                evidence: "".into(),
                confidence: None,
                outcome,
            });
        }
    }
    text.finish()
}

/// Adds a suggested skill: its instructions if it is the most likely one and above the threshold, otherwise a line.
/// Returns `None` if the model already has a line about it, or there is no room for one.
fn add_suggestion(
    skills: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    text: &mut TurnText<'_>,
    rank: usize,
    suggested: &SuggestedSkill<'_>,
) -> Option<SkillOutcome> {
    let SuggestedSkill {
        entry, confidence, ..
    } = suggested;
    let thresholds = text.policy().suggestions?;
    if rank == 0 && *confidence >= thresholds.give_from {
        return Some(text.tell(entry, loader, skills.memory));
    }
    if skills.has_complete_listing() || *confidence < thresholds.show_from {
        return None;
    }
    let outcome = text.mention(entry, skills.memory);
    matches!(outcome, SkillOutcome::Suggested | SkillOutcome::Named).then_some(outcome)
}

/// Gives skills again after the conversation was compacted, in the order of `skills`, within the budget for
/// instructions.
pub(crate) fn give_again(
    catalog: &Catalog,
    loader: &Loader,
    policy: &Policy,
    skills: Vec<RepeatedSkill>,
    memory: &dyn Memory,
) -> Turn {
    let mut turn = Turn::default();
    let mut text = TurnText::new(policy, "used before");
    for RepeatedSkill { id, arguments } in skills {
        let entry = catalog
            .resolve_for_model(&id)
            .ok()
            .filter(|_| memory.may_see(&id));
        let outcome = match entry {
            Some(entry) => text.add(&entry, &arguments, loader, &NoMemory),
            None => SkillOutcome::Failed(Error::no_skill(&id, Vec::new())),
        };
        turn.decisions.push(Decision {
            id,
            signal: Signal::Earlier,
            evidence: "".into(),
            confidence: None,
            outcome,
        });
    }
    turn.text = text.finish();
    turn.tier = Tier::from_decisions(&turn.decisions);
    let text = turn.text.as_deref();
    turn.tokens = text.map_or(0, |text| policy.counter.count(text));
    tracing::info!(
        skills = turn.decisions.len(),
        tokens.total = turn.tokens,
        "skills given again after a conversation was cut short"
    );
    turn
}

impl Tier {
    /// Returns the tier that follows from decisions about skills.
    fn from_decisions(decisions: &[Decision]) -> Self {
        let has_instructions = |decision: &Decision| {
            matches!(
                decision.outcome,
                SkillOutcome::Given(..) | SkillOutcome::Known
            )
        };
        if decisions.iter().any(has_instructions) {
            Self::Full
        } else if decisions.is_empty() {
            Self::Nothing
        } else {
            Self::Registry
        }
    }
}

/// Joins the parts that are present with line ends.
fn join_parts<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Logs which skills matched and what the model is told, as ids and numbers; the texts only if the policy says so.
fn log_turn(turn: &Turn, policy: &Policy, message: &str, memory: &dyn Memory) {
    let matched = turn
        .decisions
        .iter()
        .take(MAX_LOGGED_SKILLS)
        .map(|decision| {
            let outcome = decision.outcome.as_str();
            format!(
                "{} ({}, {outcome})",
                visible(&decision.id),
                decision.signal.as_str()
            )
        });
    let listing = memory.shown_listing().map_or(0, ShownListing::tokens);
    let has_content = policy.log_detail == LogDetail::Content;
    tracing::info!(
        matched = matched.collect::<Vec<_>>().join(", "),
        decisions = turn.decisions.len(),
        mode = policy.mode.as_str(),
        tier = turn.tier.number(),
        tokens.total = turn.tokens.saturating_add(listing),
        tokens.listing = listing,
        tokens.added = turn.tokens,
        request = has_content.then_some(message),
        text = turn.text.as_deref().filter(|_| has_content),
        "skills for a request"
    );
}

/// Returns the ids that the user may choose from: the skills that the message may be about, or else the first ones.
fn candidate_ids(
    skills: &VisibleSkillMatcher<'_>,
    policy: &Policy,
    message: &str,
) -> Vec<Box<str>> {
    let likely = if skills.uses_search(policy) {
        skills.most_likely(message, MAX_CANDIDATES)
    } else {
        Vec::new()
    };
    if likely.is_empty() {
        let first = skills.entries().take(MAX_CANDIDATES);
        return first.map(|entry| entry.id().into()).collect();
    }
    let likely = likely.iter();
    likely.map(|(entry, _)| entry.id().into()).collect()
}

/// Returns what is disclosed when no skill matches: the tier and the text.
fn disclose_unmatched(
    skills: &VisibleSkillMatcher<'_>,
    policy: &Policy,
    asks_for_list: bool,
) -> (Tier, Option<String>) {
    // In hybrid mode the model already has the listing.
    let has_listing = policy.mode == Mode::Hybrid;
    if asks_for_list || policy.fallback == Fallback::ShowAll {
        let text = (!has_listing).then(|| listing(skills.entries(), 0, policy).text);
        return (Tier::Registry, text.filter(|text| !text.is_empty()));
    }
    if has_listing {
        return (Tier::Registry, None);
    }
    if policy.breadcrumb == Breadcrumb::Off {
        return (Tier::Nothing, None);
    }
    // A skill that neither triggers nor search can find is only reachable through a listing.
    let uses_search = skills.uses_search(policy);
    let is_findable = |entry: &Entry<'_>| uses_search || skills.matcher.has_triggers(entry);
    let count = skills.entries().filter(is_findable).count();
    let breadcrumb = (count > 0).then(|| Style::breadcrumb(count));
    // The breadcrumb counts towards the budget of the listing.
    let used = breadcrumb.as_deref().map_or(0, |line| {
        let parts = [line, "\n"];
        let measured = parts.map(|part| policy.catalog.measure(part, &*policy.counter));
        measured.iter().sum()
    });
    let breadcrumb = breadcrumb.filter(|_| used <= policy.catalog.limit);
    let remaining = Policy {
        catalog: Budget {
            limit: policy.catalog.limit.saturating_sub(used),
            ..policy.catalog
        },
        ..policy.clone()
    };
    let unfindable = skills.entries().filter(|entry| !is_findable(entry));
    let listed = listing(unfindable, 0, &remaining);
    let parts = [
        Some(listed.text).filter(|text| !text.is_empty()),
        breadcrumb,
    ];
    let tier = match &parts {
        [Some(_), _] => Tier::Registry,
        [None, Some(_)] => Tier::Breadcrumb,
        [None, None] => Tier::Nothing,
    };
    (tier, join_parts(parts))
}
