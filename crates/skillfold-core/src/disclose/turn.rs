//! What one request adds to what a model was told.

use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::choose::matcher::Matcher;
use crate::choose::part::has_triggers;
use crate::choose::rank::rank;
use crate::choose::signal::Signal;
use crate::diagnostic::{Diagnostic, visible};
use crate::disclose::budget::Budget;
use crate::disclose::listing::listing;
use crate::disclose::policy::{Breadcrumb, Fallback, Mode, Policy, Tier};
use crate::disclose::style::Style;
use crate::disclose::text::Text;
use crate::error::Error;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;

/// Skills that a person is asked to choose from.
const ASKED: usize = 5;

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
    /// What became of each skill that matched, in the order of their ranks.
    pub decisions: Vec<Decision>,
    /// The ids that a person may choose from, where nothing matched and the policy says to ask.
    pub candidates: Vec<Box<str>>,
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
    /// Others came first; a line says that it matched.
    Later,
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
            Self::Failed(_) => "failed",
        }
    }

    /// Returns how many tokens the instructions take, where that is known.
    pub const fn tokens(&self) -> Option<u64> {
        match self {
            Self::Given(tokens, ..) | Self::NoRoom(tokens) => Some(*tokens),
            Self::Known | Self::Later | Self::Failed(_) => None,
        }
    }
}

/// What a conversation knows of the skills it was given.
pub trait Memory {
    /// Returns when a skill was last used, the later the higher; nothing if never.
    fn used(&self, id: &str) -> Option<u64>;

    /// Returns whether the model still has these instructions before it.
    fn has(&self, instructions: &Instructions) -> bool;

    /// Returns whether the conversation may see a skill.
    fn may_see(&self, _id: &str) -> bool {
        true
    }

    /// Returns the ids of skills that are given again though nothing asks for them now, the latest first.
    fn kept(&self) -> Vec<Box<str>> {
        Vec::new()
    }
}

/// A conversation that knows nothing.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing in it")]
pub struct Forgetful;

impl Memory for Forgetful {
    fn used(&self, _: &str) -> Option<u64> {
        None
    }

    fn has(&self, _: &Instructions) -> bool {
        false
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
    let mut turn = Turn::default();
    let seen = Seen { matcher, memory };
    if policy.mode == Mode::Catalog || seen.entries().next().is_none() {
        return turn;
    }
    let found = matcher.matches(message);
    let candidates = found.candidates.into_iter();
    let candidates = candidates.filter(|candidate| memory.may_see(candidate.entry.id()));
    let ranked = rank(candidates.collect(), |id| memory.used(id));
    let mut text = Text::new(policy);
    for candidate in &ranked {
        let outcome = text.add(&candidate.entry, loader, memory);
        turn.decisions.push(Decision {
            id: candidate.entry.id().into(),
            signal: candidate.signal,
            evidence: candidate.evidence().into(),
            outcome,
        });
    }
    for id in memory.kept() {
        let is_decided = ranked.iter().any(|candidate| candidate.entry.id() == &*id);
        let entry = matcher.catalog().usable(&id).ok();
        if let Some(entry) = entry.filter(|_| !is_decided && memory.may_see(&id)) {
            let outcome = text.add(&entry, loader, memory);
            turn.decisions.push(Decision {
                id,
                signal: Signal::Earlier,
                evidence: "".into(),
                outcome,
            });
        }
    }
    let is_told =
        |decision: &Decision| matches!(decision.outcome, Outcome::Given(..) | Outcome::Known);
    let matched_tier = if turn.decisions.iter().any(is_told) {
        Tier::Full
    } else {
        Tier::Registry
    };
    let said = text.finish();
    let (tier, said) = if turn.decisions.is_empty() {
        let asks = found.asks_for_list;
        unmatched(&seen, policy, asks, &mut turn.candidates)
    } else if found.asks_for_list && policy.mode == Mode::Triggered {
        let listed = listing(seen.entries(), policy).text;
        let parts: Vec<String> = [Some(listed), said].into_iter().flatten().collect();
        (matched_tier, Some(parts.join("\n")))
    } else {
        (matched_tier, said)
    };
    turn.tier = tier;
    turn.tokens = said.as_deref().map_or(0, |said| policy.counter.count(said));
    turn.text = said;
    log(&turn);
    turn
}

/// Says which skills matched and what was told, by names and numbers; no text of a skill or a request.
fn log(turn: &Turn) {
    let matched = turn.decisions.iter().map(|decision| {
        let outcome = decision.outcome.as_str();
        format!(
            "{} ({}, {outcome})",
            visible(&decision.id),
            decision.signal.as_str()
        )
    });
    tracing::info!(
        matched = matched.collect::<Vec<_>>().join(", "),
        tier = turn.tier.number(),
        tokens = turn.tokens,
        "skills for a request"
    );
}

/// The skills that a conversation may see.
struct Seen<'a> {
    matcher: &'a Matcher,
    memory: &'a dyn Memory,
}

impl<'a> Seen<'a> {
    fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let memory = self.memory;
        let visible = self.matcher.catalog().visible();
        visible.filter(move |entry| memory.may_see(entry.id()))
    }
}

/// Returns what is told where no skill matches.
fn unmatched(
    seen: &Seen<'_>,
    policy: &Policy,
    asks_for_list: bool,
    candidates: &mut Vec<Box<str>>,
) -> (Tier, Option<String>) {
    // In a hybrid the listing is there already.
    let has_listing = policy.mode == Mode::Hybrid;
    if asks_for_list || policy.fallback == Fallback::ShowAll {
        let said = (!has_listing).then(|| listing(seen.entries(), policy).text);
        return (Tier::Registry, said.filter(|said| !said.is_empty()));
    }
    if policy.fallback == Fallback::AskUser {
        candidates.extend(
            seen.entries()
                .take(ASKED)
                .map(|entry| Box::from(entry.id())),
        );
    }
    if has_listing {
        return (Tier::Registry, None);
    }
    let has_triggers = |entry: &Entry<'_>| has_triggers(entry.skill());
    let breadcrumb = match policy.breadcrumb {
        Breadcrumb::On => {
            let count = seen.entries().filter(has_triggers).count();
            (count > 0).then(|| Style::breadcrumb(count))
        }
        Breadcrumb::Off => None,
    };
    // What has no triggers can only be found in a list. What the breadcrumb takes is taken from it.
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
    let listed = listing(seen.entries().filter(|entry| !has_triggers(entry)), &rest);
    let parts = [
        Some(listed.text).filter(|text| !text.is_empty()),
        breadcrumb,
    ];
    let tier = match &parts {
        [Some(_), _] => Tier::Registry,
        [None, Some(_)] => Tier::Breadcrumb,
        [None, None] => Tier::Nothing,
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (tier, (!parts.is_empty()).then(|| parts.join("\n")))
}
