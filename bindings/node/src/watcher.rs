//! Follows the files in the background.

use std::sync::{Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use skillfold_calls::CallError;

use crate::promise::or_throw;

/// Keeps skills up to date until it is closed.
#[napi]
pub struct Watcher {
    watcher: Mutex<Option<skillfold::watch::Watcher>>,
}

impl Watcher {
    /// Calls a function with what changed, or with the error, as JSON. Neither keeps the process alive.
    pub fn start(
        skills: &skillfold_calls::Skills,
        interval: f64,
        on_change: &Function<'_, String, ()>,
    ) -> Result<Self> {
        let on_change = on_change
            .build_threadsafe_function()
            .weak::<true>()
            .build()?;
        let changed = move |view: String| {
            // Nothing is reported while Node ends.
            let _ = on_change.call(view, ThreadsafeFunctionCallMode::NonBlocking);
        };
        let watcher = skills.watch(interval, changed).map_err(CallError::from);
        Ok(Self {
            watcher: Mutex::new(Some(or_throw(watcher)?)),
        })
    }
}

#[napi]
impl Watcher {
    #[napi]
    pub fn close(&self) {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        drop(watcher.take());
    }
}
