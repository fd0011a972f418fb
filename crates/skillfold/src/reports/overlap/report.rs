//! What was found: pairs of skills, copies and crowded triggers.

use skillfold_core::view::round_confidence;

/// Skills that compete with each other.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "OverlapView")]
#[non_exhaustive]
pub struct Overlaps {
    /// The pairs that compete, worst first.
    pub pairs: Vec<Overlap>,
    /// Skills with the same description and triggers, the largest groups first. In `pairs` one skill stands for its group.
    pub copies: Vec<SkillCopies>,
    /// Triggers of so many skills that their pairs are not listed, the most frequent first; absent if there are none.
    #[serde(rename = "crowded_triggers", skip_serializing_if = "Vec::is_empty")]
    pub crowded: Vec<CrowdedTrigger>,
    /// How many pairs compete, listed or not.
    pub competing: usize,
    /// How many groups of copies there are, listed or not.
    pub copy_groups: usize,
    /// How many skills were compared.
    pub compared: usize,
    /// How many pairs with similar words were not looked at, because there are too many.
    pub unasked: usize,
}

/// Two skills that compete.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[cfg_attr(any(test, feature = "schema"), schemars(with = "OverlapPair"))]
#[serde(rename = "OverlapPair", into = "OverlapPair")]
#[non_exhaustive]
pub struct Overlap {
    /// Their ids.
    pub ids: [Box<str>; 2],
    /// How similar their names, descriptions, tags and triggers are, from 0 to 1.
    pub similarity: f32,
    /// The words that make them similar, as the first skill spells them.
    pub words: Vec<String>,
    /// The triggers that both have, in lower case.
    pub triggers: Vec<String>,
    /// Where a request in the words of the first skill ranks the second, and the other way round.
    pub rivals: [Rival; 2],
    /// The sentence of each description that shows it; `None` if the other skill is behind.
    pub requests: [Option<String>; 2],
    /// Whether a request of `words` alone finds one of them first and the other nearly as likely.
    pub is_tied: bool,
}

/// Where search ranks another skill for a request in a skill's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rival {
    /// Well below the skill, or not as a possible answer.
    Behind,
    /// Below it, and at least half as likely.
    Close,
    /// Above it.
    Ahead,
}

/// Skills with the same description and triggers.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "CopiesView")]
#[non_exhaustive]
pub struct SkillCopies {
    /// Their ids, in order.
    pub ids: Vec<Box<str>>,
    /// Whether their instructions are the same too.
    pub same_instructions: bool,
}

/// A trigger of many skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "CrowdedTriggerView")]
#[non_exhaustive]
pub struct CrowdedTrigger {
    /// The trigger, in lower case.
    pub trigger: String,
    /// How many skills have it.
    pub skills: usize,
}

impl Rival {
    /// Returns the rank as a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Behind => "behind",
            Self::Close => "close",
            Self::Ahead => "ahead",
        }
    }
}

/// Two skills that compete, as JSON: each field says of which skill it is.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
struct OverlapPair {
    /// The id of one skill.
    first: Box<str>,
    /// The id of the other.
    second: Box<str>,
    /// How similar their names, descriptions, tags and triggers are, from 0 to 1.
    similarity: f32,
    /// The words that make them similar, at most six.
    words: Vec<String>,
    /// Whether a request of these words alone finds one of them first and the other nearly as likely.
    tied: bool,
    /// The triggers that both have, in lower case; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    triggers: Vec<String>,
    /// Where a request in the words of the first skill ranks the second: `ahead` of the first, `close` (at least half as
    /// likely) or `behind`.
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    second_is: Rival,
    /// The sentence of the first skill's description that was this request; absent if the second is behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_request: Option<String>,
    /// The same for a request in the words of the second.
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    first_is: Rival,
    /// The sentence of the second skill's description that was this request; absent if the first is behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    second_request: Option<String>,
}

impl From<Overlap> for OverlapPair {
    fn from(pair: Overlap) -> Self {
        let [first, second] = pair.ids;
        let [second_is, first_is] = pair.rivals;
        let [first_request, second_request] = pair.requests;
        Self {
            first,
            second,
            similarity: round_confidence(pair.similarity),
            words: pair.words,
            tied: pair.is_tied,
            triggers: pair.triggers,
            second_is,
            first_request,
            first_is,
            second_request,
        }
    }
}
