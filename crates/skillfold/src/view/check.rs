//! The JSON view of checked files.

use skillfold_core::diagnostic::Severity;
use skillfold_core::view::{DiagnosticView, NotFor};

use crate::author::check::CheckedSkill;

/// The findings in the files that were checked.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Check {
    /// The files, in the order in which they were checked.
    pub files: Vec<CheckedFile>,
    /// The counts.
    pub summary: CheckSummary,
}

/// A `SKILL.md` that was checked.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckedFile {
    /// The path of the file.
    pub file: String,
    /// The findings, by position in the file; those about trigger patterns come last.
    pub diagnostics: Vec<DiagnosticView>,
    /// What its description says it is not for, clause by clause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_for: Vec<NotFor>,
    /// The findings that were fixed; positions refer to the file before the fix.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<DiagnosticView>,
}

/// Counts of files and findings.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckSummary {
    /// Files that were checked.
    pub files: usize,
    /// Findings with the severity `error`.
    pub errors: usize,
    /// Findings with the severity `warning`.
    pub warnings: usize,
    /// Findings with the severity `info`.
    pub infos: usize,
    /// Findings that were fixed; the other counts do not include them.
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
                    not_for: one.not_for.clone(),
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
