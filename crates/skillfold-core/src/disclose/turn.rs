//! What one request adds to what a model has been told.

use std::cell::OnceCell;
use std::ops::Range;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::matcher::Matcher;
use crate::choose::restraint::Denials;
use crate::choose::signal::Signal;
use crate::diagnostic::visible;
use crate::disclose::budget::Budget;
use crate::disclose::changes::{AnnouncedChanges, ShownListing, announce};
use crate::disclose::decision::{Decision, TurnCandidates, disclose_skills};
use crate::disclose::listing::listing;
use crate::disclose::memory::{Memory, NoMemory, RepeatedSkill};
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::policy::{Breadcrumb, Fallback, LogDetail, Mode, Policy, Tier};
use crate::disclose::style::Style;
use crate::disclose::text::TurnText;
use crate::disclose::visible::VisibleSkillMatcher;
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
    let denials = Denials::new(message);
    let mut found = skills.matcher.matches_cached(message);
    if policy.is_triggers_only() {
        found = found.triggers_only();
    } else {
        found.candidates.retain(|candidate| {
            let name = candidate.entry.manifest().name().as_str();
            !denials.has(name)
        });
    }
    let suggested = skills.suggestions(policy, message, &denials, &found);
    turn.unread = found.unread;
    turn.unread_by_patterns = found.unread_by_patterns;
    let candidates = TurnCandidates {
        message,
        query: OnceCell::new(),
        denials,
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
        turn.decisions.push(Decision::again(id, outcome));
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
