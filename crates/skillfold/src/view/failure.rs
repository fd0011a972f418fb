//! The JSON view of an error.

use skillfold_core::view::DiagnosticView;
use skillfold_core::{Error, ErrorKind};

/// Why there is no answer, for a program or a model to act on.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Failure {
    /// `not_found`, `refused`, `unreadable`, `invalid`, `exists`, `unwritable` or `system`.
    pub error: String,
    /// What could not be done.
    pub message: String,
    /// What can be done about it.
    pub hint: String,
    /// The ids that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Why a folder that was asked for holds no skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticView>,
}

impl Failure {
    /// Creates the view of an error.
    pub fn new(error: &Error) -> Self {
        Self {
            error: kind_name(error.kind()).to_owned(),
            message: error.with_cause(),
            hint: error.hint().to_owned(),
            nearest: error.nearest().iter().map(ToString::to_string).collect(),
            diagnostics: DiagnosticView::all(error.diagnostics()),
        }
    }

    /// Creates the view of an invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            error: kind_name(ErrorKind::Invalid).to_owned(),
            message: message.into(),
            hint: "Correct it and try again".to_owned(),
            nearest: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Creates the view of a failure of the system.
    pub fn system(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            error: "system".to_owned(),
            message: message.into(),
            hint: hint.into(),
            nearest: Vec::new(),
            diagnostics: Vec::new(),
        }
    }
}

fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not_found",
        ErrorKind::Refused => "refused",
        ErrorKind::Unreadable => "unreadable",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Exists => "exists",
        ErrorKind::Unwritable => "unwritable",
        _ => "other",
    }
}
