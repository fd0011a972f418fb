//! A Python callable that embeds texts.

use std::cell::{Cell, RefCell};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use skillfold::core::search::Embedder;
use skillfold::core::{Error, ErrorKind};

thread_local! {
    static IS_EMBEDDING: Cell<bool> = const { Cell::new(false) };
    /// What ended an embedding that is no failure of it, such as `KeyboardInterrupt`.
    static INTERRUPTION: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Refuses a call of an embedder that runs on this thread.
pub(crate) fn refused_while_embedding() -> Result<(), Error> {
    if IS_EMBEDDING.get() {
        let why = "an embedder cannot use the skills that it embeds for";
        return Err(Error::invalid("embedder", why));
    }
    Ok(())
}

/// Takes what interrupted an embedder on this thread.
pub(crate) fn take_interruption() -> Option<PyErr> {
    INTERRUPTION.take()
}

/// A callable that takes a list of texts and returns a vector for each, and perhaps one for requests.
pub(crate) struct PythonEmbedder {
    pub(crate) id: String,
    pub(crate) embed: Py<PyAny>,
    /// Takes a request and returns its vector.
    pub(crate) embed_query: Option<Py<PyAny>>,
}

impl PythonEmbedder {
    /// Calls Python, and returns the vectors of `count` texts.
    fn call(
        &self,
        count: usize,
        embed: impl FnOnce(Python<'_>) -> PyResult<Vec<Vec<f32>>>,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let embed = |py: Python<'_>| -> Result<Vec<Vec<f32>>, String> {
            embed(py).map_err(|error| {
                let why = error.to_string();
                if !error.is_instance_of::<PyException>(py) {
                    INTERRUPTION.set(Some(error));
                }
                why
            })
        };
        let was_embedding = IS_EMBEDDING.replace(true);
        // The index may still be built while Python ends.
        let vectors = Python::try_attach(embed);
        IS_EMBEDDING.set(was_embedding);
        let vectors = vectors.unwrap_or_else(|| Err("Python is ending".to_owned()));
        let vectors = vectors.and_then(|vectors| check(count, vectors));
        vectors.map_err(|why| failure(&self.id, &why))
    }
}

impl Embedder for PythonEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        self.call(texts.len(), |py| {
            let vectors = self.embed.call1(py, (texts.to_vec(),))?;
            vectors.extract(py)
        })
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, Error> {
        let vectors = match &self.embed_query {
            Some(embed) => self.call(1, |py| Ok(vec![embed.call1(py, (text,))?.extract(py)?])),
            None => self.embed_documents(&[text]),
        };
        Ok(vectors?.into_iter().next().unwrap_or_default())
    }
}

/// Returns the vectors, or what is wrong with them.
fn check(count: usize, vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
    if vectors.len() != count {
        return Err(format!("{} vectors for {count} texts", vectors.len()));
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.len() != length) || (count > 0 && length == 0) {
        return Err("The vectors have different lengths, or none".to_owned());
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return Err("A number is not finite".to_owned());
    }
    Ok(vectors)
}

fn failure(id: &str, why: &str) -> Error {
    let message = format!("Embedder `{id}` failed: {why}");
    let hint =
        "Correct the callable: it takes a list of texts and returns a list of numbers for each";
    Error::new(ErrorKind::Unreadable, message, hint)
}
