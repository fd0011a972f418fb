//! A persistent cache of text embeddings.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillfold_core::Error;
use skillfold_core::load::Digest;
use skillfold_core::search::{Embedder, QuantizedVector};

use crate::blob_cache::BlobCache;

/// Maximum vectors per file.
const MAX_VECTORS: usize = 200_000;
/// Bytes of a text's key.
const KEY_BYTES: usize = 16;
/// Header size in bytes: the length of each vector.
const HEADER_BYTES: usize = 4;
/// The file is rewritten without stale vectors once more than one in this many is stale.
const STALE_DIVISOR: usize = 10;

/// An embedder that caches the embeddings of skill texts on disk, so that unchanged texts are not embedded again.
///
/// Like [`BlobCache`], it belongs to one user. It stores hashes of the texts, not the texts. There is one file per
/// model and set of skills.
pub struct VectorCache {
    model: Arc<dyn Embedder>,
    cache: BlobCache,
    name: Box<str>,
    vectors: Mutex<StoredVectors>,
}

/// The first half of the SHA-256 of a text.
type TextKey = [u8; KEY_BYTES];

#[derive(Default)]
struct StoredVectors {
    /// The quantized vectors, and whether each was used since the cache was opened.
    vectors: HashMap<TextKey, (Box<[u8]>, bool)>,
    /// Number of vectors that are not on disk yet.
    unsaved: usize,
}

impl VectorCache {
    /// Opens the cache of a set of skills. If its file cannot be used, the cache is empty and the error is returned
    /// with it.
    pub fn open(
        folder: impl Into<PathBuf>,
        name: &str,
        model: Arc<dyn Embedder>,
    ) -> (Self, Option<Error>) {
        let cache = BlobCache::new(folder);
        let (vectors, problem) = match cache.read(name, model.id()) {
            Ok(Some(blob)) => (decode(blob.bytes()), None),
            Ok(None) => (StoredVectors::default(), None),
            Err(error) => (StoredVectors::default(), Some(error)),
        };
        let vector_cache = Self {
            model,
            cache,
            name: name.into(),
            vectors: Mutex::new(vectors),
        };
        (vector_cache, problem)
    }

    /// Writes the vectors used since the cache was opened, if some are new or many stored ones were not used.
    pub fn save(&self) -> Result<(), Error> {
        let mut stored = self.lock();
        let total = stored.vectors.len();
        stored.vectors.retain(|_, (_, is_used)| *is_used);
        let stale = total - stored.vectors.len();
        if stored.unsaved == 0 && stale * STALE_DIVISOR <= total {
            return Ok(());
        }
        stored.unsaved = 0;
        let bytes = encode(&stored);
        drop(stored);
        self.cache.write(&self.name, self.model.id(), &bytes)
    }

    fn lock(&self) -> MutexGuard<'_, StoredVectors> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cached vector of a text and marks it as used.
    fn get(&self, key: &TextKey) -> Option<Vec<f32>> {
        let mut stored = self.lock();
        let (bytes, is_used) = stored.vectors.get_mut(key)?;
        *is_used = true;
        let component = |byte: &u8| f32::from(i8::from_le_bytes([*byte]));
        Some(bytes.iter().map(component).collect())
    }

    fn insert(&self, key: TextKey, vector: &[f32]) {
        let Some(quantized) = QuantizedVector::new(vector) else {
            return;
        };
        let mut stored = self.lock();
        if stored.vectors.len() < MAX_VECTORS {
            let vector = (quantized.to_bytes().into(), true);
            stored.vectors.insert(key, vector);
            stored.unsaved += 1;
        }
    }
}

impl Embedder for VectorCache {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let keys: Vec<TextKey> = texts.iter().map(|text| text_key(text)).collect();
        let mut vectors: Vec<Option<Vec<f32>>> = keys.iter().map(|key| self.get(key)).collect();
        let missing = (0..texts.len()).filter(|index| vectors[*index].is_none());
        let missing: Vec<usize> = missing.collect();
        let missing_texts: Vec<&str> = missing.iter().map(|index| texts[*index]).collect();
        for (index, vector) in missing
            .into_iter()
            .zip(self.model.embed_documents(&missing_texts)?)
        {
            self.insert(keys[index], &vector);
            vectors[index] = Some(vector);
        }
        Ok(vectors.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Embeds a request, and does not store it: it is unlikely to be repeated.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, Error> {
        self.model.embed_query(text)
    }
}

impl fmt::Debug for VectorCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("VectorCache")
            .field("model", &self.model.id())
            .field("known", &self.lock().vectors.len())
            .finish_non_exhaustive()
    }
}

fn text_key(text: &str) -> TextKey {
    let mut key = TextKey::default();
    key.copy_from_slice(&Digest::sha256(text.as_bytes()).as_bytes()[..KEY_BYTES]);
    key
}

/// Decodes vectors, ignoring an incomplete one at the end.
fn decode(bytes: &[u8]) -> StoredVectors {
    let mut stored = StoredVectors::default();
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return stored;
    };
    let length = u32::from_le_bytes(*header) as usize;
    let entries = rest
        .chunks_exact(KEY_BYTES.saturating_add(length))
        .take(MAX_VECTORS);
    stored.vectors.extend(entries.filter_map(|entry| {
        let (key, vector) = entry.split_first_chunk::<KEY_BYTES>()?;
        Some((*key, (vector.into(), false)))
    }));
    stored
}

/// Encodes vectors, sorted by key. Those with another length than the first are left out.
fn encode(stored: &StoredVectors) -> Vec<u8> {
    let mut entries: Vec<(&TextKey, &[u8])> = stored
        .vectors
        .iter()
        .map(|(key, (vector, _))| (key, &**vector))
        .collect();
    entries.sort_unstable();
    let length = entries.first().map_or(0, |(_, vector)| vector.len());
    let mut bytes = Vec::with_capacity(HEADER_BYTES + entries.len() * (KEY_BYTES + length));
    bytes.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
    for (key, vector) in entries {
        if vector.len() == length {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(vector);
        }
    }
    bytes
}
