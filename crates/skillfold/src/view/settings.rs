//! The JSON view of settings, with their origins and problems.

use skillfold_core::view::DiagnosticView;

use crate::settings::{SettingFinding, Settings};

/// Every setting and its origin.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingsView {
    /// The settings, in the order of their documentation; a list has one row per entry.
    pub settings: Vec<SettingRow>,
    /// Problems with the settings.
    pub findings: Vec<SettingProblem>,
}

/// A setting and its origin.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingRow {
    /// Its key in a settings file.
    pub key: String,
    /// Its value as text; absent for an empty list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where it was set: `default`, a settings file as `path:line`, the name of a variable, or `argument`.
    pub origin: String,
}

impl SettingsView {
    /// Creates the view of settings.
    pub fn new(settings: &Settings) -> Self {
        let rows = settings.explain().into_iter();
        Self {
            settings: rows
                .map(|row| SettingRow {
                    key: row.key,
                    value: row.value,
                    origin: row.origin.to_string(),
                })
                .collect(),
            findings: settings.findings.iter().map(SettingProblem::new).collect(),
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
