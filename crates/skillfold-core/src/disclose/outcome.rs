//! What a turn did with a skill.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::load::instructions::Instructions;

/// What was done with a skill that matched.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkillOutcome {
    /// Its instructions were given: their tokens, the instructions, and findings about the load.
    Given(u64, Arc<Instructions>, Vec<Diagnostic>),
    /// The model already has its instructions.
    Known,
    /// Its instructions, of this many tokens, did not fit the budget; a line says so.
    NoRoom(u64),
    /// The maximum number of skills was reached; a line says that it matched, unless the policy is triggers only.
    Later,
    /// The message may be about the skill; a line says so.
    Suggested,
    /// The client loads it itself; a line names it.
    Named,
    /// Its instructions could not be loaded.
    Failed(Error),
}

impl SkillOutcome {
    /// Returns the outcome as a word, such as `no_room`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Given(..) => "given",
            Self::Known => "known",
            Self::NoRoom(_) => "no_room",
            Self::Later => "later",
            Self::Suggested => "suggested",
            Self::Named => "named",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns the tokens of the instructions, if they were counted.
    pub const fn tokens(&self) -> Option<u64> {
        match self {
            Self::Given(tokens, ..) | Self::NoRoom(tokens) => Some(*tokens),
            Self::Known | Self::Later | Self::Suggested | Self::Named | Self::Failed(_) => None,
        }
    }
}
