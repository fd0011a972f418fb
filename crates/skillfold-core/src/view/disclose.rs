//! What a model is told for a request.

use std::ops::Range;

use crate::disclose::changes::AnnouncedChanges;
use crate::disclose::listing::Listing;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::turn::{Decision, Turn};
use crate::view::record::{round_confidence, to_strings};

/// What a model is told for a request, and what that costs.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Prompt {
    /// The request.
    pub request: String,
    /// `catalog`, `triggered` or `hybrid`.
    pub mode: String,
    /// `xml-rules`, `xml`, `markdown`, `tiers` or `bullets`.
    pub style: String,
    /// The listing, where the mode has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<ListingText>,
    /// What the request adds; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// From 0, nothing, to 3, instructions.
    pub tier: u8,
    /// Tokens of what the request adds.
    pub added_tokens: u64,
    /// Tokens of all that is told.
    pub tokens: u64,
    /// Tokens of the instructions of all skills.
    pub eager_tokens: u64,
    /// What counted the tokens: `estimate`, or the name of an encoding.
    pub counted_by: String,
    /// What is told of skills that changed since the listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announced: Option<AnnouncedView>,
    /// What became of each skill that matched, in the order of their ranks.
    pub decisions: Vec<DecisionView>,
    /// The ids that a person may choose from, where nothing matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The bytes in the middle of the request that were not looked at, where it is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// The bytes in the middle of the request that patterns did not look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_by_patterns: Option<Bytes>,
}

/// Bytes of a text, from the first to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bytes {
    /// The first.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
}

/// Skills that changed since a listing, by id.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnnouncedView {
    /// Those that are new.
    pub added: Vec<String>,
    /// Those whose description is another.
    pub changed: Vec<String>,
    /// Those that are not there any more.
    pub gone: Vec<String>,
    /// Those of all these whose description is not whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<String>,
    /// Those of all these that there was no room for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A listing of skills for a model.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListingText {
    /// What the model is told.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// Skills that the model may see.
    pub skills: usize,
    /// The ids of the skills whose description is not whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<String>,
    /// The ids of the skills that there was no room for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What became of a skill that matched.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DecisionView {
    /// The skill's id.
    pub id: String,
    /// `mention`, `phrase`, `trigger`, `search` or `earlier`.
    pub signal: String,
    /// What of the skill matched.
    pub evidence: String,
    /// `given`, `known`, `no_room`, `later`, `suggested` or `failed`.
    pub outcome: String,
    /// How likely it is what was meant, from 0 to 1: as a search says, or by the kind of signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Tokens of its instructions, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Prompt {
    /// Creates the view of what a model is told; `eager_tokens` counts the instructions of all skills.
    pub fn new(
        request: &str,
        policy: &Policy,
        listing: &Listing,
        turn: &Turn,
        eager_tokens: u64,
    ) -> Self {
        let has_listing = policy.mode != Mode::Triggered && !listing.text.is_empty();
        let listing = has_listing.then(|| ListingText::new(listing));
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
            eager_tokens,
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
    fn new(listing: &Listing) -> Self {
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
