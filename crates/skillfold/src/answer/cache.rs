//! The cache of the answers of one snapshot, shared by all conversations that may see all skills.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillfold_core::Envelope;
use skillfold_core::load::BoundedCache;

use crate::answer::tool::Tool;
use crate::answer::tool_answer::ToolAnswer;
use crate::json::Json;

/// Maximum bytes of all answers: a thousand skills of 6 kB fit.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Maximum answers.
const MAX_ANSWERS: usize = 20_000;

/// A call: the tool, how it wraps a skill, and the arguments as JSON.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct AnswerKey {
    tool: Tool,
    envelope: Envelope,
    arguments: Box<str>,
}

impl AnswerKey {
    pub(crate) fn new(tool: Tool, envelope: Envelope, arguments: &Json) -> Self {
        Self {
            tool,
            envelope,
            // Objects have their keys in order, so equal arguments are equal texts.
            arguments: arguments.to_string().into(),
        }
    }
}

/// The answers of one snapshot.
#[derive(Debug)]
pub(crate) struct AnswerCache(Mutex<BoundedCache<AnswerKey, Arc<ToolAnswer>>>);

impl AnswerCache {
    pub(crate) fn get(&self, key: &AnswerKey) -> Option<Arc<ToolAnswer>> {
        self.lock().get(key).map(Arc::clone)
    }

    pub(crate) fn insert(&self, key: AnswerKey, answer: Arc<ToolAnswer>) {
        let bytes = key.arguments.len() + answer.bytes();
        self.lock().insert(key, answer, bytes);
    }

    /// Takes the lock, which is held for a lookup or an insertion only.
    fn lock(&self) -> MutexGuard<'_, BoundedCache<AnswerKey, Arc<ToolAnswer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for AnswerCache {
    fn default() -> Self {
        Self(Mutex::new(BoundedCache::new(MAX_ANSWERS, MAX_BYTES)))
    }
}
