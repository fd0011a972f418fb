//! Why a command could not do what was asked, and the exit code for it.

use std::io;

use skillfold::core::{Error, ErrorKind};
use skillfold::view;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The engine could not do it.
    Engine(Error),
    /// There is no such skill, or its folder holds none.
    NoSkill(view::Failure),
    /// The command line makes no sense.
    Usage(String),
    /// Nobody reads the output, or it cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Something is wrong with what was looked at.
pub(crate) const WRONG: u8 = 1;
/// The command line or a setting cannot be followed.
pub(crate) const USAGE: u8 = 2;

/// Returns the exit code for a kind of error.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Invalid => USAGE,
        ErrorKind::NotFound => 3,
        ErrorKind::Refused | ErrorKind::Exists => 4,
        _ => 5,
    }
}
