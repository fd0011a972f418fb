//! The engine's error type: opaque to callers, precise internally.

use std::io;

use crate::diagnostic::{Diagnostic, visible};

/// The error type of the engine.
///
/// Malformed content is usually not an error but a value with [diagnostics](crate::Diagnostic).
#[derive(Debug)]
pub struct Error {
    parts: Box<ErrorParts>,
}

#[derive(Debug)]
struct ErrorParts {
    kind: ErrorKind,
    refusal: Option<Refusal>,
    message: Box<str>,
    hint: &'static str,
    nearest: Box<[Box<str>]>,
    diagnostics: Box<[Diagnostic]>,
    source: Option<io::Error>,
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

words! {
    /// Which kind of rule an [`Error`] of the kind [`Refused`](ErrorKind::Refused) comes from, stable across releases. The rule
    /// itself is the error's [hint](Error::hint).
    pub enum Refusal {
        /// The skill's folder is not trusted.
        Untrusted = "untrusted",
        /// The skill is disabled.
        Disabled = "disabled",
        /// The skill is new, and the user does not trust it yet.
        Held = "held",
        /// The skill needs another version of a program.
        Incompatible = "incompatible",
        /// The path is not one inside a skill.
        Traversal = "traversal",
        /// A link is in the way, or the file has several hard links.
        Link = "link",
        /// Not a regular file.
        NotAFile = "not_a_file",
        /// Over a limit.
        TooLarge = "too_large",
        /// The file kept changing while it was read.
        Changing = "changing",
        /// Other hosts would not accept the skill.
        NotPublishable = "not_publishable",
        /// The file must not be written.
        Write = "write",
        /// The folder or skill must not be trusted.
        Trust = "trust",
        /// The user has not allowed the skill to run.
        NotAllowed = "not_allowed",
        /// The change must not be approved, or not by these means.
        Approval = "approval",
    }
}

impl Error {
    /// Creates an error. The message says what happened to what, and the hint what to do about it, each as a sentence
    /// without a full stop.
    ///
    /// Control and invisible characters in the message are escaped.
    pub fn new(kind: ErrorKind, message: impl AsRef<str>, hint: &'static str) -> Self {
        let parts = ErrorParts {
            kind,
            refusal: None,
            message: visible(message.as_ref()).into(),
            hint,
            nearest: Box::default(),
            diagnostics: Box::default(),
            source: None,
        };
        Self {
            parts: Box::new(parts),
        }
    }

    /// Creates an error for something that does not exist.
    pub fn not_found(what: impl AsRef<str>) -> Self {
        let message = format!("Could not find `{}`", what.as_ref());
        let hint = "Check the name or the path; it may have changed since";
        Self::new(ErrorKind::NotFound, message, hint)
    }

    /// Creates an error for an unknown skill id; `nearest` are the ids to suggest.
    pub(crate) fn no_skill(id: &str, nearest: Vec<&str>) -> Self {
        let message = format!("There is no skill `{id}`");
        let hint = "Check the id against the list of skills";
        Self::new(ErrorKind::NotFound, message, hint).with_nearest(nearest)
    }

    /// Creates an error for a skill whose file is malformed; `what` is the whole message.
    pub(crate) fn malformed(what: impl AsRef<str>, diagnostics: Box<[Diagnostic]>) -> Self {
        let mut error = Self::new(ErrorKind::Invalid, what, "Correct its `SKILL.md`");
        error.parts.diagnostics = diagnostics;
        error
    }

    /// Creates an error for something that a rule forbids to open, write, trust, run or approve; `rule` states the rule
    /// as a sentence.
    pub fn refused(what: impl AsRef<str>, refusal: Refusal, rule: &'static str) -> Self {
        let action = match refusal {
            Refusal::Write => "write",
            Refusal::Trust => "trust",
            Refusal::NotAllowed => "run",
            Refusal::Approval => "approve",
            _ => "open",
        };
        let message = format!("Refused to {action} `{}`", what.as_ref());
        let mut error = Self::new(ErrorKind::Refused, message, rule);
        error.parts.refusal = Some(refusal);
        error
    }

    /// Adds to the message what exactly is in the way.
    #[must_use]
    pub fn because(mut self, reason: impl AsRef<str>) -> Self {
        let message = format!("{}: {}", self.parts.message, visible(reason.as_ref()));
        self.parts.message = message.into();
        self
    }

    /// Creates an error for a malformed request; `reason` says what is wrong with it.
    pub fn invalid(what: impl AsRef<str>, reason: impl AsRef<str>) -> Self {
        let message = format!("Invalid `{}`: {}", what.as_ref(), reason.as_ref());
        Self::new(ErrorKind::Invalid, message, "Correct it and try again")
    }

    /// Creates an error from the I/O error of a read; [`io::ErrorKind::NotFound`] becomes [`ErrorKind::NotFound`].
    pub fn read(what: impl AsRef<str>, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::not_found(what);
        }
        let message = format!("Could not read `{}`", what.as_ref());
        let hint = "Check that the file may be read";
        Self::new(ErrorKind::Unreadable, message, hint).with_source(source)
    }

    /// Creates an error from the I/O error of a write.
    pub fn write(what: impl AsRef<str>, source: io::Error) -> Self {
        let message = format!("Could not write `{}`", what.as_ref());
        let hint =
            "Check that the folder is there and may be written to, and that the disk has room";
        Self::new(ErrorKind::Unwritable, message, hint).with_source(source)
    }

    /// Adds ids to suggest, the nearest first.
    #[must_use]
    pub fn with_nearest<'n>(mut self, nearest: impl IntoIterator<Item = &'n str>) -> Self {
        self.parts.nearest = nearest.into_iter().map(Into::into).collect();
        self
    }

    fn with_source(mut self, source: io::Error) -> Self {
        self.parts.source = Some(source);
        self
    }

    /// Returns the kind, stable across releases.
    pub fn kind(&self) -> ErrorKind {
        self.parts.kind
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
        self.parts.refusal
    }

    /// Returns whether a retry may succeed: the system ran out of a resource, or a disk or network failed. A missing
    /// file, a wrong file type and missing permissions are permanent until somebody changes them.
    pub fn is_transient(&self) -> bool {
        self.parts.source.as_ref().is_some_and(is_transient)
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> &'static str {
        self.parts.hint
    }

    /// Returns existing ids similar to the unknown one, the nearest first.
    pub fn nearest(&self) -> &[Box<str>] {
        &self.parts.nearest
    }

    /// Returns the findings on the requested skill's file, if it is malformed.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.parts.diagnostics
    }

    /// Returns the message followed by its cause.
    pub fn with_cause(&self) -> String {
        match &self.parts.source {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
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

display!(Error, |it| &it.parts.message);

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.parts.source.as_ref()?;
        Some(source)
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
