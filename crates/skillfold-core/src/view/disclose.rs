//! What a model is told for a request or in a conversation, and what it costs.

use std::ops::Range;

use crate::choose::restraint::Restraint;
use crate::disclose::changes::AnnouncedChanges;
use crate::disclose::decision::Decision;
use crate::disclose::listing::Listing;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::turn::Turn;
use crate::view::record::round_confidence;

/// What a model is told for a request, and what it costs in tokens.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Prompt {
    /// The request.
    pub request: String,
    /// The disclosure mode: `catalog`, `triggered` or `hybrid`.
    pub mode: String,
    /// The format of the texts: `lines`, `xml-rules`, `xml`, `markdown`, `tiers` or `bullets`.
    pub style: String,
    /// The listing; absent in the mode `triggered`, or if there are no skills to list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<Listing>,
    /// The text that the request adds; absent if it adds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How much the model is told: 0 nothing, 1 the number of skills, 2 lines about skills, 3 instructions.
    pub tier: u8,
    /// Tokens of the text that the request adds.
    pub added_tokens: u64,
    /// Tokens of the listing and the added text together.
    pub tokens: u64,
    /// Tokens of a plain list of all skills that the model may see, with their full descriptions.
    pub plain_list_tokens: u64,
    /// What the turn decided.
    #[serde(flatten)]
    pub decided: Decided,
}

/// What one turn of a conversation adds, and why.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TurnView {
    /// The text to add to the model's context; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How much the model is told: 0 nothing, 1 the number of skills, 2 lines about skills, 3 instructions.
    pub tier: u8,
    /// Tokens of the text.
    pub tokens: u64,
    /// What the turn decided.
    #[serde(flatten)]
    pub decided: Decided,
}

/// What a turn decided, and what its tokens are counted by.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Decided {
    /// What counted the tokens: `estimate`, or the name of an encoding such as `o200k_base`.
    pub counted_by: String,
    /// Changes to the skills since the listing; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announced: Option<AnnouncedChanges>,
    /// The decision about each skill that matched, by rank, then about skills that are given again.
    pub decisions: Vec<DecisionView>,
    /// Up to 5 ids for the user to choose from; absent unless nothing matched and `fallback` is `ask_user`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Box<str>>,
    /// Byte range in the middle of a too long request that was not matched; absent if the request is not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// Byte range in the middle of a long request that no pattern was matched against; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_by_patterns: Option<Bytes>,
}

/// A byte range of a text, from `start` up to but excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bytes {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// The decision about a skill that matched.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DecisionView {
    /// The skill's id.
    pub id: String,
    /// What made it match: `mention` (its name), `phrase` (a trigger of several words), `trigger` (any other trigger),
    /// `search`, or `earlier` (an earlier request; it is given again).
    pub signal: String,
    /// The name, trigger or pattern that matched; for `search` the words in common; empty for `earlier`.
    pub evidence: String,
    /// `given`, `known` (the model already has the instructions), `no_room` (they exceed the budget), `later` (the
    /// maximum number of skills was reached), `suggested` (in a line) or `failed` (they could not be loaded).
    pub outcome: String,
    /// Why its instructions were held back, or those of another skill, which it is suggested instead of; absent if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restraint: Option<String>,
    /// Confidence, from 0 to 1: that of the search, or fixed for the signal; absent for `earlier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Tokens of its instructions; absent if they were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Prompt {
    /// Creates the view. `plain_list_tokens` counts the instructions of all skills that the model may see.
    pub fn new(
        request: &str,
        policy: &Policy,
        listing: &Listing,
        turn: &Turn,
        plain_list_tokens: u64,
    ) -> Self {
        let has_listing = policy.mode != Mode::Triggered && !listing.text.is_empty();
        let listing = has_listing.then(|| listing.clone());
        let listing_tokens = listing.as_ref().map_or(0, |listing| listing.tokens);
        Self {
            request: request.to_owned(),
            mode: policy.mode.to_string(),
            style: policy.style.to_string(),
            listing,
            text: turn.text.clone(),
            tier: turn.tier.number(),
            added_tokens: turn.tokens,
            tokens: turn.tokens + listing_tokens,
            plain_list_tokens,
            decided: Decided::new(policy, turn),
        }
    }
}

impl TurnView {
    /// Creates the view of a turn; `policy` counted its tokens.
    pub fn new(policy: &Policy, turn: &Turn) -> Self {
        Self {
            text: turn.text.clone(),
            tier: turn.tier.number(),
            tokens: turn.tokens,
            decided: Decided::new(policy, turn),
        }
    }
}

impl Decided {
    fn new(policy: &Policy, turn: &Turn) -> Self {
        let announced = Some(turn.announced.clone());
        Self {
            counted_by: policy.counter.name().to_owned(),
            announced: announced.filter(|announced| !announced.is_empty()),
            decisions: turn.decisions.iter().map(DecisionView::new).collect(),
            candidates: turn.candidates.clone(),
            unread: turn.unread.clone().map(Bytes::from),
            unread_by_patterns: turn.unread_by_patterns.clone().map(Bytes::from),
        }
    }
}

impl DecisionView {
    pub(super) fn new(decision: &Decision) -> Self {
        Self {
            id: decision.id.to_string(),
            signal: decision.signal.as_str().to_owned(),
            evidence: decision.evidence.to_string(),
            outcome: decision.outcome.as_str().to_owned(),
            restraint: decision.restraint.as_ref().map(Restraint::message),
            confidence: decision.confidence.map(round_confidence),
            tokens: decision.outcome.tokens(),
        }
    }
}

impl From<Range<usize>> for Bytes {
    fn from(range: Range<usize>) -> Self {
        let Range { start, end } = range;
        Self { start, end }
    }
}
