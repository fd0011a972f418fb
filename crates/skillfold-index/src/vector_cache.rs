//! The vectors of texts, in one file that is read at once.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillfold_core::{Digest, Embedder, Error, QuantizedVector};

use crate::blob_cache::BlobCache;

/// Vectors of a file at most.
const VECTORS: usize = 200_000;
/// Bytes of what a text is known by.
const KEY: usize = 16;
/// Bytes before the vectors: how long each is.
const HEAD: usize = 4;
/// One in so many vectors has to be of no text any more before all are written again without them.
const STALE: usize = 10;

/// A model that remembers on disk what the texts of skills mean: a text that did not change is not given to the model again.
///
/// It is a cache of one person, as [`BlobCache`] is. What texts say is not kept, only what they are known by. A file is of
/// one model and one set of skills.
pub struct VectorCache {
    model: Arc<dyn Embedder>,
    cache: BlobCache,
    name: Box<str>,
    known: Mutex<StoredVectors>,
}

type TextKey = [u8; KEY];

#[derive(Default)]
struct StoredVectors {
    /// The bytes of each direction, and whether it was asked for.
    vectors: HashMap<TextKey, (Box<[u8]>, bool)>,
    /// Those that are not on disk.
    added: usize,
}

impl VectorCache {
    /// Reads what is remembered of a set of skills. What cannot be used is an error, and is as if there were nothing.
    pub fn open(
        folder: impl Into<PathBuf>,
        name: &str,
        model: Arc<dyn Embedder>,
    ) -> (Self, Option<Error>) {
        let cache = BlobCache::new(folder);
        let (known, problem) = match cache.read(name, model.id()) {
            Ok(Some(kept)) => (read(kept.bytes()), None),
            Ok(None) => (StoredVectors::default(), None),
            Err(error) => (StoredVectors::default(), Some(error)),
        };
        let vectors = Self {
            model,
            cache,
            name: name.into(),
            known: Mutex::new(known),
        };
        (vectors, problem)
    }

    /// Writes what was asked for since it was opened, if some of it is new or much of what is there was not asked for.
    pub fn save(&self) -> Result<(), Error> {
        let mut known = self.known();
        let all = known.vectors.len();
        known.vectors.retain(|_, (_, is_asked)| *is_asked);
        let gone = all - known.vectors.len();
        if known.added == 0 && gone * STALE <= all {
            return Ok(());
        }
        known.added = 0;
        let bytes = written(&known);
        drop(known);
        self.cache.write(&self.name, self.model.id(), &bytes)
    }

    fn known(&self) -> MutexGuard<'_, StoredVectors> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is remembered of a text.
    fn recall(&self, key: &TextKey) -> Option<Vec<f32>> {
        let mut known = self.known();
        let (bytes, is_asked) = known.vectors.get_mut(key)?;
        *is_asked = true;
        let part = |byte: &u8| f32::from(i8::from_le_bytes([*byte]));
        Some(bytes.iter().map(part).collect())
    }

    fn remember(&self, key: TextKey, vector: &[f32]) {
        let Some(direction) = QuantizedVector::new(vector) else {
            return;
        };
        let mut known = self.known();
        if known.vectors.len() < VECTORS {
            let vector = (direction.to_bytes().into(), true);
            known.vectors.insert(key, vector);
            known.added += 1;
        }
    }
}

impl Embedder for VectorCache {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        // One text alone is a request, which nobody asks again.
        if texts.len() == 1 {
            return self.model.embed(texts);
        }
        let keys: Vec<TextKey> = texts.iter().map(|text| key(text)).collect();
        let mut vectors: Vec<Option<Vec<f32>>> = keys.iter().map(|key| self.recall(key)).collect();
        let unknown = (0..texts.len()).filter(|at| vectors[*at].is_none());
        let unknown: Vec<usize> = unknown.collect();
        let new: Vec<&str> = unknown.iter().map(|at| texts[*at]).collect();
        for (at, vector) in unknown.into_iter().zip(self.model.embed(&new)?) {
            self.remember(keys[at], &vector);
            vectors[at] = Some(vector);
        }
        Ok(vectors.into_iter().map(Option::unwrap_or_default).collect())
    }
}

impl fmt::Debug for VectorCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Vectors")
            .field("model", &self.model.id())
            .field("known", &self.known().vectors.len())
            .finish_non_exhaustive()
    }
}

fn key(text: &str) -> TextKey {
    let mut key = TextKey::default();
    key.copy_from_slice(&Digest::sha256(text.as_bytes()).as_bytes()[..KEY]);
    key
}

/// Reads vectors that were written down; those that are not whole are not there.
fn read(bytes: &[u8]) -> StoredVectors {
    let mut known = StoredVectors::default();
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return known;
    };
    let length = u32::from_le_bytes(*head) as usize;
    let all = rest.chunks_exact(KEY.saturating_add(length)).take(VECTORS);
    known.vectors.extend(all.filter_map(|one| {
        let (key, vector) = one.split_first_chunk::<KEY>()?;
        Some((*key, (vector.into(), false)))
    }));
    known
}

/// Writes vectors down, ordered by what texts are known by; all are as long as the first.
fn written(known: &StoredVectors) -> Vec<u8> {
    let mut all: Vec<(&TextKey, &[u8])> = known
        .vectors
        .iter()
        .map(|(key, (vector, _))| (key, &**vector))
        .collect();
    all.sort_unstable();
    let length = all.first().map_or(0, |(_, vector)| vector.len());
    let mut bytes = Vec::with_capacity(HEAD + all.len() * (KEY + length));
    bytes.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
    for (key, vector) in all {
        if vector.len() == length {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(vector);
        }
    }
    bytes
}
