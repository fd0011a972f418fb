//! The cache of loaded instructions.

use std::sync::Arc;

use crate::cache::BoundedCache;
use crate::load::instructions::Instructions;
use crate::read::discover::Skill;

/// Estimated bytes in memory per byte of frontmatter: a short field is a name, a value and their positions.
const FIELD_BYTES: usize = 16;

/// Instructions by skill and arguments.
pub(super) type InstructionCache = BoundedCache<InstructionKey, CachedInstructions>;

/// A skill as it was found, and the arguments.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct InstructionKey {
    /// The skill's address, which is not reused while the entry holds the skill.
    skill: usize,
    arguments: Box<str>,
}

impl InstructionKey {
    pub(super) fn new(skill: &Arc<Skill>, arguments: &str) -> Self {
        Self {
            skill: Arc::as_ptr(skill).addr(),
            arguments: arguments.into(),
        }
    }
}

/// Instructions, and how long they are valid.
pub(super) struct CachedInstructions {
    /// The skill as it was found; what was read may be newer.
    pub(super) found: Arc<Skill>,
    pub(super) instructions: Arc<Instructions>,
    pub(super) validity: Validity,
}

impl CachedInstructions {
    /// Returns the bytes that the instructions and their key take.
    pub(super) fn bytes(&self, key: &InstructionKey) -> usize {
        let skill = self.instructions.skill();
        // A file that changed since it was found was read into a new skill.
        let own_skill = if Arc::ptr_eq(&self.found, skill) {
            0
        } else {
            let frontmatter = usize::try_from(skill.body_start).unwrap_or(usize::MAX);
            frontmatter.saturating_mul(FIELD_BYTES)
        };
        let text = self.instructions.memory_bytes();
        own_skill.saturating_add(key.arguments.len() + text)
    }
}

/// How long cached instructions are valid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Validity {
    /// An equal revision means equal content.
    Settled,
    /// The file was written too recently; they are valid only for the snapshot with this number.
    Unsettled(u64),
}
