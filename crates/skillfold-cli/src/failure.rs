//! Why a command could not do what was asked, and the exit code for it.

use std::io;

use skillfold::core::{Error, ErrorKind};

#[derive(Debug)]
pub(crate) enum Failure {
    /// The engine could not do it.
    Engine(Error),
    /// The command line makes no sense.
    Usage(String),
    /// The system did not let the command do it.
    System { message: String, hint: String },
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

/// Reading, writing or another thing that the system does failed.
pub(crate) const FAILED: u8 = 5;

/// Returns the exit code for an error.
pub(crate) fn code(error: &Error) -> u8 {
    match error.kind() {
        // The command line is in order, and the skill is not.
        ErrorKind::Invalid if !error.diagnostics().is_empty() => WRONG,
        ErrorKind::Invalid => USAGE,
        ErrorKind::NotFound => 3,
        ErrorKind::Refused | ErrorKind::Exists => 4,
        _ => FAILED,
    }
}
