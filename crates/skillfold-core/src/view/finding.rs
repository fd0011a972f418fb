//! Findings and their positions.

use crate::diagnostic;

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

    /// Creates the views of several findings.
    pub fn all(diagnostics: &[diagnostic::Diagnostic]) -> Vec<Self> {
        diagnostics.iter().map(Self::new).collect()
    }
}

/// A range of a file, from `start` up to but excluding `end`.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SpanView {
    /// The first character.
    pub start: PositionView,
    /// The first character after the range.
    pub end: PositionView,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PositionView {
    /// The line, starting at 1.
    pub line: u32,
    /// The column in characters, starting at 1.
    pub column: u32,
}

impl PositionView {
    fn new(position: diagnostic::Position) -> Self {
        let diagnostic::Position { line, column } = position;
        Self { line, column }
    }
}
