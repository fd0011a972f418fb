//! Follows the files in the background.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

/// Keeps skills up to date until it is closed.
#[pyclass(frozen, weakref, module = "skillfold._skillfold")]
pub(crate) struct Watcher {
    watcher: Mutex<Option<skillfold::watch::Watcher>>,
    /// The process that has the watcher's thread.
    process: u32,
}

impl Watcher {
    pub(crate) fn new(watcher: skillfold::watch::Watcher) -> Self {
        Self {
            watcher: Mutex::new(Some(watcher)),
            process: std::process::id(),
        }
    }

    fn take(&self) -> Option<skillfold::watch::Watcher> {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let watcher = watcher.take();
        if self.process == std::process::id() {
            return watcher;
        }
        // A fork has no threads of its parent, so there is none to wait for.
        std::mem::forget(watcher);
        None
    }
}

#[pymethods]
impl Watcher {
    /// Stops, and waits for a callback that is running.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.take()));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Its thread may wait for Python.
        if let Some(watcher) = self.take() {
            Python::attach(|py| py.detach(|| drop(watcher)));
        }
    }
}

/// Calls a Python function with what changed, or with the error, as JSON.
pub(crate) fn on_change(function: Py<PyAny>) -> impl FnMut(String) + Send {
    move |view| {
        // No changes are reported while Python ends.
        Python::try_attach(|py| {
            if let Err(error) = function.call1(py, (view,)) {
                error.write_unraisable(py, Some(function.bind(py)));
            }
        });
    }
}
