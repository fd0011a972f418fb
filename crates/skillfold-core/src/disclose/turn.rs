//! What one request adds to what a model was told.

use std::ops::Range;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::matcher::{Candidate, Matcher};
use crate::choose::rank::rank;
use crate::choose::signal::Signal;
use crate::diagnostic::{Diagnostic, visible};
use crate::disclose::budget::Budget;
use crate::disclose::changes::{AnnouncedChanges, ShownListing, announce};
use crate::disclose::listing::listing;
use crate::disclose::memory::{Memory, NoMemory, RepeatedSkill};
use crate::disclose::policy::{Breadcrumb, Fallback, LogDetail, Mode, Policy, Tier};
use crate::disclose::style::Style;
use crate::disclose::text::TurnText;
use crate::disclose::visible::{Suggested, VisibleSkillMatcher};
use crate::error::Error;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;

/// Skills that a person is asked to choose from.
const ASKED: usize = 5;

/// Skills that a log names; the rest is counted.
const LOGGED: usize = 20;

/// What a request adds, and why.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Turn {
    /// What the model is told, after everything before; nothing, if there is nothing to say.
    pub text: Option<String>,
    /// How much that is.
    pub tier: Tier,
    /// Tokens of the text.
    pub tokens: u64,
    /// What the model is told of skills that changed since its listing.
    pub announced: AnnouncedChanges,
    /// What became of each skill that matched, in the order of their ranks, and then of those that are given again by
    /// [`Signal::Earlier`].
    pub decisions: Vec<Decision>,
    /// The ids that a person may choose from, where nothing matched and the policy says to ask.
    pub candidates: Vec<Box<str>>,
    /// The bytes in the middle of the message that were not looked at, where it is too long.
    pub unread: Option<Range<usize>>,
    /// The bytes in the middle of the message that patterns did not look at, where there are patterns.
    pub unread_by_patterns: Option<Range<usize>>,
}

/// What became of a skill that matched.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// The skill's id.
    pub id: Box<str>,
    /// How it was asked for.
    pub signal: Signal,
    /// What of the skill matched.
    pub evidence: Box<str>,
    /// How likely it is what was meant, from 0 to 1: as a search says, or by the kind of [`Signal`]. Nothing for a skill
    /// that is given again.
    pub confidence: Option<f32>,
    /// What was done.
    pub outcome: Outcome,
}

/// What was done with a skill that matched.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Its instructions were given; they take so many tokens. Notes say what was odd.
    Given(u64, Arc<Instructions>, Vec<Diagnostic>),
    /// The model has them already.
    Known,
    /// They take so many tokens, and there was no room for them; a line says so.
    NoRoom(u64),
    /// Others came first; a line says that it matched, unless triggers alone bring instructions.
    Later,
    /// The message may be about it; a line says so.
    Suggested,
    /// They could not be loaded.
    Failed(Error),
}

impl Outcome {
    /// Returns the word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Given(..) => "given",
            Self::Known => "known",
            Self::NoRoom(_) => "no_room",
            Self::Later => "later",
            Self::Suggested => "suggested",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns how many tokens the instructions take, where that is known.
    pub const fn tokens(&self) -> Option<u64> {
        match self {
            Self::Given(tokens, ..) | Self::NoRoom(tokens) => Some(*tokens),
            Self::Known | Self::Later | Self::Suggested | Self::Failed(_) => None,
        }
    }
}

/// Decides what a message adds to what a model was told.
///
/// Only skills that match have their instructions loaded; what does not fit the budget, or comes after the first few, is a
/// line that says so. Nothing is cut and nothing is dropped without a decision.
pub fn turn(
    matcher: &Matcher,
    loader: &Loader,
    policy: &Policy,
    message: &str,
    memory: &dyn Memory,
) -> Turn {
    let _span = tracing::debug_span!("turn").entered();
    let turn = decide(matcher, loader, policy, message, memory);
    log(&turn, policy, message, memory);
    turn
}

/// Decides what a message adds, and logs nothing.
pub(crate) fn decide(
    matcher: &Matcher,
    loader: &Loader,
    policy: &Policy,
    message: &str,
    memory: &dyn Memory,
) -> Turn {
    let mut turn = Turn::default();
    let seen = VisibleSkillMatcher { matcher, memory };
    let announced = changes(&seen, policy, &mut turn);
    let (tier, said) = if policy.mode == Mode::Catalog || seen.entries().next().is_none() {
        (Tier::Nothing, None)
    } else {
        asked(&seen, loader, policy, message, &mut turn)
    };
    turn.tier = tier.max(if announced.is_some() {
        Tier::Registry
    } else {
        Tier::Nothing
    });
    turn.text = joined([announced, said]);
    let added = turn.text.as_deref();
    turn.tokens = added.map_or(0, |said| policy.counter.count(said));
    turn
}

/// Returns what is told of skills that changed since the model was given its listing.
fn changes(seen: &VisibleSkillMatcher<'_>, policy: &Policy, turn: &mut Turn) -> Option<String> {
    let shown = seen.memory.shown()?;
    let may_see = |id: &str| seen.memory.may_see(id);
    let (announced, text) = announce(shown, seen.matcher.catalog(), policy, may_see)?;
    turn.announced = announced;
    text
}

/// Returns what is told for a message, and how much that is.
fn asked(
    seen: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    policy: &Policy,
    message: &str,
    turn: &mut Turn,
) -> (Tier, Option<String>) {
    let mut found = seen.matcher.matches_cached(message);
    if policy.is_by_triggers() {
        found = found.by_triggers();
    }
    let suggested = seen.suggested(policy, message, &found);
    turn.unread = found.unread;
    turn.unread_by_patterns = found.unread_by_patterns;
    let chosen = TurnCandidates {
        matched: found.candidates,
        suggested,
    };
    let said = told(seen, loader, policy, chosen, &mut turn.decisions);
    let decisions = &turn.decisions;
    // What may fit is no match: the fallback is for a request that nothing surely fits.
    let is_matched = |decision: &Decision| !matches!(decision.outcome, Outcome::Suggested);
    let falls_back = !found.asks_for_list && !decisions.iter().any(is_matched);
    if falls_back && policy.fallback == Fallback::AskUser {
        turn.candidates = to_choose_from(seen, policy, message);
    }
    if decisions.is_empty() {
        return unmatched(seen, policy, found.asks_for_list);
    }
    let shows_all = found.asks_for_list || falls_back && policy.fallback == Fallback::ShowAll;
    let has_list = shows_all && policy.mode == Mode::Triggered;
    let listed = has_list.then(|| listing(seen.entries(), policy).text);
    (Tier::of(decisions), joined([listed, said]))
}

/// The skills that a message asks for, and those that it may be about.
struct TurnCandidates<'a> {
    matched: Vec<Candidate<'a>>,
    suggested: Vec<Suggested<'a>>,
}

/// Returns the instructions of skills that are asked for, of what the message is about, and of those that are given again.
fn told(
    seen: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    policy: &Policy,
    chosen: TurnCandidates<'_>,
    decisions: &mut Vec<Decision>,
) -> Option<String> {
    let memory = seen.memory;
    let candidates = chosen.matched.into_iter();
    let candidates = candidates.filter(|candidate| memory.may_see(candidate.entry.id()));
    let candidates = candidates.collect();
    let ranked = if policy.is_by_triggers() {
        candidates
    } else {
        rank(candidates, |id| memory.used(id))
    };
    let mut text = TurnText::new(policy, "matched");
    for candidate in &ranked {
        let outcome = text.add(&candidate.entry, "", loader, memory);
        decisions.push(Decision {
            id: candidate.entry.id().into(),
            signal: candidate.signal,
            evidence: candidate.evidence().into(),
            confidence: candidate.signal.confidence(),
            outcome,
        });
    }
    for (rank, suggested) in chosen.suggested.into_iter().enumerate() {
        let Some(outcome) = suggestion(seen, loader, &mut text, rank, &suggested) else {
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
    let kept = if policy.is_by_triggers() {
        Vec::new()
    } else {
        memory.repeated()
    };
    for RepeatedSkill { id, arguments } in kept {
        let is_decided = decisions.iter().any(|decision| decision.id == id);
        let entry = seen.matcher.catalog().resolve_for_model(&id).ok();
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

/// Adds what the model is told of a skill that a message may be about: the instructions of the likeliest, where it is likely
/// enough, or a line. Nothing, if the model has a line of it already or there is no room for one.
fn suggestion(
    seen: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    text: &mut TurnText<'_>,
    rank: usize,
    suggested: &Suggested<'_>,
) -> Option<Outcome> {
    let Suggested {
        entry, confidence, ..
    } = suggested;
    let suggesting = text.policy().suggesting?;
    if rank == 0 && *confidence >= suggesting.give_from {
        return Some(text.add(entry, "", loader, seen.memory));
    }
    let is_known = seen.has_all_lines() || seen.memory.used(entry.id()).is_some();
    let is_shown = *confidence >= suggesting.show_from && !is_known && text.suggest(entry);
    is_shown.then_some(Outcome::Suggested)
}

/// Returns what is given again after a conversation was cut short, in the order of `kept`, within the budget for
/// instructions.
pub(crate) fn again(
    catalog: &Catalog,
    loader: &Loader,
    policy: &Policy,
    kept: Vec<RepeatedSkill>,
    memory: &dyn Memory,
) -> Turn {
    let mut turn = Turn::default();
    let mut text = TurnText::new(policy, "used before");
    for RepeatedSkill { id, arguments } in kept {
        let entry = catalog
            .resolve_for_model(&id)
            .ok()
            .filter(|_| memory.may_see(&id));
        let outcome = match entry {
            Some(entry) => text.add(&entry, &arguments, loader, &NoMemory),
            None => Outcome::Failed(Error::no_skill(&id, Vec::new())),
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
    turn.tier = Tier::of(&turn.decisions);
    let said = turn.text.as_deref();
    turn.tokens = said.map_or(0, |said| policy.counter.count(said));
    tracing::info!(
        skills = turn.decisions.len(),
        tokens.total = turn.tokens,
        "skills given again after a conversation was cut short"
    );
    turn
}

impl Tier {
    /// Returns how much skills are told by decisions about them.
    fn of(decisions: &[Decision]) -> Self {
        let is_told =
            |decision: &Decision| matches!(decision.outcome, Outcome::Given(..) | Outcome::Known);
        if decisions.iter().any(is_told) {
            Self::Full
        } else if decisions.is_empty() {
            Self::Nothing
        } else {
            Self::Registry
        }
    }
}

/// Returns parts as one text, if there are any.
fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Says which skills matched and what was told, by names and numbers; the texts themselves only where the policy says so.
fn log(turn: &Turn, policy: &Policy, message: &str, memory: &dyn Memory) {
    let matched = turn.decisions.iter().take(LOGGED).map(|decision| {
        let outcome = decision.outcome.as_str();
        format!(
            "{} ({}, {outcome})",
            visible(&decision.id),
            decision.signal.as_str()
        )
    });
    let listing = memory.shown().map_or(0, ShownListing::tokens);
    let has_content = policy.logged == LogDetail::Content;
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

/// Returns the ids that a person may choose from: those that the message may be about, or else the first.
fn to_choose_from(seen: &VisibleSkillMatcher<'_>, policy: &Policy, message: &str) -> Vec<Box<str>> {
    let likely = if seen.is_searched(policy) {
        seen.likeliest(message, ASKED)
    } else {
        Vec::new()
    };
    if likely.is_empty() {
        let first = seen.entries().take(ASKED);
        return first.map(|entry| entry.id().into()).collect();
    }
    let likely = likely.iter();
    likely.map(|(entry, _)| entry.id().into()).collect()
}

/// Returns what is told where no skill matches.
fn unmatched(
    seen: &VisibleSkillMatcher<'_>,
    policy: &Policy,
    asks_for_list: bool,
) -> (Tier, Option<String>) {
    // In a hybrid the listing is there already.
    let has_listing = policy.mode == Mode::Hybrid;
    if asks_for_list || policy.fallback == Fallback::ShowAll {
        let said = (!has_listing).then(|| listing(seen.entries(), policy).text);
        return (Tier::Registry, said.filter(|said| !said.is_empty()));
    }
    if has_listing {
        return (Tier::Registry, None);
    }
    if policy.breadcrumb == Breadcrumb::Off {
        return (Tier::Nothing, None);
    }
    // What is found by no trigger and no search can only be found in a list.
    let is_searched = seen.is_searched(policy);
    let is_found = |entry: &Entry<'_>| is_searched || seen.matcher.has_triggers(entry);
    let count = seen.entries().filter(is_found).count();
    let breadcrumb = (count > 0).then(|| Style::breadcrumb(count));
    // What the breadcrumb takes is taken from the list.
    let taken = breadcrumb.as_deref().map_or(0, |line| {
        let parts = [line, "\n"];
        let measured = parts.map(|part| policy.catalog.measure(part, &*policy.counter));
        measured.iter().sum()
    });
    let breadcrumb = breadcrumb.filter(|_| taken <= policy.catalog.limit);
    let rest = Policy {
        catalog: Budget {
            limit: policy.catalog.limit.saturating_sub(taken),
            ..policy.catalog
        },
        ..policy.clone()
    };
    let listed = listing(seen.entries().filter(|entry| !is_found(entry)), &rest);
    let parts = [
        Some(listed.text).filter(|text| !text.is_empty()),
        breadcrumb,
    ];
    let tier = match &parts {
        [Some(_), _] => Tier::Registry,
        [None, Some(_)] => Tier::Breadcrumb,
        [None, None] => Tier::Nothing,
    };
    (tier, joined(parts))
}
