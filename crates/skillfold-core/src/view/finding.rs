//! Findings and their positions.

use crate::diagnostic::{Diagnostic, Span};

/// A finding: what is wrong, where, how severe it is, and what to do about it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiagnosticView {
    /// The stable code, such as `SF101`.
    pub code: String,
    /// `error`, `warning` or `info`.
    pub severity: String,
    /// What was found, on one line.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Where in the file; absent if the finding has no position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

impl DiagnosticView {
    /// Creates the view of a finding.
    pub fn new(diagnostic: &Diagnostic) -> Self {
        Self {
            code: diagnostic.code.to_string(),
            severity: diagnostic.severity.to_string(),
            message: diagnostic.message.to_string(),
            hint: diagnostic.hint().to_owned(),
            span: diagnostic.span,
        }
    }

    /// Creates the views of several findings.
    pub fn all(diagnostics: &[Diagnostic]) -> Vec<Self> {
        diagnostics.iter().map(Self::new).collect()
    }
}
