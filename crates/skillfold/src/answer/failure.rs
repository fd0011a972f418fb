//! The JSON view of an error.

use skillfold_core::view::DiagnosticView;
use skillfold_core::{Error, ErrorKind, Refusal};

/// An error, for a program or a model to act on.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Failure {
    /// The kind: `not_found`, `refused`, `unreadable`, `invalid`, `exists`, `unwritable` or `system`; `other` is
    /// reserved for kinds that have no word yet. A script or tool that did not run has the code of the run, such as
    /// `sandbox_unavailable` or `interpreter_missing`.
    pub error: String,
    /// Which kind of rule refused it, if it was refused: `untrusted`, `held`, `disabled`, `incompatible`,
    /// `traversal`, `link`, `not_a_file`, `too_large`, `changing`, `not_publishable`, `write`, `trust`,
    /// `not_allowed` or `approval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<&'static str>,
    /// What could not be done, and its cause.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Existing ids that are similar to the unknown one, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// The findings in the requested skill's `SKILL.md`, if they are the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticView>,
}

impl Failure {
    /// Creates the view of an error.
    pub fn new(error: &Error) -> Self {
        Self {
            error: kind_name(error.kind()).to_owned(),
            refusal: error.refusal().map(Refusal::as_str),
            message: error.with_cause(),
            hint: error.hint().to_owned(),
            nearest: error.nearest().iter().map(ToString::to_string).collect(),
            diagnostics: DiagnosticView::all(error.diagnostics()),
        }
    }

    /// Creates the view of an invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::invalid(message, "Correct it and try again")
    }

    /// Creates the view of an invalid request, with what to do about it.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            error: kind_name(ErrorKind::Invalid).to_owned(),
            ..Self::system(message, hint)
        }
    }

    /// Creates the view of a script or toolset that did not run.
    #[cfg(feature = "run")]
    pub fn run(error: &skillfold_run::RunError) -> Self {
        Self {
            error: error.code().to_owned(),
            ..Self::system(error.with_cause(), error.hint())
        }
    }

    /// Creates the view of a failure of the system.
    pub fn system(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            error: "system".to_owned(),
            refusal: None,
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
