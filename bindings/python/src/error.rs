//! Errors of the engine as Python exceptions.

use std::fmt::Display;
use std::str::FromStr;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use skillfold::core::Error;
use skillfold::view::{Document, Failure};

use crate::embedder;

/// Returns the exception for an error of the engine: `skillfold.errors` chooses the class.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    raise(py, Failure::new(error))
}

/// Returns the exception for a failure.
pub(crate) fn raise(py: Python<'_>, failure: Failure) -> PyErr {
    static FROM_VIEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_view = FROM_VIEW.import(py, "skillfold.errors", "from_view");
    call(from_view, failure)
}

/// Returns the exception for a script or toolset that did not run.
pub(crate) fn raise_run(py: Python<'_>, failure: Failure) -> PyErr {
    static FROM_RUN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_run = FROM_RUN.import(py, "skillfold.errors", "from_run");
    call(from_run, failure)
}

/// Returns the exception that a function of `skillfold.errors` makes of a failure.
fn call(function: PyResult<&Bound<'_, PyAny>>, failure: Failure) -> PyErr {
    let made = function.and_then(|function| function.call1((json(Document::Error(failure)),)));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Runs `f` while other Python threads run, and raises its error.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    py.detach(f).map_err(|error| exception(py, &error))
}

/// Does what [`detached`] does for a call that may run an embedder: raises what interrupted that. An embedder that comes
/// back with such a call is refused; it would wait for itself.
pub(crate) fn searching<T: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    if embedder::is_embedding() {
        let why = "an embedder cannot search with the skills that it embeds for";
        return Err(exception(py, &Error::invalid("embedder", why)));
    }
    let result = detached(py, f);
    match embedder::take_interruption() {
        Some(interruption) => Err(interruption),
        None => result,
    }
}

/// Parses a word of an argument.
pub(crate) fn parse<T: FromStr<Err: Display>>(what: &str, word: &str) -> Result<T, Error> {
    word.parse::<T>()
        .map_err(|error| Error::invalid(what, error.to_string()))
}

/// Returns a view as JSON on one line.
pub(crate) fn json(document: Document) -> String {
    document.to_compact_json()
}
