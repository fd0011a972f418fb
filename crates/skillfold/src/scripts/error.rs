//! Why a script or a tool did not run.

use std::fmt;

use skillfold_core::Error;
use skillfold_run::RunError;

use crate::answer::failure::Failure;

/// Why a script or a tool of a skill did not run: the skill may not, or the run could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScriptError {
    /// There is no such skill, or it may not run.
    Skill(Error),
    /// The run could not start, or the toolset failed.
    Run(RunError),
}

impl ScriptError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Skill(error) => error.hint(),
            Self::Run(error) => error.hint(),
        }
    }

    /// Returns the view for a program or a model.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Skill(error) => Failure::new(error),
            Self::Run(error) => Failure::run(error),
        }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill(error) => formatter.write_str(&error.with_cause()),
            Self::Run(error) => formatter.write_str(&error.with_cause()),
        }
    }
}

impl std::error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Skill(error) => Some(error),
            Self::Run(error) => Some(error),
        }
    }
}

impl From<Error> for ScriptError {
    fn from(error: Error) -> Self {
        Self::Skill(error)
    }
}

impl From<RunError> for ScriptError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}
