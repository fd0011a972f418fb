//! The skills as one agent sees them.

use pyo3::prelude::*;

use crate::error::detached;
use crate::instructions::Instructions;
use crate::session::Session;

/// The skills as one agent sees them.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct AgentSkills {
    agent: skillfold_calls::AgentSkills,
}

impl AgentSkills {
    pub(crate) fn new(agent: skillfold_calls::AgentSkills) -> Self {
        Self { agent }
    }
}

#[pymethods]
impl AgentSkills {
    #[getter]
    fn id(&self) -> &str {
        self.agent.id()
    }

    /// Returns the ids of the skills that the agent sees.
    fn ids(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.agent.ids())
    }

    fn narrow(&self, py: Python<'_>, uses: &str) -> PyResult<Self> {
        detached(py, || self.agent.narrow(uses)).map(Self::new)
    }

    fn load(&self, py: Python<'_>, id: &str, arguments: &str) -> PyResult<Instructions> {
        detached(py, || self.agent.load(id, arguments)).map(Instructions::new)
    }

    /// Makes a call: JSON in and out.
    fn call(&self, py: Python<'_>, call: &str) -> PyResult<String> {
        detached(py, || self.agent.call(call))
    }

    fn session(&self, py: Python<'_>, options: &str) -> PyResult<Session> {
        detached(py, || self.agent.session(options)).map(Session::new)
    }
}
