//! Why skills were chosen for a message, and why others were not.

use std::collections::HashMap;
use std::ops::Range;

use crate::catalog::entry::{Entry, Status};
use crate::choose::finder::Finder;
use crate::choose::matcher::Matcher;
use crate::choose::near_miss::{NearMiss, near};
use crate::choose::search::rank::CANDIDATES;
use crate::disclose::memory::Memory as _;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::text::body;
use crate::disclose::turn::{Decision, Turn};
use crate::error::Error;
use crate::load::loader::Loader;
use crate::session::Session;

/// Skills that matched whose evidence is looked up, and whose tokens are counted though they are not given.
const EXPLAINED: usize = 50;

/// What a message would add, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// What it would add; nothing was remembered.
    pub turn: Turn,
    /// More about each decision of the turn, in the same order.
    pub details: Vec<MatchDetails>,
    /// The skills that were asked about and did not match.
    pub absent: Vec<UnmatchedSkill>,
}

/// More about a skill that matched.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MatchDetails {
    /// Where the evidence stands in the message, for the first 50 decisions.
    pub place: Option<Range<usize>>,
    /// Tokens of its instructions, of whichever outcome; nothing if they cannot be loaded, and after the first 50 decisions
    /// only where the turn counted them.
    pub tokens: Option<u64>,
}

/// A skill that did not match.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnmatchedSkill {
    /// Its id.
    pub id: Box<str>,
    /// Why.
    pub reason: UnmatchedReason,
    /// Its triggers, those that the message comes nearest to first, where they are the reason; at most 50.
    pub near: Vec<NearMiss>,
    /// How many triggers it has then.
    pub triggers: usize,
    /// How likely it is what the message is about, from 0 to 1, where a search looked for that and found it.
    pub confidence: Option<f32>,
}

/// Why a skill did not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnmatchedReason {
    /// Its folder is not trusted.
    Untrusted,
    /// It was switched off.
    Disabled,
    /// Another skill has its name.
    Shadowed,
    /// Only a person may start it.
    PersonOnly,
    /// The conversation may not see it.
    Unseen,
    /// The mode gives no instructions unasked.
    Mode,
    /// It has no trigger that could match.
    NoTriggers,
    /// None of its triggers is in the message, and its name is not said.
    NoMatch,
    /// Nor is it likely enough by what the message is about.
    Unlikely,
}

impl UnmatchedReason {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Disabled => "disabled",
            Self::Shadowed => "shadowed",
            Self::PersonOnly => "person_only",
            Self::Unseen => "unseen",
            Self::Mode => "mode",
            Self::NoTriggers => "no_triggers",
            Self::NoMatch => "no_match",
            Self::Unlikely => "unlikely",
        }
    }

    /// Returns what it means.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Untrusted => "its folder is not trusted",
            Self::Disabled => "it is disabled",
            Self::Shadowed => "another skill has its name",
            Self::PersonOnly => "only a person may start it",
            Self::Unseen => "this conversation may not see it",
            Self::Mode => "the mode `catalog` gives no instructions unasked",
            Self::NoTriggers => "it has no triggers",
            Self::NoMatch => "none of its triggers is in the request",
            Self::Unlikely => {
                "the request has neither its name nor one of its triggers, and search ranks it below the threshold"
            }
        }
    }

    /// Returns the way out.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Untrusted => "review the skill, then trust its project with `skillfold trust`",
            Self::Disabled => {
                "enable it in your settings; `skillfold doctor` shows which setting disables it"
            }
            Self::Shadowed => "give it another name, or load it by its id",
            Self::PersonOnly => "remove `disable-model-invocation` from its frontmatter",
            Self::Unseen => "add it to what the agent uses",
            Self::Mode => {
                "set `disclosure` to `hybrid` or `triggered`; the model loads it by the listing otherwise"
            }
            Self::NoTriggers => "add `triggers` with words of such requests to its frontmatter",
            Self::NoMatch => "add words of the request to its triggers",
            Self::Unlikely => {
                "say in its description what such requests are about, or add words of the request to its triggers"
            }
        }
    }
}

impl Session {
    /// Explains what a message would add, and why each of the skills that `ids` lead to would not; nothing is
    /// remembered. An id that leads to nothing is an error.
    ///
    /// The answer is for the host and its people. It speaks of skills that the conversation may not see, so it is not for
    /// its model.
    pub fn why(
        &self,
        matcher: &Matcher,
        loader: &Loader,
        policy: &Policy,
        message: &str,
        ids: &[&str],
    ) -> Result<Explanation, Error> {
        let turn = self.preview(matcher, loader, policy, message);
        let mut absent = Vec::new();
        for id in ids {
            let entry = matcher.catalog().resolve_or_suggest(id)?;
            let is_decided = |decision: &Decision| &*decision.id == entry.id();
            if !turn.decisions.iter().any(is_decided) {
                absent.push(self.why_not(&entry, matcher, policy, message));
            }
        }
        Ok(Explanation {
            details: details(&turn, matcher, loader, policy, message),
            turn,
            absent,
        })
    }

    /// Says why a skill that did not match did not.
    fn why_not(
        &self,
        entry: &Entry<'_>,
        matcher: &Matcher,
        policy: &Policy,
        message: &str,
    ) -> UnmatchedSkill {
        let finder = policy.finder(matcher);
        let reason = match entry.status() {
            Status::Untrusted => UnmatchedReason::Untrusted,
            Status::Disabled => UnmatchedReason::Disabled,
            Status::Shadowed => UnmatchedReason::Shadowed,
            Status::Active if entry.manifest().disable_model_invocation() => {
                UnmatchedReason::PersonOnly
            }
            Status::Active if !self.may_see(entry.id()) => UnmatchedReason::Unseen,
            Status::Active if policy.mode == Mode::Catalog => UnmatchedReason::Mode,
            Status::Active if finder.is_some() => UnmatchedReason::Unlikely,
            Status::Active if !matcher.has_triggers(entry) => UnmatchedReason::NoTriggers,
            Status::Active => UnmatchedReason::NoMatch,
        };
        let (near, triggers) =
            if matches!(reason, UnmatchedReason::NoMatch | UnmatchedReason::Unlikely) {
                near(entry.manifest(), message)
            } else {
                (Vec::new(), 0)
            };
        UnmatchedSkill {
            id: entry.id().into(),
            reason,
            near,
            triggers,
            confidence: finder
                .filter(|_| reason == UnmatchedReason::Unlikely)
                .and_then(|finder| confidence(finder, entry, message)),
        }
    }
}

/// Returns how likely a skill is what a message is about, among all that a model may see.
fn confidence(finder: &dyn Finder, entry: &Entry<'_>, message: &str) -> Option<f32> {
    let found = finder.find(message, CANDIDATES, &|other| other.is_visible());
    let own = found.iter().find(|one| &*one.id == entry.id());
    own.map(|one| one.confidence)
}

/// Returns where the evidence of each decision stands, and what its skill costs.
fn details(
    turn: &Turn,
    matcher: &Matcher,
    loader: &Loader,
    policy: &Policy,
    message: &str,
) -> Vec<MatchDetails> {
    let mut found = matcher.matches_cached(message);
    if policy.is_by_triggers() {
        found = found.by_triggers();
    }
    let found: HashMap<&str, _> = found
        .candidates
        .iter()
        .map(|candidate| (candidate.entry.id(), candidate))
        .collect();
    let tokens = |decision: &Decision| {
        let entry = matcher.catalog().resolve_for_model(&decision.id).ok()?;
        let instructions = loader.load(&entry, "").ok()?;
        let given = body(&entry, instructions, loader, policy.style);
        Some(policy.counter.count(&given.text))
    };
    let explained = turn.decisions.iter().take(EXPLAINED).map(|decision| {
        let candidate = found.get(&*decision.id);
        MatchDetails {
            place: candidate.map(|candidate| candidate.place(message)),
            tokens: decision.outcome.tokens().or_else(|| tokens(decision)),
        }
    });
    let rest = turn
        .decisions
        .iter()
        .skip(EXPLAINED)
        .map(|decision| MatchDetails {
            place: None,
            tokens: decision.outcome.tokens(),
        });
    explained.chain(rest).collect()
}
