//! The engine's search with an embedding model, and that model alone.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use skillfold::core;
use skillfold::core::search::{Embedder, QuantizedVector};

use crate::search::engine::{Indexed, Whole};
use crate::search::method::{Hit, Made, Method};
use crate::search::pool::Pool;

/// Returns a method that searches by words and embeddings.
pub(crate) fn with_words(pool: &Pool, model: Arc<dyn Embedder>) -> Made {
    Ok(Box::new(Whole(Indexed::by_meaning(pool, model)?)))
}

/// Returns a method that searches by embeddings alone.
pub(crate) fn alone(pool: &Pool, model: Arc<dyn Embedder>) -> Made {
    let texts: Vec<String> = pool
        .skills
        .iter()
        .map(|skill| {
            let name = skill.name.replace(['-', '_'], " ");
            format!("{name}. {}", skill.description)
        })
        .collect();
    let mut directions = Vec::with_capacity(texts.len());
    for some in texts.chunks(256) {
        let texts: Vec<&str> = some.iter().map(|text| &**text).collect();
        let vectors = model.embed_documents(&texts)?;
        directions.extend(vectors.iter().map(|vector| QuantizedVector::new(vector)));
    }
    Ok(Box::new(Alone { model, directions }))
}

/// A model alone.
struct Alone {
    model: Arc<dyn Embedder>,
    directions: Vec<Option<QuantizedVector>>,
}

impl Method for Alone {
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>> {
        let vector = Some(self.model.embed_query(request)?);
        let Some(asked) = vector.and_then(|vector| QuantizedVector::new(&vector)) else {
            return Ok(Vec::new());
        };
        let directions = self.directions.iter().enumerate();
        let hits = directions.filter_map(|(place, direction)| {
            let score = f64::from(direction.as_ref()?.similarity(&asked));
            Some(Hit { place, score })
        });
        let mut hits: Vec<Hit> = hits.collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(count);
        Ok(hits)
    }
}

/// Opens the static model in a folder.
pub(crate) fn open_static(folder: Option<&Path>) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    let missing = "this method needs `--model FOLDER`; `bench/models.py` makes one";
    let model = open(folder.ok_or(missing)?);
    let explained = |error: core::Error| format!("{}. {}", error.with_cause(), error.hint());
    Ok(model.map_err(explained)?)
}

#[cfg(feature = "static-model")]
fn open(folder: &Path) -> Result<Arc<dyn Embedder>, core::Error> {
    Ok(Arc::new(skillfold_index::StaticModel::open(folder)?))
}

#[cfg(not(feature = "static-model"))]
fn open(_: &Path) -> Result<Arc<dyn Embedder>, core::Error> {
    let why = "this bench is built without the feature `static-model`";
    Err(core::Error::invalid("--method", why))
}
