//! Toolsets that are loaded, so that the next call does not start them again.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use skillfold_core::load::Digest;
use skillfold_run::toolset::{ToolOutput, Toolset};
use skillfold_run::{Cancel, RunError, RunErrorKind};

/// Maximum toolsets that stay loaded. Each may be a process.
const MAX_LOADED: usize = 8;

/// A loaded toolset, and the token that ends what it does.
#[derive(Debug)]
struct LoadedToolset {
    toolset: Mutex<Box<dyn Toolset>>,
    cancel: Cancel,
}

type Loaded = Arc<LoadedToolset>;

/// Toolsets by the skill that was allowed, and by their name; the one used last comes last.
#[derive(Debug, Default)]
pub(crate) struct ToolsetPool(Mutex<Vec<(PoolKey, Loaded)>>);

/// What a loaded toolset is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PoolKey {
    /// The digest of the user's allowance: of the skill, what is granted and its packages.
    pub(crate) entry: Digest,
    pub(crate) toolset: String,
    /// The working folder, which decides about the project.
    pub(crate) directory: Option<PathBuf>,
}

impl ToolsetPool {
    /// Calls a tool until `cancel` ends it; `load` loads the toolset if it is not loaded. Calls of one toolset wait for each
    /// other.
    pub(crate) fn call(
        &self,
        key: &PoolKey,
        load: impl FnOnce(Cancel) -> Result<Box<dyn Toolset>, RunError>,
        (tool, arguments): (&str, &Value),
        cancel: &Cancel,
    ) -> Result<ToolOutput, RunError> {
        let loaded = if let Some(loaded) = self.take(key) {
            loaded
        } else {
            let own = Cancel::default();
            own.follow(Some(cancel));
            Arc::new(LoadedToolset {
                toolset: Mutex::new(load(own.clone())?),
                cancel: own,
            })
        };
        self.put(key.clone(), Arc::clone(&loaded));
        let mut toolset = loaded
            .toolset
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if cancel.is_cancelled() {
            let message = format!("Tool `{tool}` was cancelled before it was called");
            let hint = "Call it again if you still need it";
            return Err(RunError::new(RunErrorKind::Cancelled, message, hint));
        }
        loaded.cancel.follow(Some(cancel));
        let answer = toolset.call(tool, arguments);
        loaded.cancel.follow(None);
        answer
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
