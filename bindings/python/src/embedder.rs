//! A Python callable that embeds texts.

use pyo3::prelude::*;
use skillfold::core::search::Embedder;
use skillfold::core::{Error, ErrorKind};

/// A callable that takes a list of texts and returns a vector for each.
pub(crate) struct PythonEmbedder {
    pub(crate) id: String,
    pub(crate) embed: Py<PyAny>,
}

impl Embedder for PythonEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let embed = |py: Python<'_>| -> PyResult<Vec<Vec<f32>>> {
            let vectors = self.embed.call1(py, (texts.to_vec(),))?;
            vectors.extract(py)
        };
        // The index may still be built while Python ends.
        match Python::try_attach(embed) {
            Some(Ok(vectors)) => Ok(vectors),
            Some(Err(error)) => Err(failure(&self.id, &error.to_string())),
            None => Err(failure(&self.id, "Python is ending")),
        }
    }
}

fn failure(id: &str, why: &str) -> Error {
    let message = format!("Embedder `{id}` failed: {why}");
    let hint =
        "Correct the callable: it takes a list of texts and returns a list of numbers for each";
    Error::new(ErrorKind::Unreadable, message, hint)
}
