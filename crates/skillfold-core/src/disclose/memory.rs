//! What a conversation remembers about the skills it was given.

use crate::disclose::changes::ShownListing;
use crate::load::instructions::Instructions;

/// What a conversation remembers about the skills it was given: a [`SessionState`](crate::SessionState), or [`NoMemory`].
pub trait Memory: Sealed {
    /// Returns when a skill was last used, as an increasing number; `None` if never.
    fn last_used(&self, id: &str) -> Option<u64>;

    /// Returns whether the model has a line about a skill, or instructions of it.
    fn knows(&self, _id: &str) -> bool {
        false
    }

    /// Returns whether these instructions are still in the model's context.
    fn has_instructions(&self, instructions: &Instructions) -> bool;

    /// Returns whether the conversation may see a skill.
    fn may_see(&self, _id: &str) -> bool {
        true
    }

    /// Returns skills to give again although the current message does not ask for them, the most recently used first.
    fn repeated(&self) -> Vec<RepeatedSkill> {
        Vec::new()
    }

    /// Returns the listing that the model got, if changes since then are to be announced.
    fn shown_listing(&self) -> Option<&ShownListing> {
        None
    }
}

/// A conversation without memory.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct NoMemory;

/// Only this crate implements [`Memory`], so that it can get more methods.
pub trait Sealed {}

impl Sealed for NoMemory {}

impl Memory for NoMemory {
    fn last_used(&self, _: &str) -> Option<u64> {
        None
    }

    fn has_instructions(&self, _: &Instructions) -> bool {
        false
    }
}

/// A skill that is given again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedSkill {
    /// The skill's id.
    pub id: Box<str>,
    /// The arguments that it was loaded with.
    pub arguments: Box<str>,
}
