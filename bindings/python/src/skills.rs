//! The live handle to all skills.

use std::sync::Arc;

use pyo3::prelude::*;
use skillfold::core::Error;
use skillfold::core::search::Embedder;
use skillfold_calls::DiscoverOptions;

use crate::agent::AgentSkills;
use crate::embedder::PythonEmbedder;
use crate::error::{detached, or_raise};
use crate::instructions::Instructions;
use crate::run::{Cancel, interruptible};
use crate::session::Session;
use crate::watcher::{Watcher, on_change};

/// A live handle to all skills.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct Skills {
    skills: skillfold_calls::Skills,
    warnings: Vec<String>,
}

/// The name of an embedder's model, what embeds texts, and what embeds requests if that differs.
type Embeds = (String, Py<PyAny>, Option<Py<PyAny>>);

#[pymethods]
impl Skills {
    #[staticmethod]
    fn discover(
        py: Python<'_>,
        options: &str,
        files: Vec<(String, Vec<u8>)>,
        embedder: Option<Embeds>,
    ) -> PyResult<Self> {
        let embedder = embedder.map(|(id, embed, embed_query)| {
            let embedder = PythonEmbedder {
                id,
                embed,
                embed_query,
            };
            Arc::new(embedder) as Arc<dyn Embedder>
        });
        detached(py, || {
            let options = DiscoverOptions::from_json(options)?;
            let options = options.with_files(files).with_embedder(embedder);
            let (skills, warnings) = skillfold_calls::Skills::discover(options)?;
            Ok::<_, Error>(Self { skills, warnings })
        })
    }

    /// Returns what a program should know after discovery.
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn for_user(&self) -> Self {
        Self {
            skills: self.skills.for_user(),
            warnings: Vec::new(),
        }
    }

    fn __len__(&self) -> usize {
        self.skills.count()
    }

    fn __contains__(&self, id: &str) -> bool {
        self.skills.has(id)
    }

    /// Returns the ids of the skills that a model may see.
    fn visible_ids(&self) -> Vec<String> {
        self.skills.ids()
    }

    /// Returns how many roots there are, without the one for skills in memory if it is empty.
    fn root_count(&self) -> usize {
        self.skills.root_count()
    }

    fn load(&self, py: Python<'_>, id: &str, arguments: &str) -> PyResult<Instructions> {
        detached(py, || self.skills.load(id, arguments)).map(Instructions::new)
    }

    /// Makes a call: JSON in and out.
    fn call(&self, py: Python<'_>, call: &str) -> PyResult<String> {
        detached(py, || self.skills.call(call))
    }

    /// Makes a call that may start what a skill brings. `input` is what a script reads.
    fn run(&self, py: Python<'_>, call: &str, input: Vec<u8>, cancel: &Cancel) -> PyResult<String> {
        let run = || self.skills.run(call, input, &cancel.0);
        or_raise(py, interruptible(py, &cancel.0, run)?)
    }

    fn watch(&self, py: Python<'_>, interval: f64, function: Py<PyAny>) -> PyResult<Watcher> {
        detached(py, || {
            let watcher = self.skills.watch(interval, on_change(function))?;
            Ok::<_, Error>(Watcher::new(watcher))
        })
    }

    fn bind(&self, py: Python<'_>, uses: &str) -> PyResult<AgentSkills> {
        detached(py, || self.skills.bind(uses)).map(AgentSkills::new)
    }

    fn session(&self, py: Python<'_>, options: &str) -> PyResult<Session> {
        detached(py, || self.skills.session(options)).map(Session::new)
    }
}

/// Returns statistics of a log, by day or by a number of outcomes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python passes bytes")]
pub(crate) fn stats(
    py: Python<'_>,
    log: Vec<u8>,
    outcomes: Option<std::num::NonZeroU64>,
) -> PyResult<String> {
    detached(py, || skillfold_calls::stats(&log, outcomes))
}
