//! The JSON view of checked files.

use skillfold_core::Severity;
use skillfold_core::view::DiagnosticView;

use crate::check::CheckedSkill;

/// What was found in files.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Check {
    /// The files, in the order in which they were judged.
    pub files: Vec<CheckedFile>,
    /// The counts.
    pub summary: CheckSummary,
}

/// A file that was judged.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckedFile {
    /// The path of the file.
    pub file: String,
    /// What was found, in the order of its place.
    pub diagnostics: Vec<DiagnosticView>,
    /// What was corrected, with places in the file as it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<DiagnosticView>,
}

/// Counts of what was found in files.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckSummary {
    /// Files that were judged.
    pub files: usize,
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are good to know.
    pub infos: usize,
    /// Findings that were corrected.
    pub fixed: usize,
}

impl Check {
    /// Creates the view of checked files.
    pub fn new(checked: &[CheckedSkill]) -> Self {
        let count = |severity| checked.iter().map(|one| one.count(severity)).sum();
        Self {
            files: checked
                .iter()
                .map(|one| CheckedFile {
                    file: one.file.to_string_lossy().into_owned(),
                    diagnostics: DiagnosticView::all(&one.findings),
                    fixed: DiagnosticView::all(&one.fixed),
                })
                .collect(),
            summary: CheckSummary {
                files: checked.len(),
                errors: count(Severity::Error),
                warnings: count(Severity::Warning),
                infos: count(Severity::Info),
                fixed: checked.iter().map(|one| one.fixed.len()).sum(),
            },
        }
    }
}
