//! Errors of the engine as Python exceptions.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use skillfold_calls::CallError;

use crate::embedder;

/// Returns the exception for an error: `skillfold.errors` chooses the class.
fn exception(py: Python<'_>, error: CallError) -> PyErr {
    static FROM_VIEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_view = FROM_VIEW.import(py, "skillfold.errors", "from_view");
    let made = from_view.and_then(|function| function.call1((error.into_json(),)));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns what a call gave, or raises its error.
pub(crate) fn or_raise<T>(py: Python<'_>, given: Result<T, impl Into<CallError>>) -> PyResult<T> {
    given.map_err(|error| exception(py, error.into()))
}

/// Makes a call while other Python threads run, and raises its error, or what interrupted an embedder that it ran. An
/// embedder that comes back with a call is refused; it might wait for itself.
pub(crate) fn detached<T: Send, E: Into<CallError> + Send>(
    py: Python<'_>,
    f: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    or_raise(py, embedder::refused_while_embedding())?;
    let result = py.detach(f);
    match embedder::take_interruption() {
        Some(interruption) => Err(interruption),
        None => or_raise(py, result),
    }
}
