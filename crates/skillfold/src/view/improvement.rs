//! The JSON view of an improved skill.

use std::path::Path;

use skillfold_core::search::SharedTerm;

use crate::author::Improvement;

/// Labelled requests that a skill got, and the terms that it lacks for them.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ImprovementView {
    /// The skill's id.
    pub id: String,
    /// The requests that were added, or would be.
    pub added: Vec<String>,
    /// How many of the requests the skill had already.
    pub known: usize,
    /// The file that gets them.
    pub file: String,
    /// The change as a unified diff; empty if there is none.
    pub diff: String,
    /// Whether the file was written.
    pub written: bool,
    /// Terms that the requests share, and that the skill's name, description and triggers lack.
    pub terms: Vec<SharedTerm>,
}

impl ImprovementView {
    /// Creates the view of an improvement and its diff.
    pub fn new(improvement: &Improvement, diff: String, written: bool) -> Self {
        Self {
            id: improvement.id.clone(),
            added: improvement.added.clone(),
            known: improvement.known,
            file: Path::new(&improvement.file).to_string_lossy().into_owned(),
            diff,
            written,
            terms: improvement.terms.clone(),
        }
    }
}
