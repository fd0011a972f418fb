//! The JSON view of skills that compete.

use skillfold_core::view::round_confidence;

use crate::reports::overlap;

/// Skills that compete with each other.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OverlapView {
    /// The pairs that compete, worst first.
    pub pairs: Vec<OverlapPair>,
    /// Skills with the same description and triggers, the largest groups first. In `pairs` one skill stands for its group.
    pub copies: Vec<CopiesView>,
    /// Triggers of so many skills that their pairs are not listed, the most frequent first; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crowded_triggers: Vec<CrowdedTriggerView>,
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
#[non_exhaustive]
pub struct OverlapPair {
    /// The id of one skill.
    pub first: String,
    /// The id of the other.
    pub second: String,
    /// How similar their names, descriptions, tags and triggers are, from 0 to 1.
    pub similarity: f32,
    /// The words that make them similar, at most six.
    pub words: Vec<String>,
    /// Whether a request of these words alone finds one of them first and the other nearly as likely.
    pub tied: bool,
    /// The triggers that both have, in lower case; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<String>,
    /// Where a request in the words of the first skill ranks the second: `ahead` of the first, `close` (at least half as
    /// likely) or `behind`.
    pub second_is: String,
    /// The sentence of the first skill's description that was this request; absent if the second is behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_request: Option<String>,
    /// The same for a request in the words of the second.
    pub first_is: String,
    /// The sentence of the second skill's description that was this request; absent if the first is behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_request: Option<String>,
}

/// Skills with the same description and triggers.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CopiesView {
    /// Their ids, in order.
    pub ids: Vec<String>,
    /// Whether their instructions are the same too.
    pub same_instructions: bool,
}

/// A trigger of many skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CrowdedTriggerView {
    /// The trigger, in lower case.
    pub trigger: String,
    /// How many skills have it.
    pub skills: usize,
}

impl OverlapView {
    /// Creates the view.
    pub fn new(overlaps: &overlap::Overlaps) -> Self {
        let pairs = overlaps.pairs.iter().map(|pair| OverlapPair {
            first: pair.ids[0].to_string(),
            second: pair.ids[1].to_string(),
            similarity: round_confidence(pair.similarity),
            words: pair.words.clone(),
            tied: pair.is_tied,
            triggers: pair.triggers.clone(),
            second_is: pair.rivals[0].as_str().to_owned(),
            first_is: pair.rivals[1].as_str().to_owned(),
            first_request: pair.requests[0].clone(),
            second_request: pair.requests[1].clone(),
        });
        let copies = overlaps.copies.iter().map(|copies| CopiesView {
            ids: copies.ids.iter().map(ToString::to_string).collect(),
            same_instructions: copies.same_instructions,
        });
        let crowded = overlaps.crowded.iter().map(|crowded| CrowdedTriggerView {
            trigger: crowded.trigger.clone(),
            skills: crowded.skills,
        });
        Self {
            pairs: pairs.collect(),
            copies: copies.collect(),
            crowded_triggers: crowded.collect(),
            competing: overlaps.competing,
            copy_groups: overlaps.copy_groups,
            compared: overlaps.compared,
            unasked: overlaps.unasked,
        }
    }
}
