//! What a model is told of its proposal.

/// A proposal that a model made.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub(crate) struct ProposedSkill {
    /// The name of the proposal.
    pub(crate) proposal: String,
    /// The id of the skill.
    pub(crate) skill_id: String,
    /// Whether the same change waited already.
    pub(crate) is_repeated: bool,
    /// What the change does, one sentence each.
    pub(crate) effects: Vec<String>,
    /// What of the diff was mended, one sentence each.
    pub(crate) repairs: Vec<String>,
}
