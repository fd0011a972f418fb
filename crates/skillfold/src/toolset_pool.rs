//! Toolsets that are loaded, so that the next call does not start them again.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use skillfold_core::load::Digest;
use skillfold_run::RunError;
use skillfold_run::toolset::{ToolOutput, Toolset};

/// Maximum toolsets that stay loaded. Each may be a process.
const MAX_LOADED: usize = 8;

type Loaded = Arc<Mutex<Box<dyn Toolset>>>;

/// Toolsets by the digest of their skill, which decides what is granted to it, and by their name; the one used last comes last.
#[derive(Debug, Default)]
pub(crate) struct ToolsetPool(Mutex<Vec<(PoolKey, Loaded)>>);

/// What a loaded toolset is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PoolKey {
    pub(crate) digest: Digest,
    pub(crate) toolset: String,
}

impl ToolsetPool {
    /// Calls a tool; `load` loads the toolset if it is not loaded. Calls of one toolset wait for each other.
    pub(crate) fn call(
        &self,
        key: &PoolKey,
        load: impl FnOnce() -> Result<Box<dyn Toolset>, RunError>,
        tool: &str,
        arguments: &Value,
    ) -> Result<ToolOutput, RunError> {
        let toolset = match self.take(key) {
            Some(toolset) => toolset,
            None => Arc::new(Mutex::new(load()?)),
        };
        self.put(key.clone(), Arc::clone(&toolset));
        let mut toolset = toolset.lock().unwrap_or_else(PoisonError::into_inner);
        toolset.call(tool, arguments)
    }

    fn take(&self, key: &PoolKey) -> Option<Loaded> {
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = loaded.iter().position(|(known, _)| known == key)?;
        Some(loaded.remove(at).1)
    }

    fn put(&self, key: PoolKey, toolset: Loaded) {
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|(known, _)| *known != key);
        loaded.push((key, toolset));
        if loaded.len() > MAX_LOADED {
            loaded.remove(0);
        }
    }
}
