//! Why skills are chosen for a request, and why others are not.

use crate::choose::near_miss::NearMiss;
use crate::disclose::decision::Decision;
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::policy::{Policy, Tier};
use crate::explain::{Explanation, MatchDetails, UnmatchedReason, UnmatchedSkill};
use crate::view::disclose::{Bytes, DecisionView};
use crate::view::record::round_confidence;

/// Why skills are chosen for a request, and why others are not.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Why {
    /// The request.
    pub request: String,
    /// The client whose hook decides, such as `claude-code`; absent if the answer is for any host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The disclosure mode: `catalog`, `triggered` or `hybrid`.
    pub mode: String,
    /// How much the model is told: 0 nothing, 1 the number of skills, 2 lines about skills, 3 instructions.
    pub tier: u8,
    /// Tokens of the text that the request adds.
    pub added_tokens: u64,
    /// What counted the tokens: `estimate`, or the name of an encoding such as `o200k_base`.
    pub counted_by: String,
    /// The skills that match, by rank.
    pub matched: Vec<MatchedSkill>,
    /// The skills that the caller asked about and that do not match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<Unmatched>,
    /// Byte range in the middle of a too long request that was not matched; absent if the request is not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// Byte range in the middle of a long request that no pattern was matched against; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_by_patterns: Option<Bytes>,
}

/// A skill that matches.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MatchedSkill {
    /// The rank, starting at 1.
    pub rank: usize,
    /// The decision about it.
    #[serde(flatten)]
    pub decision: DecisionView,
    /// How much the model is told about it: 3, its instructions (`given`, `known`), or 2, at most a line or an error.
    pub tier: u8,
    /// Byte range of the match in the request; absent for `search` and `earlier`, and after the first 50 skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Bytes>,
    /// The text of the request at `place`; absent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// What its use has taught; absent if that changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedBar>,
}

/// A skill that does not match.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Unmatched {
    /// The skill's id.
    pub id: String,
    /// `untrusted`, `held`, `proposed` (a new skill that nobody has approved), `disabled`, `incompatible`, `shadowed`,
    /// `person_only` (only the user may start it), `unseen` (the conversation may not see it), `mode` (the mode is `catalog`), `no_triggers`, `no_match`, or `unlikely` (no match, and search
    /// ranks it too low).
    pub reason: String,
    /// What the reason means.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Its triggers, nearest to the request first, at most 50; only if the reason is `no_match` or `unlikely`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<NearMiss>,
    /// Confidence of the search, from 0 to 1; absent unless the reason is `unlikely` and the search found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// The confidence that the instructions need to be given; absent unless the reason is `unlikely`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<f32>,
    /// Words of the skill that, added to the request, would be enough; absent if a few are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enough_words: Vec<Box<str>>,
    /// The number of triggers beyond those in `triggers`; absent if 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_triggers: usize,
    /// What its use has taught; absent if that changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedBar>,
}

/// A bar that the use of a skill has moved. Counts fade, and are rounded.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LearnedBar {
    /// How often it was suggested lately, and not used.
    pub ignored: f64,
    /// How often it was suggested lately, and used.
    pub used: f64,
    /// How often it was used lately although nothing had suggested it.
    pub missed: f64,
    /// How likely a request must be about it for a line, from 0 to 1.
    pub bar: f32,
    /// The same for other skills.
    pub usual_bar: f32,
}

impl LearnedBar {
    fn new(id: &str, policy: &Policy) -> Option<Self> {
        let usual_bar = policy.suggestions?.show_from;
        let counts = policy.bars.counts(id)?;
        let bar = round_confidence(policy.bars.bar(id, usual_bar));
        let usual_bar = round_confidence(usual_bar);
        #[expect(clippy::float_cmp, reason = "both are rounded")]
        let is_moved = bar != usual_bar;
        is_moved.then(|| Self {
            ignored: counts.ignored.round(),
            used: counts.used.round(),
            missed: counts.missed.round(),
            bar,
            usual_bar,
        })
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Why {
    /// Creates the view of an explanation.
    pub fn new(request: &str, policy: &Policy, explanation: &Explanation) -> Self {
        let turn = &explanation.turn;
        let decisions = turn.decisions.iter().zip(&explanation.details);
        let matched = (1..).zip(decisions);
        Self {
            client: None,
            request: request.to_owned(),
            mode: policy.mode.to_string(),
            tier: turn.tier.number(),
            added_tokens: turn.tokens,
            counted_by: policy.counter.name().to_owned(),
            matched: matched
                .map(|(rank, (decision, details))| {
                    MatchedSkill::new(rank, request, policy, decision, details)
                })
                .collect(),
            unmatched: explanation
                .unmatched
                .iter()
                .map(|skill| Unmatched::new(skill, policy))
                .collect(),
            unread: turn.unread.clone().map(Bytes::from),
            unread_by_patterns: turn.unread_by_patterns.clone().map(Bytes::from),
        }
    }
}

impl MatchedSkill {
    fn new(
        rank: usize,
        request: &str,
        policy: &Policy,
        decision: &Decision,
        details: &MatchDetails,
    ) -> Self {
        let tier = match decision.outcome {
            SkillOutcome::Given(..) | SkillOutcome::Known => Tier::Full,
            SkillOutcome::NoRoom(_)
            | SkillOutcome::Later
            | SkillOutcome::Suggested
            | SkillOutcome::Named
            | SkillOutcome::Failed(_) => Tier::Registry,
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
            learned: LearnedBar::new(&decision.id, policy),
        }
    }
}

impl Unmatched {
    fn new(skill: &UnmatchedSkill, policy: &Policy) -> Self {
        Self {
            learned: LearnedBar::new(&skill.id, policy),
            triggers: skill.near_misses.clone(),
            confidence: skill.confidence.map(round_confidence),
            needed: skill.needed.map(round_confidence),
            enough_words: skill.enough_words.clone(),
            more_triggers: skill.triggers - skill.near_misses.len(),
            ..Self::absent(&skill.id, skill.reason)
        }
    }

    /// Creates the entry of a skill that is not in the catalog because of `reason`.
    pub fn absent(id: &str, reason: UnmatchedReason) -> Self {
        Self {
            id: id.to_owned(),
            reason: reason.as_str().to_owned(),
            message: reason.message().to_owned(),
            hint: reason.hint().to_owned(),
            ..Self::default()
        }
    }
}
