//! A conversation with a model.

use pyo3::prelude::*;
use skillfold_calls::CallError;

use crate::error::detached;
use crate::instructions::Instructions;
use crate::run::{Cancel, interruptible};

/// A conversation. Calls from several threads wait for each other.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct Session {
    session: skillfold_calls::Session,
}

impl Session {
    pub(crate) fn new(session: skillfold_calls::Session) -> Self {
        Self { session }
    }
}

#[pymethods]
impl Session {
    fn turn(&self, py: Python<'_>, message: &str) -> PyResult<String> {
        detached(py, || Ok::<_, CallError>(self.session.turn(message)))
    }

    fn load(&self, py: Python<'_>, id: &str, arguments: &str) -> PyResult<Instructions> {
        detached(py, || self.session.load(id, arguments)).map(Instructions::new)
    }

    /// Makes a call: JSON in and out.
    fn call(&self, py: Python<'_>, call: &str) -> PyResult<String> {
        detached(py, || self.session.call(call))
    }

    fn call_tool(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: &str,
        cancel: &Cancel,
    ) -> PyResult<String> {
        let call = || self.session.call_tool(name, arguments, true, &cancel.0);
        if py.detach(|| self.session.tool_runs(name)) {
            return interruptible(py, &cancel.0, call);
        }
        detached(py, || Ok::<_, CallError>(call()))
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a list")]
    fn child(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<Self> {
        detached(py, || self.session.child(&ids)).map(Self::new)
    }
}
