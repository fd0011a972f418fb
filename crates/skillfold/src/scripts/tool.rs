//! The tools of a skill, as they were when the user allowed it.

use serde::{Deserialize, Serialize};
use skillfold_run::toolset::ToolSpec;

use crate::json::Json;

/// A tool of a skill's toolset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SkillTool {
    /// Its name in the toolset.
    pub name: String,
    /// The toolset, as the skill names it.
    pub toolset: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Json,
}

impl SkillTool {
    pub(super) fn new(toolset: &str, spec: &ToolSpec) -> Self {
        Self {
            name: spec.name.clone(),
            toolset: toolset.to_owned(),
            description: spec.description.clone(),
            input_schema: Json(spec.input_schema.clone()),
        }
    }
}
