//! A setting: its value, its origin, and what is wrong with it.

use std::fmt;
use std::path::PathBuf;

use skillfold_core::catalog::Toggle;
use skillfold_core::diagnostic::{Severity, Span, visible};
use skillfold_core::{Code, Diagnostic, Error, ErrorKind};

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The default value.
    Default,
    /// A line of the user's file.
    User(PathBuf, u32),
    /// A line of the project's file.
    Project(PathBuf, u32),
    /// An environment variable.
    Variable(String),
    /// An argument, or the host.
    Argument,
    /// A line of one of the user's lists: trusted folders, trusted skills.
    List(PathBuf, u32),
}

/// A pattern of `enable` or `disable`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnablementPattern {
    /// An id, `*`, or a scope or plugin with `:*`.
    pub pattern: String,
    /// Whether it enables or disables.
    pub toggle: Toggle,
}

impl serde::Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::User(path, line) | Self::Project(path, line) | Self::List(path, line) => {
                write!(formatter, "{}:{line}", visible(&path.to_string_lossy()))
            }
            Self::Variable(name) => formatter.write_str(name),
            Self::Argument => formatter.write_str("argument"),
        }
    }
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a setting is a value and an origin"
)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
}

impl<T> Setting<T> {
    pub(super) fn default(value: T) -> Self {
        Self {
            value,
            origin: Origin::Default,
        }
    }
}

/// Returns the error for an invalid setting; `origin` says where it was set, `reason` what is wrong with it.
pub(crate) fn setting_error(origin: &str, reason: &str) -> Error {
    let message = format!("{reason} ({origin})");
    let hint = "Correct the setting; `skillfold config --explain` shows all";
    Error::new(ErrorKind::Invalid, message, hint)
}

/// A problem with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingFinding {
    /// Where the setting comes from.
    pub origin: Origin,
    /// The problem.
    pub diagnostic: Diagnostic,
}

impl SettingFinding {
    /// Returns whether discovery must stop because of it. Errors in the user's settings are fatal; those in a project's
    /// are ignored.
    pub fn is_fatal(&self) -> bool {
        let is_from_project = matches!(self.origin, Origin::Project(..));
        // A file that cannot be read just now must not be taken for an empty one.
        let is_unavailable = self.diagnostic.code == Code::Unavailable;
        self.diagnostic.severity == Severity::Error && (!is_from_project || is_unavailable)
    }
}

/// Creates a finding about a setting.
pub(crate) fn finding(
    code: Code,
    origin: &Origin,
    span: impl Into<Option<Span>>,
    message: String,
) -> SettingFinding {
    SettingFinding {
        origin: origin.clone(),
        diagnostic: Diagnostic::new(code, span, message),
    }
}
