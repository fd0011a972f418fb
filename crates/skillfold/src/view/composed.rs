//! The JSON view of the text that an agent starts with.

use skillfold_core::bind::{ComposedInstructions, MissingSkill};

/// The text that an agent starts with.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Composed {
    /// The agent, as the settings name it.
    pub agent: String,
    /// The text: the prompt, the skills that the agent uses, then its own instructions.
    pub text: String,
    /// Skills that the agent uses but does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingSkill>,
}

impl Composed {
    /// Creates the view.
    pub fn new(agent: &str, composed: &ComposedInstructions) -> Self {
        Self {
            agent: agent.to_owned(),
            text: composed.text.clone(),
            missing: composed.missing.clone(),
        }
    }
}
