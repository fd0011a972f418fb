//! Why skills were chosen for a message, and why others were not.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::catalog::entry::{Entry, Status};
use crate::choose::finder::Finder;
use crate::choose::matcher::Matcher;
use crate::choose::near_miss::{NearMiss, near_misses};
use crate::choose::restraint::{Denials, near_exclusion};
use crate::disclose::decision::Decision;
use crate::disclose::memory::Memory as _;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::text::render_body;
use crate::disclose::turn::Turn;
use crate::error::Error;
use crate::load::loader::Loader;
use crate::search::common_words::is_common_word;
use crate::search::query::Query;
use crate::search::rank::MAX_CANDIDATES;
use crate::session_state::SessionState;

/// Maximum decisions to locate the evidence and count the tokens of, even if the skill is not given.
const MAX_EXPLAINED: usize = 50;

/// Maximum words that are said to be enough for a skill to be chosen.
const MAX_ENOUGH_WORDS: usize = 3;

/// Maximum words of a skill that are tried; each costs a search.
const MAX_TRIED_WORDS: usize = 16;

/// What a message would add, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// What the message would add; nothing was recorded.
    pub turn: Turn,
    /// Details of each decision of the turn, in the same order.
    pub details: Vec<MatchDetails>,
    /// The skills that the caller asked about and that did not match.
    pub unmatched: Vec<UnmatchedSkill>,
}

/// Details of a skill that matched.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MatchDetails {
    /// The bytes of the message that matched; only for the first 50 decisions.
    pub position: Option<Range<usize>>,
    /// Tokens of its instructions, whatever the outcome; `None` if they cannot be loaded. After the first 50 decisions
    /// only if the turn counted them.
    pub tokens: Option<u64>,
}

/// A skill that did not match.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnmatchedSkill {
    /// The skill's id.
    pub id: Box<str>,
    /// Why it did not match.
    pub reason: UnmatchedReason,
    /// Its triggers, the nearest to the message first, at most 50; empty unless they are the reason.
    pub near_misses: Vec<NearMiss>,
    /// The number of its triggers; 0 unless they are the reason.
    pub triggers: usize,
    /// How likely the message is about it, from 0 to 1; `None` unless a search ran and found it.
    pub confidence: Option<f32>,
    /// The confidence that its instructions need to be given; `None` unless a search ran.
    pub needed: Option<f32>,
    /// Words of its name and description that, added to the message, would be enough; empty if no search ran
    /// or a few words are not enough.
    pub enough_words: Vec<Box<str>>,
}

words! {
    /// Why a skill did not match.
    pub enum UnmatchedReason {
        /// Its folder is not trusted.
        Untrusted = "untrusted",
        /// The user does not trust it yet.
        Held = "held",
        /// An agent has proposed it as a new skill, and nobody has approved it. The session never says this; whoever knows
        /// the proposals does.
        Proposed = "proposed",
        /// It is disabled.
        Disabled = "disabled",
        /// It needs another version of a program.
        Incompatible = "incompatible",
        /// Another skill has its name.
        Shadowed = "shadowed",
        /// Only the user may start it.
        PersonOnly = "person_only",
        /// The conversation may not see it.
        NotVisible = "unseen",
        /// The mode only gives instructions that the model asks for.
        Mode = "mode",
        /// It has no trigger that could match.
        NoTriggers = "no_triggers",
        /// The message contains none of its triggers and not its name.
        NoMatch = "no_match",
        /// The message says not to use it.
        Denied = "denied",
        /// The message is near what it says it is not for.
        Excluded = "excluded",
        /// As [`NoMatch`](Self::NoMatch), and a search finds it below the threshold.
        Unlikely = "unlikely",
    }
}

impl UnmatchedReason {
    /// Returns what the reason means.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Untrusted => "its folder is not trusted",
            Self::Held => "it is new and held",
            Self::Proposed => "it is a proposal that is not approved yet",
            Self::Disabled => "it is disabled",
            Self::Incompatible => "it needs another version of a program",
            Self::Shadowed => "another skill has its name",
            Self::PersonOnly => "only the user may start it",
            Self::NotVisible => "this conversation may not see it",
            Self::Mode => "in `catalog` mode the model loads skills itself",
            Self::NoTriggers => "it has no triggers",
            Self::NoMatch => "none of its triggers is in the request",
            Self::Denied => "the request says not to use it",
            Self::Excluded => "the request is near what its description says it is not for",
            Self::Unlikely => {
                "the request has neither its name nor one of its triggers, and search ranks it below the threshold"
            }
        }
    }

    /// Returns what to do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Untrusted => "review the skill, then trust its project with `skillfold trust`",
            Self::Held => "review the skill, then trust it with `skillfold trust --held`",
            Self::Proposed => "review it with `skillfold review`",
            Self::Disabled => {
                "enable it in your settings; `skillfold doctor` shows which setting disables it"
            }
            Self::Incompatible => {
                "update the program, which `skillfold show` names, or set `version_mismatch` to `warn`"
            }
            Self::Shadowed => "give it another name, or load it by its id",
            Self::PersonOnly => "remove `disable-model-invocation` from its frontmatter",
            Self::NotVisible => "add it to the agent's `uses_skills`",
            Self::Mode => {
                "set `disclosure` to `hybrid` or `triggered`; otherwise the model loads it from the listing"
            }
            Self::NoTriggers => "add `triggers` with words from such requests to its frontmatter",
            Self::NoMatch => "add words from the request to its triggers",
            Self::Denied => "leave that out of the request",
            Self::Excluded => {
                "narrow that part of its description, or add words from the request to the rest"
            }
            Self::Unlikely => {
                "say in its description what such requests are about, or add words from the request to its triggers"
            }
        }
    }
}

impl SessionState {
    /// Explains what a message would add, and why each skill in `ids` would not match. Records nothing. Fails if an id
    /// does not resolve.
    ///
    /// The explanation is for the host and its users, not for the model: it covers skills that the conversation may not
    /// see.
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
                absent.push(self.explain_unmatched(&entry, matcher, policy, message));
            }
        }
        Ok(Explanation {
            details: match_details(&turn, matcher, loader, policy, message),
            turn,
            unmatched: absent,
        })
    }

    /// Returns why a skill did not match.
    fn explain_unmatched(
        &self,
        entry: &Entry<'_>,
        matcher: &Matcher,
        policy: &Policy,
        message: &str,
    ) -> UnmatchedSkill {
        let finder = policy.finder(matcher);
        let query = Query::new(message);
        let uses_words = !policy.is_triggers_only();
        let name = entry.manifest().name().as_str();
        let reason = match entry.status() {
            Status::Untrusted => UnmatchedReason::Untrusted,
            Status::Held => UnmatchedReason::Held,
            Status::Disabled => UnmatchedReason::Disabled,
            Status::Incompatible => UnmatchedReason::Incompatible,
            Status::Shadowed => UnmatchedReason::Shadowed,
            Status::Active if entry.manifest().disable_model_invocation() => {
                UnmatchedReason::PersonOnly
            }
            Status::Active if !self.may_see(entry.id()) => UnmatchedReason::NotVisible,
            Status::Active if policy.mode == Mode::Catalog => UnmatchedReason::Mode,
            Status::Active if uses_words && Denials::new(message).has(name) => {
                UnmatchedReason::Denied
            }
            Status::Active if uses_words && near_exclusion(|| &query, entry).is_some() => {
                UnmatchedReason::Excluded
            }
            Status::Active if finder.is_some() => UnmatchedReason::Unlikely,
            Status::Active if !matcher.has_triggers(entry) => UnmatchedReason::NoTriggers,
            Status::Active => UnmatchedReason::NoMatch,
        };
        let (near, triggers) = if matches!(
            reason,
            UnmatchedReason::NoMatch | UnmatchedReason::Unlikely | UnmatchedReason::Excluded
        ) {
            near_misses(entry.manifest(), message)
        } else {
            (Vec::new(), 0)
        };
        let finder = finder.filter(|_| reason == UnmatchedReason::Unlikely);
        let give_from = policy.suggestions.map(|thresholds| thresholds.give_from);
        let needed = give_from.map(|bar| policy.bars.bar(entry.id(), bar));
        let search = finder.zip(needed);
        UnmatchedSkill {
            id: entry.id().into(),
            reason,
            near_misses: near,
            triggers,
            confidence: finder
                .and_then(|finder| place(finder, entry, message))
                .map(|(_, confidence)| confidence),
            needed: search.map(|(_, needed)| needed),
            enough_words: search.map_or_else(Vec::new, |(finder, needed)| {
                enough_words(finder, entry, message, needed)
            }),
        }
    }
}

/// Returns the rank of a skill in a search over all skills that a model may see, and how likely the message is about it.
fn place(finder: &dyn Finder, entry: &Entry<'_>, message: &str) -> Option<(usize, f32)> {
    let found = finder.find(message, MAX_CANDIDATES, &|other| other.is_visible());
    let rank = found.iter().position(|hit| &*hit.id == entry.id())?;
    Some((rank, found[rank].confidence))
}

/// Returns a few words of a skill that make it the first result with the confidence that it needs: of its name, or else one
/// of its description. The rare words of a description help most, but several of them are what nobody would say.
fn enough_words(
    finder: &dyn Finder,
    entry: &Entry<'_>,
    message: &str,
    needed: f32,
) -> Vec<Box<str>> {
    let texts = [entry.id(), entry.manifest().description()];
    let fewest = |texts: &[&str], limit| {
        let candidates = candidate_words(texts, message);
        fewest_words(finder, entry, message, candidates, needed, limit)
    };
    let of_name = fewest(&texts[..1], MAX_ENOUGH_WORDS);
    if of_name.is_empty() {
        fewest(&texts, 1)
    } else {
        of_name
    }
}

/// Returns the fewest of the candidates that are enough. Each round takes the first word that is, or else adds the word that
/// helps most.
fn fewest_words(
    finder: &dyn Finder,
    entry: &Entry<'_>,
    message: &str,
    mut candidates: Vec<Box<str>>,
    needed: f32,
    limit: usize,
) -> Vec<Box<str>> {
    let mut message = message.to_owned();
    let mut words: Vec<Box<str>> = Vec::new();
    while words.len() < limit {
        let is_enough = |rank: usize, confidence: f32| rank == 0 && confidence >= needed;
        let mut best: Option<(usize, usize, f32)> = None;
        for (index, word) in candidates.iter().enumerate() {
            let found = place(finder, entry, &format!("{message} {word}"));
            let Some((rank, confidence)) = found else {
                continue;
            };
            let is_better = |(_, best_rank, best_confidence): (usize, usize, f32)| {
                (rank, -confidence) < (best_rank, -best_confidence)
            };
            if best.is_none_or(is_better) {
                best = Some((index, rank, confidence));
            }
            if is_enough(rank, confidence) {
                best = Some((index, rank, confidence));
                break;
            }
        }
        let Some((index, rank, confidence)) = best else {
            return Vec::new();
        };
        let word = candidates.remove(index);
        message = format!("{message} {word}");
        words.push(word);
        if is_enough(rank, confidence) {
            return words;
        }
    }
    Vec::new()
}

/// Returns words of a skill's texts that say what it is about and are not in the message.
fn candidate_words(texts: &[&str], message: &str) -> Vec<Box<str>> {
    let mut seen: HashSet<String> = words_of(message).collect();
    let words = texts.iter().flat_map(|text| words_of(text));
    words
        .filter(|word| !word.is_empty() && !is_common_word(word) && seen.insert(word.clone()))
        .take(MAX_TRIED_WORDS)
        .map(String::into_boxed_str)
        .collect()
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.map(str::to_lowercase)
}

/// Returns the position of the evidence and the tokens of the skill for each decision.
fn match_details(
    turn: &Turn,
    matcher: &Matcher,
    loader: &Loader,
    policy: &Policy,
    message: &str,
) -> Vec<MatchDetails> {
    let mut found = matcher.matches_cached(message);
    if policy.is_triggers_only() {
        found = found.triggers_only();
    }
    let found: HashMap<&str, _> = found
        .candidates
        .iter()
        .map(|candidate| (candidate.entry.id(), candidate))
        .collect();
    let tokens = |decision: &Decision| {
        let entry = matcher.catalog().resolve_for_model(&decision.id).ok()?;
        let instructions = loader.load(&entry, "").ok()?;
        let body = render_body(&entry, instructions, loader, policy.style);
        Some(policy.counter.count(&body.text))
    };
    let explained = turn.decisions.iter().take(MAX_EXPLAINED).map(|decision| {
        let candidate = found.get(&*decision.id);
        MatchDetails {
            position: candidate.map(|candidate| candidate.range(message)),
            tokens: decision.outcome.tokens().or_else(|| tokens(decision)),
        }
    });
    let rest = turn
        .decisions
        .iter()
        .skip(MAX_EXPLAINED)
        .map(|decision| MatchDetails {
            position: None,
            tokens: decision.outcome.tokens(),
        });
    explained.chain(rest).collect()
}
