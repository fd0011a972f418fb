//! The error of the engine: opaque outside, precise inside.

use std::fmt;
use std::io;

use crate::diagnostic::quoted;

/// Why the engine could not do what it was asked to.
///
/// Broken content is not an error: it is a value with [diagnostics](crate::Diagnostic).
#[derive(Debug)]
pub struct Error {
    repr: Box<Repr>,
}

/// The kind of an [`Error`], stable across releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such thing.
    NotFound,
    /// A rule forbids it.
    Refused,
    /// It is there and could not be read.
    Unreadable,
    /// What was asked for makes no sense as it is written.
    Invalid,
}

#[derive(Debug)]
enum Repr {
    NotFound { what: Box<str> },
    Refused { what: Box<str>, rule: &'static str },
    Read { what: Box<str>, source: io::Error },
    Invalid { what: Box<str>, why: Box<str> },
}

impl Error {
    /// Returns the kind, stable across releases.
    pub fn kind(&self) -> ErrorKind {
        match *self.repr {
            Repr::NotFound { .. } => ErrorKind::NotFound,
            Repr::Refused { .. } => ErrorKind::Refused,
            Repr::Read { .. } => ErrorKind::Unreadable,
            Repr::Invalid { .. } => ErrorKind::Invalid,
        }
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match *self.repr {
            Repr::NotFound { .. } => "Check the name; the list of skills may have changed since",
            Repr::Refused { rule, .. } => rule,
            Repr::Read { .. } => "Check that the file may be read",
            Repr::Invalid { .. } => "Correct it and try again",
        }
    }

    /// Creates an error for a thing that is not there.
    pub fn not_found(what: impl Into<Box<str>>) -> Self {
        Repr::NotFound { what: what.into() }.into()
    }

    /// Creates an error for a thing that a rule forbids; `rule` says which, as a sentence.
    pub fn refused(what: impl Into<Box<str>>, rule: &'static str) -> Self {
        Repr::Refused {
            what: what.into(),
            rule,
        }
        .into()
    }

    /// Creates an error for a request that makes no sense as it is written; `why` says what is wrong with it.
    pub fn invalid(what: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Self {
        let (what, why) = (what.into(), why.into());
        Repr::Invalid { what, why }.into()
    }

    /// Creates an error from what the system answered; not-found becomes [`ErrorKind::NotFound`].
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
            Repr::NotFound { what } => write!(formatter, "Could not find {}", quoted(what)),
            Repr::Refused { what, .. } => write!(formatter, "Refused to open {}", quoted(what)),
            Repr::Read { what, .. } => write!(formatter, "Could not read {}", quoted(what)),
            Repr::Invalid { what, why } => {
                write!(formatter, "Could not understand {}: {why}", quoted(what))
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.repr {
            Repr::Read { source, .. } => Some(source),
            Repr::NotFound { .. } | Repr::Refused { .. } | Repr::Invalid { .. } => None,
        }
    }
}
