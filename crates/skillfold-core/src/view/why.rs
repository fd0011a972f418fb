//! Why skills are chosen for a request, and why others are not.

use crate::choose::near_miss::NearMiss;
use crate::disclose::policy::{Policy, Tier};
use crate::disclose::turn::{Decision, Outcome};
use crate::explain::{Explanation, MatchDetails, UnmatchedSkill};
use crate::view::disclose::{Bytes, DecisionView};
use crate::view::record::{round_confidence, to_strings};

/// Why skills are chosen for a request, and why others are not.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Why {
    /// The request.
    pub request: String,
    /// `catalog`, `triggered` or `hybrid`.
    pub mode: String,
    /// From 0, nothing, to 3, instructions.
    pub tier: u8,
    /// Tokens of what the request adds.
    pub added_tokens: u64,
    /// What counted the tokens: `estimate`, or the name of an encoding.
    pub counted_by: String,
    /// The skills that match, in the order of their ranks.
    pub matched: Vec<MatchedSkill>,
    /// The skills that were asked about and do not match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<Unmatched>,
    /// The bytes in the middle of the request that were not looked at, where it is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// The bytes in the middle of the request that patterns did not look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_by_patterns: Option<Bytes>,
}

/// A skill that matches.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MatchedSkill {
    /// Its rank, from 1.
    pub rank: usize,
    /// What became of it.
    #[serde(flatten)]
    pub decision: DecisionView,
    /// How much the model is told of it: 2, a line, or 3, its instructions.
    pub tier: u8,
    /// Where the evidence stands in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Bytes>,
    /// The evidence as the request has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// A skill that does not match.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Unmatched {
    /// Its id.
    pub id: String,
    /// `untrusted`, `disabled`, `shadowed`, `person_only`, `unseen`, `mode`, `no_triggers`, `no_match` or `unlikely`.
    pub reason: String,
    /// What that means.
    pub message: String,
    /// The way out.
    pub hint: String,
    /// Its triggers, those that the request comes nearest to first; at most 50.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<NearTrigger>,
    /// How likely it is what the request is about, from 0 to 1, where a search looked for that and found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// How many triggers there are beside these.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_triggers: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "what is serialised is passed like this"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A trigger that is not in a request.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NearTrigger {
    /// The trigger.
    pub trigger: String,
    /// `part`, `words`, `pattern`, `bad_pattern` or `unused_pattern`.
    pub kind: String,
    /// The words of it that are in the request, though not as it needs them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// The words of it that are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl Why {
    /// Creates the view of an explanation.
    pub fn new(request: &str, policy: &Policy, explanation: &Explanation) -> Self {
        let turn = &explanation.turn;
        let decisions = turn.decisions.iter().zip(&explanation.details);
        let matched = (1..).zip(decisions);
        Self {
            request: request.to_owned(),
            mode: policy.mode.to_string(),
            tier: turn.tier.number(),
            added_tokens: turn.tokens,
            counted_by: policy.counter.name().to_owned(),
            matched: matched
                .map(|(rank, (decision, details))| {
                    MatchedSkill::new(rank, request, decision, details)
                })
                .collect(),
            unmatched: explanation.unmatched.iter().map(Unmatched::new).collect(),
            unread: turn.unread.clone().map(Bytes::from),
            unread_by_patterns: turn.unread_by_patterns.clone().map(Bytes::from),
        }
    }
}

impl MatchedSkill {
    fn new(rank: usize, request: &str, decision: &Decision, details: &MatchDetails) -> Self {
        let tier = match decision.outcome {
            Outcome::Given(..) | Outcome::Known => Tier::Full,
            Outcome::NoRoom(_) | Outcome::Later | Outcome::Suggested | Outcome::Failed(_) => {
                Tier::Registry
            }
        };
        let quote = details
            .position
            .clone()
            .and_then(|place| request.get(place));
        Self {
            rank,
            decision: DecisionView {
                tokens: details.tokens,
                ..DecisionView::new(decision)
            },
            tier: tier.number(),
            place: details.position.clone().map(Bytes::from),
            quote: quote.map(str::to_owned),
        }
    }
}

impl Unmatched {
    fn new(skill: &UnmatchedSkill) -> Self {
        Self {
            id: skill.id.to_string(),
            reason: skill.reason.as_str().to_owned(),
            message: skill.reason.message().to_owned(),
            hint: skill.reason.hint().to_owned(),
            triggers: skill.near_misses.iter().map(NearTrigger::new).collect(),
            confidence: skill.confidence.map(round_confidence),
            more_triggers: skill.triggers - skill.near_misses.len(),
        }
    }
}

impl NearTrigger {
    fn new(near: &NearMiss) -> Self {
        Self {
            trigger: near.trigger.to_string(),
            kind: near.kind.as_str().to_owned(),
            found: to_strings(&near.found),
            missing: to_strings(&near.missing),
        }
    }
}
