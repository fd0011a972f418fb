//! Loaded instructions.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// The instructions of a skill. Nothing is copied until it is asked for: a cached load takes about a microsecond.
#[pyclass(frozen, module = "skillfold")]
pub(crate) struct Instructions {
    loaded: Arc<skillfold::core::Instructions>,
    text: PyOnceLock<Py<PyString>>,
}

impl Instructions {
    pub(crate) fn new(loaded: Arc<skillfold::core::Instructions>) -> Self {
        Self {
            loaded,
            text: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Instructions {
    /// The skill's id, unique in the catalog.
    #[getter]
    fn id(&self) -> &str {
        self.loaded.id()
    }

    /// The skill's name.
    #[getter]
    fn name(&self) -> &str {
        self.loaded.manifest().name().as_str()
    }

    /// The skill's description.
    #[getter]
    fn description(&self) -> &str {
        self.loaded.manifest().description()
    }

    /// The instructions with the arguments filled in, after a line that names the skill's folder.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let text = || PyString::new(py, self.loaded.text()).unbind();
        self.text.get_or_init(py, text).bind(py).clone()
    }

    /// The instructions with the arguments filled in.
    #[getter]
    fn body(&self) -> &str {
        self.loaded.body()
    }

    /// The instructions as the file has them.
    #[getter]
    fn raw(&self) -> &str {
        self.loaded.raw()
    }

    /// Tokens of the instructions, estimated.
    #[getter]
    fn tokens(&self) -> u64 {
        self.loaded.tokens()
    }

    /// The path of the skill's folder, or `None` if it is not in the file system.
    #[getter]
    fn base_dir(&self) -> Option<&str> {
        self.loaded.base_dir()
    }

    /// Ids of the skills to load first.
    #[getter]
    fn requires(&self) -> Vec<String> {
        let requires = self.loaded.requires().iter();
        requires.map(ToString::to_string).collect()
    }

    /// What there is to say about this load, such as that the file changed since discovery.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let notes = self.loaded.notes().iter();
        notes.map(ToString::to_string).collect()
    }

    fn __str__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.text(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Instructions {}, {} tokens>",
            self.loaded.id(),
            self.loaded.tokens()
        )
    }
}
