//! The engine's error type: opaque to callers, precise internally.

use std::fmt;
use std::io;

use crate::diagnostic::{Diagnostic, quoted_path, visible};

/// The error type of the engine.
///
/// Malformed content is usually not an error but a value with [diagnostics](crate::Diagnostic).
#[derive(Debug)]
pub struct Error {
    repr: Box<Repr>,
}

/// The kind of an [`Error`], stable across releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Does not exist.
    NotFound,
    /// Forbidden by a rule.
    Refused,
    /// Exists but could not be read.
    Unreadable,
    /// The request, a setting or a file is malformed.
    Invalid,
    /// The file already exists and was left unchanged.
    Exists,
    /// Could not be written.
    Unwritable,
}

/// Which kind of rule an [`Error`] of the kind [`Refused`](ErrorKind::Refused) comes from, stable across releases. The rule
/// itself is the error's [hint](Error::hint).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The skill's folder is not trusted.
    Untrusted,
    /// The skill is disabled.
    Disabled,
    /// The path is not one inside a skill.
    Traversal,
    /// A link is in the way, or the file has several hard links.
    Link,
    /// Not a regular file.
    NotAFile,
    /// Over a limit.
    TooLarge,
    /// The file kept changing while it was read.
    Changing,
    /// Other hosts would not accept the skill.
    NotPublishable,
    /// The file must not be written.
    Write,
    /// The folder must not be trusted.
    Trust,
}

impl Refusal {
    /// Returns the refusal as a word, such as `too_large`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Disabled => "disabled",
            Self::Traversal => "traversal",
            Self::Link => "link",
            Self::NotAFile => "not_a_file",
            Self::TooLarge => "too_large",
            Self::Changing => "changing",
            Self::NotPublishable => "not_publishable",
            Self::Write => "write",
            Self::Trust => "trust",
        }
    }
}

#[derive(Debug)]
enum Repr {
    NotFound {
        what: Box<str>,
    },
    NoSkill {
        id: Box<str>,
        nearest: Box<[Box<str>]>,
    },
    NoAgent {
        id: Box<str>,
        nearest: Box<[Box<str>]>,
    },
    Malformed {
        what: Box<str>,
        diagnostics: Box<[Diagnostic]>,
    },
    Refused {
        what: Box<str>,
        refusal: Refusal,
        rule: &'static str,
    },
    Read {
        what: Box<str>,
        source: io::Error,
    },
    Invalid {
        what: Box<str>,
        reason: Box<str>,
    },
    Setting {
        origin: Box<str>,
        reason: Box<str>,
    },
    Model {
        file: Box<str>,
        reason: Box<str>,
    },
    Exists {
        what: Box<str>,
    },
    RefusedWrite {
        what: Box<str>,
        rule: &'static str,
    },
    RefusedTrust {
        what: Box<str>,
        rule: &'static str,
    },
    Write {
        what: Box<str>,
        source: io::Error,
    },
}

impl Error {
    /// Returns the kind, stable across releases.
    pub fn kind(&self) -> ErrorKind {
        match *self.repr {
            Repr::NotFound { .. } | Repr::NoSkill { .. } | Repr::NoAgent { .. } => {
                ErrorKind::NotFound
            }
            Repr::Refused { .. } | Repr::RefusedWrite { .. } | Repr::RefusedTrust { .. } => {
                ErrorKind::Refused
            }
            Repr::Read { .. } => ErrorKind::Unreadable,
            Repr::Invalid { .. }
            | Repr::Setting { .. }
            | Repr::Model { .. }
            | Repr::Malformed { .. } => ErrorKind::Invalid,
            Repr::Exists { .. } => ErrorKind::Exists,
            Repr::Write { .. } => ErrorKind::Unwritable,
        }
    }

    /// Returns which kind of rule refused it, if the error is a refusal.
    ///
    /// ```
    /// use skillfold_core::{Error, Refusal};
    ///
    /// let error = Error::refused("../secret", Refusal::Traversal, "Path leads out of the skill");
    /// assert_eq!(error.refusal(), Some(Refusal::Traversal));
    /// ```
    pub fn refusal(&self) -> Option<Refusal> {
        match *self.repr {
            Repr::Refused { refusal, .. } => Some(refusal),
            Repr::RefusedWrite { .. } => Some(Refusal::Write),
            Repr::RefusedTrust { .. } => Some(Refusal::Trust),
            _ => None,
        }
    }

    /// Returns whether a retry may succeed: the system ran out of a resource, or a disk or network failed. A missing
    /// file, a wrong file type and missing permissions are permanent until somebody changes them.
    pub fn is_transient(&self) -> bool {
        match &*self.repr {
            Repr::Read { source, .. } | Repr::Write { source, .. } => is_transient(source),
            _ => false,
        }
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match *self.repr {
            Repr::NotFound { .. } => "Check the name or the path; it may have changed since",
            Repr::NoSkill { .. } => "Check the id against the list of skills",
            Repr::NoAgent { .. } => "Check the id; `skillfold config` lists the agents",
            Repr::Malformed { .. } => "Correct its `SKILL.md`",
            Repr::Refused { rule, .. }
            | Repr::RefusedWrite { rule, .. }
            | Repr::RefusedTrust { rule, .. } => rule,
            Repr::Exists { .. } => "Choose another name; the existing file was not changed",
            Repr::Write { .. } => {
                "Check that the folder is there and may be written to, and that the disk has room"
            }
            Repr::Read { .. } => "Check that the file may be read",
            Repr::Invalid { .. } => "Correct it and try again",
            Repr::Setting { .. } => "Correct the setting; `skillfold config --explain` shows all",
            Repr::Model { .. } => {
                "Name a folder with `config.json`, `tokenizer.json` and `model.safetensors` of one model"
            }
        }
    }

    /// Returns existing ids similar to the unknown one, the nearest first.
    pub fn nearest(&self) -> &[Box<str>] {
        match &*self.repr {
            Repr::NoSkill { nearest, .. } | Repr::NoAgent { nearest, .. } => nearest,
            _ => &[],
        }
    }

    /// Returns the findings on the requested skill's file, if it is malformed.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match &*self.repr {
            Repr::Malformed { diagnostics, .. } => diagnostics,
            _ => &[],
        }
    }

    /// Returns the message followed by its cause.
    pub fn with_cause(&self) -> String {
        match std::error::Error::source(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }

    /// Creates an error for something that does not exist.
    pub fn not_found(what: impl Into<Box<str>>) -> Self {
        Repr::NotFound { what: what.into() }.into()
    }

    /// Creates an error for an unknown skill id; `nearest` are the ids to suggest.
    pub(crate) fn no_skill(id: &str, nearest: Vec<&str>) -> Self {
        let nearest = nearest.into_iter().map(Into::into).collect();
        let id = id.into();
        Repr::NoSkill { id, nearest }.into()
    }

    /// Creates an error for an unknown agent id; `nearest` are the ids to suggest.
    pub fn no_agent(id: &str, nearest: Vec<&str>) -> Self {
        let nearest = nearest.into_iter().map(Into::into).collect();
        let id = id.into();
        Repr::NoAgent { id, nearest }.into()
    }

    /// Creates an error for a skill whose file is malformed; `what` is the whole message.
    pub(crate) fn malformed(what: impl Into<Box<str>>, diagnostics: Box<[Diagnostic]>) -> Self {
        let what = what.into();
        Repr::Malformed { what, diagnostics }.into()
    }

    /// Creates an error for something that a rule forbids to open; `rule` states the rule as a sentence.
    pub fn refused(what: impl Into<Box<str>>, refusal: Refusal, rule: &'static str) -> Self {
        Repr::Refused {
            what: what.into(),
            refusal,
            rule,
        }
        .into()
    }

    /// Creates an error for a malformed request; `reason` says what is wrong with it.
    pub fn invalid(what: impl Into<Box<str>>, reason: impl Into<Box<str>>) -> Self {
        let (what, reason) = (what.into(), reason.into());
        Repr::Invalid { what, reason }.into()
    }

    /// Creates an error for an invalid setting; `origin` says where it was set, `reason` what is wrong with it.
    pub fn setting(origin: impl Into<Box<str>>, reason: impl Into<Box<str>>) -> Self {
        let (origin, reason) = (origin.into(), reason.into());
        Repr::Setting { origin, reason }.into()
    }

    /// Creates an error for an unusable embedding model file; `reason` says what is wrong with it.
    pub fn model(file: impl Into<Box<str>>, reason: impl Into<Box<str>>) -> Self {
        let (file, reason) = (file.into(), reason.into());
        Repr::Model { file, reason }.into()
    }

    /// Creates an error for a file that already exists.
    pub fn exists(what: impl Into<Box<str>>) -> Self {
        Repr::Exists { what: what.into() }.into()
    }

    /// Creates an error for a file that a rule forbids to write; `rule` states the rule as a sentence.
    pub fn refused_write(what: impl Into<Box<str>>, rule: &'static str) -> Self {
        let what = what.into();
        Repr::RefusedWrite { what, rule }.into()
    }

    /// Creates an error for a folder that a rule forbids to trust; `rule` states the rule as a sentence.
    pub fn refused_trust(what: impl Into<Box<str>>, rule: &'static str) -> Self {
        let what = what.into();
        Repr::RefusedTrust { what, rule }.into()
    }

    /// Creates an error from the I/O error of a write.
    pub fn write(what: impl Into<Box<str>>, source: io::Error) -> Self {
        let what = what.into();
        Repr::Write { what, source }.into()
    }

    /// Creates an error from the I/O error of a read; [`io::ErrorKind::NotFound`] becomes [`ErrorKind::NotFound`].
    pub fn read(what: impl Into<Box<str>>, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::not_found(what);
        }
        Repr::Read {
            what: what.into(),
            source,
        }
        .into()
    }
}

/// Returns whether a retry may succeed. Unknown errors count as transient, because treating a passing fault as
/// permanent loses skills.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return false;
    }
    !matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidData
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::Unsupported
    )
}

impl From<Repr> for Error {
    fn from(repr: Repr) -> Self {
        Self {
            repr: Box::new(repr),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.repr {
            Repr::NotFound { what } => write!(formatter, "Could not find {}", quoted_path(what)),
            Repr::NoSkill { id, .. } => write!(formatter, "There is no skill {}", quoted_path(id)),
            Repr::NoAgent { id, .. } => write!(formatter, "There is no agent {}", quoted_path(id)),
            Repr::Malformed { what, .. } => formatter.write_str(&visible(what)),
            Repr::Refused { what, .. } => {
                write!(formatter, "Refused to open {}", quoted_path(what))
            }
            Repr::Read { what, .. } => write!(formatter, "Could not read {}", quoted_path(what)),
            Repr::Invalid { what, reason } => {
                write!(
                    formatter,
                    "Invalid {}: {}",
                    quoted_path(what),
                    visible(reason)
                )
            }
            Repr::Setting { origin, reason } => {
                write!(formatter, "{} ({})", visible(reason), visible(origin))
            }
            Repr::Model { file, reason } => {
                let file = quoted_path(file);
                write!(
                    formatter,
                    "Could not use the model file {file}: {}",
                    visible(reason)
                )
            }
            Repr::Exists { what } => {
                write!(formatter, "File already exists: {}", quoted_path(what))
            }
            Repr::RefusedWrite { what, .. } => {
                write!(formatter, "Refused to write {}", quoted_path(what))
            }
            Repr::RefusedTrust { what, .. } => {
                write!(formatter, "Refused to trust {}", quoted_path(what))
            }
            Repr::Write { what, .. } => write!(formatter, "Could not write {}", quoted_path(what)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.repr {
            Repr::Read { source, .. } | Repr::Write { source, .. } => Some(source),
            Repr::NotFound { .. }
            | Repr::NoSkill { .. }
            | Repr::NoAgent { .. }
            | Repr::Malformed { .. }
            | Repr::Refused { .. }
            | Repr::Invalid { .. }
            | Repr::Setting { .. }
            | Repr::Model { .. }
            | Repr::Exists { .. }
            | Repr::RefusedWrite { .. }
            | Repr::RefusedTrust { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Error;

    #[test]
    fn transient_errors_are_distinguished_from_permanent_ones() {
        let is_transient = |error: io::Error| Error::read("x", error).is_transient();
        for kind in [
            io::ErrorKind::NotFound,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::InvalidFilename,
            io::ErrorKind::FileTooLarge,
        ] {
            assert!(!is_transient(kind.into()), "{kind}");
        }
        for kind in [
            io::ErrorKind::Interrupted,
            io::ErrorKind::OutOfMemory,
            io::ErrorKind::StaleNetworkFileHandle,
            io::ErrorKind::TimedOut,
            io::ErrorKind::Other,
        ] {
            assert!(is_transient(kind.into()), "{kind}");
        }
        #[cfg(unix)]
        for (code, expected) in [
            (rustix::io::Errno::MFILE, true),
            (rustix::io::Errno::IO, true),
            (rustix::io::Errno::LOOP, false),
        ] {
            assert_eq!(is_transient(code.into()), expected, "{code}");
        }
        assert!(!Error::not_found("x").is_transient());
    }
}
