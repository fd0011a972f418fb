//! Findings and their positions.

use crate::diagnostic;

/// A finding: what, how bad, where, and the way out.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiagnosticView {
    /// The stable number, such as `SF101`.
    pub code: String,
    /// `error`, `warning` or `info`.
    pub severity: String,
    /// What was found.
    pub message: String,
    /// What can be done about it.
    pub hint: String,
    /// Where in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanView>,
}

impl DiagnosticView {
    /// Creates the view of a finding.
    pub fn new(diagnostic: &diagnostic::Diagnostic) -> Self {
        Self {
            code: diagnostic.code.to_string(),
            severity: diagnostic.severity.to_string(),
            message: diagnostic.message.to_string(),
            hint: diagnostic.hint().to_owned(),
            span: diagnostic.span.map(|span| SpanView {
                start: PositionView::new(span.start),
                end: PositionView::new(span.end),
            }),
        }
    }

    /// Creates the views of some findings.
    pub fn all(diagnostics: &[diagnostic::Diagnostic]) -> Vec<Self> {
        diagnostics.iter().map(Self::new).collect()
    }
}

/// A stretch of a file, from `start` up to and without `end`.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SpanView {
    /// The first character.
    pub start: PositionView,
    /// The first character after it.
    pub end: PositionView,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PositionView {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl PositionView {
    fn new(position: diagnostic::Position) -> Self {
        let diagnostic::Position { line, column } = position;
        Self { line, column }
    }
}
