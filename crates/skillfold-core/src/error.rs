//! The error of the engine: opaque outside, precise inside.

use std::fmt;
use std::io;

use crate::diagnostic::{Diagnostic, visible, whole};

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
    /// There is a file already, and it stays as it is.
    Exists,
    /// It could not be written.
    Unwritable,
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
        rule: &'static str,
    },
    Read {
        what: Box<str>,
        source: io::Error,
    },
    Invalid {
        what: Box<str>,
        why: Box<str>,
    },
    Setting {
        origin: Box<str>,
        why: Box<str>,
    },
    Model {
        file: Box<str>,
        why: Box<str>,
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

    /// Returns whether trying again may help: the system was short of something, or a disk or a network failed. What is
    /// not there, is something else or is not allowed stays so until somebody changes it.
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

    /// Returns the ids that may have been meant, the nearest first.
    pub fn nearest(&self) -> &[Box<str>] {
        match &*self.repr {
            Repr::NoSkill { nearest, .. } | Repr::NoAgent { nearest, .. } => nearest,
            _ => &[],
        }
    }

    /// Returns what is wrong with the file of a skill that was asked for.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match &*self.repr {
            Repr::Malformed { diagnostics, .. } => diagnostics,
            _ => &[],
        }
    }

    /// Returns the message with its cause.
    pub fn with_cause(&self) -> String {
        match std::error::Error::source(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }

    /// Creates an error for a thing that is not there.
    pub fn not_found(what: impl Into<Box<str>>) -> Self {
        Repr::NotFound { what: what.into() }.into()
    }

    /// Creates an error for an id that leads to no skill; `nearest` are those that may have been meant.
    pub(crate) fn no_skill(id: &str, nearest: Vec<&str>) -> Self {
        let nearest = nearest.into_iter().map(Into::into).collect();
        let id = id.into();
        Repr::NoSkill { id, nearest }.into()
    }

    /// Creates an error for an id that leads to no agent; `nearest` are those that may have been meant.
    pub fn no_agent(id: &str, nearest: Vec<&str>) -> Self {
        let nearest = nearest.into_iter().map(Into::into).collect();
        let id = id.into();
        Repr::NoAgent { id, nearest }.into()
    }

    /// Creates an error for a skill that is not read as its file stands; `what` is the whole sentence.
    pub(crate) fn malformed(what: impl Into<Box<str>>, diagnostics: Box<[Diagnostic]>) -> Self {
        let what = what.into();
        Repr::Malformed { what, diagnostics }.into()
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

    /// Creates an error for a setting that cannot be followed; `origin` says where it was made, `why` what is wrong.
    pub fn setting(origin: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Self {
        let (origin, why) = (origin.into(), why.into());
        Repr::Setting { origin, why }.into()
    }

    /// Creates an error for a file of a model that cannot be used; `why` says what is wrong with it.
    pub fn model(file: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Self {
        let (file, why) = (file.into(), why.into());
        Repr::Model { file, why }.into()
    }

    /// Creates an error for a file that is there already.
    pub fn exists(what: impl Into<Box<str>>) -> Self {
        Repr::Exists { what: what.into() }.into()
    }

    /// Creates an error for a file that a rule forbids to write; `rule` says which, as a sentence.
    pub fn refused_write(what: impl Into<Box<str>>, rule: &'static str) -> Self {
        let what = what.into();
        Repr::RefusedWrite { what, rule }.into()
    }

    /// Creates an error for a folder that a rule forbids to trust; `rule` says which, as a sentence.
    pub fn refused_trust(what: impl Into<Box<str>>, rule: &'static str) -> Self {
        let what = what.into();
        Repr::RefusedTrust { what, rule }.into()
    }

    /// Creates an error from what the system answered to a write.
    pub fn write(what: impl Into<Box<str>>, source: io::Error) -> Self {
        let what = what.into();
        Repr::Write { what, source }.into()
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

/// Returns whether trying again may help. Errors that nobody has heard of count: taking a fault for the truth loses skills.
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
            Repr::NotFound { what } => write!(formatter, "Could not find {}", whole(what)),
            Repr::NoSkill { id, .. } => write!(formatter, "There is no skill {}", whole(id)),
            Repr::NoAgent { id, .. } => write!(formatter, "There is no agent {}", whole(id)),
            Repr::Malformed { what, .. } => formatter.write_str(&visible(what)),
            Repr::Refused { what, .. } => write!(formatter, "Refused to open {}", whole(what)),
            Repr::Read { what, .. } => write!(formatter, "Could not read {}", whole(what)),
            Repr::Invalid { what, why } => {
                write!(formatter, "Invalid {}: {}", whole(what), visible(why))
            }
            Repr::Setting { origin, why } => {
                write!(formatter, "{} ({})", visible(why), visible(origin))
            }
            Repr::Model { file, why } => {
                let file = whole(file);
                write!(
                    formatter,
                    "Could not use the model file {file}: {}",
                    visible(why)
                )
            }
            Repr::Exists { what } => write!(formatter, "File already exists: {}", whole(what)),
            Repr::RefusedWrite { what, .. } => {
                write!(formatter, "Refused to write {}", whole(what))
            }
            Repr::RefusedTrust { what, .. } => {
                write!(formatter, "Refused to trust {}", whole(what))
            }
            Repr::Write { what, .. } => write!(formatter, "Could not write {}", whole(what)),
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
    fn what_may_pass_is_told_from_what_stays() {
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
        for (code, is_so) in [
            (rustix::io::Errno::MFILE, true),
            (rustix::io::Errno::IO, true),
            (rustix::io::Errno::LOOP, false),
        ] {
            assert_eq!(is_transient(code.into()), is_so, "{code}");
        }
        assert!(!Error::not_found("x").is_transient());
    }
}
