//! The error of the store: opaque outside, precise inside.

use std::fmt;
use std::io;
use std::path::Path;

/// Why the store could not write what it was asked to.
///
/// The message names the path with control and direction-changing characters escaped, so that it may go to a terminal.
/// What the system said is the [source](std::error::Error::source).
#[derive(Debug)]
pub struct Error {
    repr: Box<Repr>,
}

/// The kind of an [`Error`], stable across releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is a file already, and it stays as it is.
    Exists,
    /// A rule forbids it; [`Error::hint`] names the rule.
    Refused,
    /// The system could not do it.
    Failed,
}

#[derive(Debug)]
enum Repr {
    Exists { path: Box<Path> },
    Refused { path: Box<Path>, rule: &'static str },
    Failed { path: Box<Path>, cause: io::Error },
}

impl Error {
    /// Returns the kind, stable across releases.
    pub fn kind(&self) -> ErrorKind {
        match *self.repr {
            Repr::Exists { .. } => ErrorKind::Exists,
            Repr::Refused { .. } => ErrorKind::Refused,
            Repr::Failed { .. } => ErrorKind::Failed,
        }
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match *self.repr {
            Repr::Exists { .. } => "Choose another name, or replace the file",
            Repr::Refused { rule, .. } => rule,
            Repr::Failed { .. } => {
                "Check that the folder is there and may be written to, and that the disk has room"
            }
        }
    }

    pub(crate) fn exists(path: &Path) -> Self {
        Repr::Exists { path: path.into() }.into()
    }

    /// Creates an error for a path that a rule forbids; `rule` says which, as a sentence.
    pub(crate) fn refused(path: &Path, rule: &'static str) -> Self {
        let path = path.into();
        Repr::Refused { path, rule }.into()
    }

    pub(crate) fn failed(path: &Path, cause: io::Error) -> Self {
        let path = path.into();
        Repr::Failed { path, cause }.into()
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
            Repr::Exists { path } => write!(formatter, "File is there already: {}", quoted(path)),
            Repr::Refused { path, .. } => write!(formatter, "Refused to write {}", quoted(path)),
            Repr::Failed { path, .. } => write!(formatter, "Could not write {}", quoted(path)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.repr {
            Repr::Failed { cause, .. } => Some(cause),
            Repr::Exists { .. } | Repr::Refused { .. } => None,
        }
    }
}

/// Returns a path as it is shown in a message: in backticks and whole, because half a path names nothing.
fn quoted(path: &Path) -> String {
    let mut shown = String::from("`");
    for c in path.to_string_lossy().chars() {
        match c {
            c if c.is_control() || is_invisible(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown.push('`');
    shown
}

/// Returns whether a person cannot see the character, or sees the text around it in another order.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}
