//! The engine's search with an embedding model, and that model alone.

use std::collections::HashMap;
use std::error::Error;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use skillfold::core::{self, Embedder, QuantizedVector};

use crate::search::engine::{Indexed, Whole};
use crate::search::method::{Hit, Made, Method, Options};
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
        let vectors = model.embed(&texts)?;
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
        let vector = self.model.embed(&[request])?.into_iter().next();
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

/// Opens the static model in the given folder.
pub(crate) fn table(options: &Options<'_>) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    opened(options, open_table)
}

/// Opens the transformer in the given folder.
pub(crate) fn transformer(options: &Options<'_>) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    opened(options, open_transformer)
}

fn opened(
    options: &Options<'_>,
    open: fn(&Path) -> Result<Arc<dyn Embedder>, core::Error>,
) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    let missing = "this method needs `--model FOLDER`; `bench/models.py` makes one";
    let model = open(options.model.ok_or(missing)?);
    let explained = |error: core::Error| format!("{}. {}", error.with_cause(), error.hint());
    Ok(Kept::open(model.map_err(explained)?, options))
}

#[cfg(feature = "static-model")]
fn open_table(folder: &Path) -> Result<Arc<dyn Embedder>, core::Error> {
    Ok(Arc::new(skillfold_index::StaticModel::open(folder)?))
}

#[cfg(not(feature = "static-model"))]
fn open_table(_: &Path) -> Result<Arc<dyn Embedder>, core::Error> {
    Err(without("static-model"))
}

#[cfg(feature = "transformer")]
fn open_transformer(folder: &Path) -> Result<Arc<dyn Embedder>, core::Error> {
    Ok(Arc::new(skillfold_index::Transformer::open(folder)?))
}

#[cfg(not(feature = "transformer"))]
fn open_transformer(_: &Path) -> Result<Arc<dyn Embedder>, core::Error> {
    Err(without("transformer"))
}

#[cfg(not(all(feature = "static-model", feature = "transformer")))]
fn without(feature: &str) -> core::Error {
    let why = format!("this bench is built without the feature `{feature}`");
    core::Error::invalid("--method", why)
}

/// A model that caches the vectors of skills in a file, so that the next run does not compute them again. Requests are
/// computed each time, as in production.
struct Kept {
    model: Arc<dyn Embedder>,
    file: PathBuf,
    known: Mutex<HashMap<u64, Vec<f32>>>,
}

impl Kept {
    fn open(model: Arc<dyn Embedder>, options: &Options<'_>) -> Arc<dyn Embedder> {
        let Some(folder) = options.vectors else {
            return model;
        };
        let file = folder.join(model.id());
        let known = Mutex::new(read(&file));
        Arc::new(Self { model, file, known })
    }

    fn write(&self, hash: u64, vector: &[f32]) -> Result<(), std::io::Error> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)?;
        let length = u64::try_from(vector.len()).unwrap_or_default();
        let mut bytes = [hash.to_le_bytes(), length.to_le_bytes()].concat();
        bytes.extend(vector.iter().flat_map(|part| part.to_le_bytes()));
        file.write_all(&bytes)
    }
}

impl Embedder for Kept {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, core::Error> {
        if texts.len() == 1 {
            return self.model.embed(texts);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let hash = hasher.finish();
            let vector = if let Some(vector) = known.get(&hash) {
                vector.clone()
            } else {
                let vector = self.model.embed(&[text])?.remove(0);
                let written = self.write(hash, &vector);
                let what = self.file.display().to_string();
                written.map_err(|error| core::Error::write(what, error))?;
                known.insert(hash, vector.clone());
                vector
            };
            vectors.push(vector);
        }
        Ok(vectors)
    }
}

/// Reads cached vectors up to the first error.
fn read(file: &Path) -> HashMap<u64, Vec<f32>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of the bench's own, which the caller names"
    )]
    let bytes = std::fs::read(file).unwrap_or_default();
    let mut known = HashMap::new();
    let mut rest = &bytes[..];
    while let Some((head, after)) = rest.split_at_checked(16) {
        let number = |at: usize| head[at..at + 8].try_into().map(u64::from_le_bytes);
        let (Ok(hash), Ok(length)) = (number(0), number(8)) else {
            break;
        };
        let length = usize::try_from(length)
            .unwrap_or(usize::MAX)
            .saturating_mul(4);
        let Some((parts, after)) = after.split_at_checked(length) else {
            break;
        };
        let parts = parts.chunks_exact(4);
        let parts = parts.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        known.insert(hash, parts.collect());
        rest = after;
    }
    known
}
