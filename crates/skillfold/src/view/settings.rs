//! The JSON view of settings, with their origins and problems.

use skillfold_core::view::DiagnosticView;

#[cfg(feature = "registry")]
use super::policy::PolicyView;
use crate::settings::{ExplainedSetting, SettingFinding, Settings};

/// Every setting and its origin.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingsView {
    /// The settings, in the order of their documentation; a list has one row per entry.
    pub settings: Vec<ExplainedSetting>,
    /// Problems with the settings.
    pub findings: Vec<SettingProblem>,
    /// The policy for sources; absent if there is none.
    #[cfg(feature = "registry")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyView>,
}

impl SettingsView {
    /// Creates the view of settings, without a policy.
    pub fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.explain(),
            findings: settings.findings.iter().map(SettingProblem::new).collect(),
            #[cfg(feature = "registry")]
            policy: None,
        }
    }
}

/// A problem with a setting or with the list of trusted folders.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingProblem {
    /// Where it was set: `default`, a file as `path:line`, the name of a variable, or `argument`.
    pub origin: String,
    /// The problem.
    pub diagnostic: DiagnosticView,
}

impl SettingProblem {
    pub(super) fn new(finding: &SettingFinding) -> Self {
        Self {
            origin: finding.origin.to_string(),
            diagnostic: DiagnosticView::new(&finding.diagnostic),
        }
    }
}
