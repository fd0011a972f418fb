//! The JSON view of the policy for sources.

use crate::registry::SourcePolicy;
use crate::skills::Skills;

/// The policy for the sources of the project's skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PolicyView {
    /// The rules of the machine, the user and the project, which all hold.
    pub rules: Vec<PolicyRow>,
    /// Why a file of it cannot be read; then nothing is fetched or installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A rule of the policy.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PolicyRow {
    /// Its name in the file.
    pub name: String,
    /// What it says.
    pub value: String,
    /// Where it is, as `path:line`.
    pub origin: String,
}

impl PolicyView {
    /// Creates the view of the policy for a project's skills; `None` if there are no rules.
    pub fn new(skills: &Skills) -> Option<Self> {
        let policy = skills.source_policy();
        let error = policy.as_ref().err().map(ToString::to_string);
        let rules = policy.as_ref().map(SourcePolicy::rules);
        let rules = rules.unwrap_or_default().into_iter().map(|rule| PolicyRow {
            name: rule.name.to_owned(),
            value: rule.value,
            origin: rule.origin,
        });
        let rules: Vec<PolicyRow> = rules.collect();
        (!rules.is_empty() || error.is_some()).then_some(Self { rules, error })
    }
}
