//! Why a command failed, and its exit code.

use std::io;
use std::process::ExitCode;

use skillfold::core::{Error, ErrorKind};
use skillfold::run::RunError;
use skillfold::scripts::ScriptError;

/// The exit code of a command, or why it failed.
pub(crate) type CommandResult = Result<ExitCode, Failure>;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The engine returned an error.
    Engine(Error),
    /// A script or tool of a skill did not run.
    Run(RunError),
    /// The command line is invalid.
    Usage(String),
    /// The system refused an operation.
    System { message: String, hint: String },
    /// The output is closed or cannot be written.
    Output(io::Error),
    /// The user left without a choice.
    Interrupted,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        match error {
            ScriptError::Skill(error) => Self::Engine(error),
            ScriptError::Run(error) => Self::Run(error),
            other => Self::System {
                message: other.to_string(),
                hint: other.hint().to_owned(),
            },
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Exit code: the command ran and found problems.
pub(crate) const EXIT_PROBLEMS: u8 = 1;
/// Exit code: the command line or a setting is invalid.
pub(crate) const EXIT_USAGE: u8 = 2;

/// Exit code: a rule forbids it, or nobody could be asked.
pub(crate) const EXIT_REFUSED: u8 = 4;

/// Exit code: an I/O or other system error.
pub(crate) const EXIT_FAILED: u8 = 5;

/// Exit code: the user interrupted the command. A shell says the same of one that Ctrl-C ended.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// Returns the exit code for an error.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match error.kind() {
        // The command line is valid, but the skill is not.
        ErrorKind::Invalid if !error.diagnostics().is_empty() => EXIT_PROBLEMS,
        ErrorKind::Invalid => EXIT_USAGE,
        ErrorKind::NotFound => 3,
        ErrorKind::Refused | ErrorKind::Exists => EXIT_REFUSED,
        _ => EXIT_FAILED,
    }
}
