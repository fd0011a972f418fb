//! What a model is told for a request or in a conversation, and what it costs.

use std::ops::Range;

use crate::disclose::changes::AnnouncedChanges;
use crate::disclose::listing::Listing;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::turn::{Decision, Turn};
use crate::view::record::{round_confidence, to_strings};

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
    pub listing: Option<ListingText>,
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
    /// What counted the tokens: `estimate`, or the name of an encoding such as `o200k_base`.
    pub counted_by: String,
    /// Changes to the skills since the listing; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announced: Option<AnnouncedView>,
    /// The decision about each skill that matched, by rank, then about skills that are given again.
    pub decisions: Vec<DecisionView>,
    /// Up to 5 ids for the user to choose from; absent unless nothing matched and `fallback` is `ask_user`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Byte range in the middle of a too long request that was not matched; absent if the request is not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// Byte range in the middle of a long request that no pattern was matched against; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_by_patterns: Option<Bytes>,
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
    /// What counted the tokens: `estimate`, or the name of an encoding such as `o200k_base`.
    pub counted_by: String,
    /// Changes to the skills since the listing; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announced: Option<AnnouncedView>,
    /// The decision about each skill that matched, by rank, then about skills that are given again.
    pub decisions: Vec<DecisionView>,
    /// Up to 5 ids for the user to choose from; absent unless nothing matched and `fallback` is `ask_user`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
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

/// Changes to the skills since the listing, as skill ids.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnnouncedView {
    /// New skills.
    pub added: Vec<String>,
    /// Skills with a new description.
    pub changed: Vec<String>,
    /// Skills that were removed or that the model may no longer use.
    pub gone: Vec<String>,
    /// Those of the above whose description was shortened or dropped to fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<String>,
    /// Those of the above that did not fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A listing of skills for a model.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListingText {
    /// The text for the model.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The number of skills that the model may see.
    pub skills: usize,
    /// Ids of the skills whose description was shortened or dropped to fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<String>,
    /// Ids of the skills that did not fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
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
        let listing = has_listing.then(|| ListingText::new(listing));
        let listing_tokens = listing.as_ref().map_or(0, |listing| listing.tokens);
        let turn = TurnView::new(policy, turn);
        Self {
            request: request.to_owned(),
            mode: policy.mode.to_string(),
            style: policy.style.to_string(),
            listing,
            text: turn.text,
            tier: turn.tier,
            added_tokens: turn.tokens,
            tokens: turn.tokens + listing_tokens,
            plain_list_tokens,
            counted_by: turn.counted_by,
            announced: turn.announced,
            decisions: turn.decisions,
            candidates: turn.candidates,
            unread: turn.unread,
            unread_by_patterns: turn.unread_by_patterns,
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
            counted_by: policy.counter.name().to_owned(),
            announced: AnnouncedView::new(&turn.announced),
            decisions: turn.decisions.iter().map(DecisionView::new).collect(),
            candidates: to_strings(&turn.candidates),
            unread: turn.unread.clone().map(Bytes::from),
            unread_by_patterns: turn.unread_by_patterns.clone().map(Bytes::from),
        }
    }
}

impl AnnouncedView {
    fn new(announced: &AnnouncedChanges) -> Option<Self> {
        (!announced.is_empty()).then(|| Self {
            added: to_strings(&announced.added),
            changed: to_strings(&announced.changed),
            gone: to_strings(&announced.gone),
            shortened: to_strings(&announced.shortened),
            left_out: to_strings(&announced.left_out),
        })
    }
}

impl ListingText {
    /// Creates the view of a listing.
    pub fn new(listing: &Listing) -> Self {
        Self {
            text: listing.text.clone(),
            tokens: listing.tokens,
            skills: listing.skills,
            shortened: to_strings(&listing.shortened),
            left_out: to_strings(&listing.left_out),
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
