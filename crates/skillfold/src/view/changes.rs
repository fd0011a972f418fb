//! The JSON view of what a refresh changed.

use skillfold_core::catalog::Changes;

/// What a refresh changed; everything is absent if nothing did.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangesView {
    /// Ids of new skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Ids of skills that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Ids of skills whose file, content or status changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Refused folders that are new or whose file changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Formerly refused folders that are gone or hold a skill now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<String>,
}

impl ChangesView {
    /// Creates the view.
    pub fn new(changes: &Changes) -> Self {
        let texts = |ids: &[Box<str>]| ids.iter().map(ToString::to_string).collect();
        Self {
            added: texts(&changes.added),
            removed: texts(&changes.removed),
            changed: texts(&changes.changed),
            refused: texts(&changes.refused),
            cleared: texts(&changes.cleared),
        }
    }
}
