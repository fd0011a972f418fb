//! The JSON view of settings, with their origins and problems.

use skillfold_core::view::DiagnosticView;

use crate::settings::{SettingFinding, Settings};

/// Every setting and its origin.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingsView {
    /// The settings, in the order of their documentation; a list has a row for each entry.
    pub settings: Vec<SettingRow>,
    /// What is wrong with them.
    pub findings: Vec<SettingProblem>,
}

/// A setting and its origin.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingRow {
    /// Its name in a settings file.
    pub key: String,
    /// Its value as text; absent where a list is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where it was set: `default`, a file and line, a variable, or `argument`.
    pub origin: String,
}

impl SettingsView {
    /// Creates the view of settings.
    pub fn new(settings: &Settings) -> Self {
        let rows = settings.explain().into_iter();
        Self {
            settings: rows
                .map(|(key, value, origin)| SettingRow {
                    key,
                    value,
                    origin: origin.to_string(),
                })
                .collect(),
            findings: settings.findings.iter().map(SettingProblem::new).collect(),
        }
    }
}

/// Something that is wrong with a setting.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingProblem {
    /// Where the setting was made.
    pub origin: String,
    /// What is wrong with it.
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
