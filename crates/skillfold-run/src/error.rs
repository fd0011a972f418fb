//! Why a run did not start, or a toolset did not respond.

use std::fmt;
use std::io;

use skillfold_core::diagnostic::visible;

use crate::layers::{Layer, LayerState};

/// A run that did not start, or a toolset that could not be loaded or did not respond.
///
/// What ended a run that did start, such as its time limit, is in its [`Outcome`](crate::Outcome).
#[derive(Debug)]
pub struct RunError {
    kind: RunErrorKind,
    message: Box<str>,
    hint: Box<str>,
    layer: Option<Layer>,
    source: Option<io::Error>,
}

/// The kind of a [`RunError`], stable across releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// More arguments than the limit.
    TooManyArguments,
    /// The arguments exceed the total size limit.
    ArgumentsTooLong,
    /// Standard input exceeds the size limit.
    InputTooLarge,
    /// No program that can run the script is installed, or this build lacks the feature to run it.
    InterpreterMissing,
    /// The skill has no such file, or no known program runs it.
    NotAScript,
    /// The system lacks a sandbox layer.
    BoxUnavailable,
    /// A permission cannot be granted.
    NotPermitted,
    /// The system refused to start the process.
    FailedToStart,
    /// A skill's file lists its packages in a way that is not understood.
    InvalidDependencies,
    /// A script's packages could not be installed.
    PackagesNotInstalled,
    /// A toolset is not in the skill, or its tool definitions break a rule.
    InvalidToolset,
    /// The toolset has no such tool.
    UnknownTool,
    /// A call's arguments do not match the tool's schema.
    InvalidArguments,
    /// The toolset exited, or sent something that is not a response.
    ToolsetFailed,
    /// The toolset did not respond in time.
    Timeout,
    /// The host cancelled the toolset.
    Cancelled,
}

impl RunErrorKind {
    /// Returns the code, such as `sandbox_unavailable`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooManyArguments => "too_many_arguments",
            Self::ArgumentsTooLong => "arguments_too_long",
            Self::InputTooLarge => "input_too_large",
            Self::InterpreterMissing => "interpreter_missing",
            Self::NotAScript => "not_a_script",
            Self::BoxUnavailable => "sandbox_unavailable",
            Self::NotPermitted => "not_permitted",
            Self::FailedToStart => "failed_to_start",
            Self::InvalidDependencies => "invalid_dependencies",
            Self::PackagesNotInstalled => "packages_not_installed",
            Self::InvalidToolset => "invalid_toolset",
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArguments => "invalid_arguments",
            Self::ToolsetFailed => "toolset_failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

impl RunError {
    /// Creates an error, for a host's [`ToolsetLoader`](crate::toolset::ToolsetLoader). The message says what and
    /// which, the hint what to do.
    pub fn new(kind: RunErrorKind, message: impl AsRef<str>, hint: &str) -> Self {
        Self {
            kind,
            message: visible(message.as_ref()).into(),
            hint: hint.into(),
            layer: None,
            source: None,
        }
    }

    pub(crate) fn sandbox_unavailable(state: &LayerState) -> Self {
        let layer = state.layer;
        let why = state.missing.as_deref().unwrap_or("unknown");
        let message = format!("The sandbox has no layer `{layer}` on this system: {why}");
        let remedy = state
            .remedy
            .as_deref()
            .unwrap_or("Run it on a system that has it");
        let hint = match layer {
            Layer::Namespaces | Layer::Landlock | Layer::Seccomp => format!(
                "{remedy}; `{layer}` in the setting `sandbox_without` runs scripts with weaker isolation"
            ),
            _ => remedy.to_owned(),
        };
        Self {
            layer: Some(layer),
            ..Self::new(RunErrorKind::BoxUnavailable, message, &hint)
        }
    }

    #[cfg(not(target_os = "macos"))]
    pub(crate) fn no_sandbox() -> Self {
        let message = "Nothing here keeps a script from your files";
        let hint =
            "Run it on a system with a sandbox; `skillfold run --sandbox` shows what this one has";
        Self::new(RunErrorKind::BoxUnavailable, message, hint)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn hosts_unavailable(state: &LayerState) -> Self {
        let layer = state.layer;
        let why = state.missing.as_deref().unwrap_or("unknown");
        let message = format!(
            "The network cannot be limited to hosts without the layer `{layer}`, which this system lacks: {why}"
        );
        let hint = format!(
            "Enable `{layer}`, or run on a system that has it; a skill that asks for the whole network (`network: true`) does not need it"
        );
        Self {
            layer: Some(layer),
            ..Self::new(RunErrorKind::BoxUnavailable, message, &hint)
        }
    }

    pub(crate) fn failed_to_start(what: impl AsRef<str>, source: io::Error) -> Self {
        let hint =
            "The system refused it; `skillfold run` shows which layers of the sandbox work here";
        Self {
            source: Some(source),
            ..Self::new(RunErrorKind::FailedToStart, what, hint)
        }
    }

    /// Sets the hint, for a host that knows more.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds what else there is to say to the message.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.message = format!("{}. {}", self.message, visible(note)).into();
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> RunErrorKind {
        self.kind
    }

    /// Returns the code, such as `sandbox_unavailable`, stable across releases.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns how to fix it.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Returns the message followed by its cause.
    pub fn with_cause(&self) -> String {
        match &self.source {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }

    /// Returns the missing sandbox layer, if that is the reason.
    pub fn layer(&self) -> Option<Layer> {
        self.layer
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
