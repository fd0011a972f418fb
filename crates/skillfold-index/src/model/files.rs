//! Reads the files of a model with size limits, and derives the model's id from their contents.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sha2::{Digest, Sha256};
use skillfold_core::{Error, ErrorKind};

pub(super) const CONFIG: &str = "config.json";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const WEIGHTS: &str = "model.safetensors";

const MEBIBYTE: u64 = 1024 * 1024;
/// Maximum size of `config.json`.
const CONFIG_BYTES: u64 = MEBIBYTE;
/// Maximum size of a tokenizer; large vocabularies take about 20 MiB.
const TOKENIZER_BYTES: u64 = 64 * MEBIBYTE;
/// Maximum size of the weights.
const WEIGHTS_BYTES: u64 = 1024 * MEBIBYTE;

/// The files of a model.
pub(super) struct ModelFiles {
    pub(super) config: Vec<u8>,
    pub(super) tokenizer: Vec<u8>,
    pub(super) weights: Vec<u8>,
    folder: Folder,
    /// Digest of all files read so far.
    digest: Sha256,
}

/// The folder of a model, for error messages.
#[derive(Clone, Debug)]
pub(super) struct Folder(Box<str>);

impl ModelFiles {
    /// Reads the files that every model must have.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let mut files = Self {
            config: Vec::new(),
            tokenizer: Vec::new(),
            weights: Vec::new(),
            folder: Folder(folder.display().to_string().into()),
            digest: Sha256::new(),
        };
        files.config = files.required(folder, CONFIG, CONFIG_BYTES)?;
        files.tokenizer = files.required(folder, TOKENIZER, TOKENIZER_BYTES)?;
        files.weights = files.required(folder, WEIGHTS, WEIGHTS_BYTES)?;
        Ok(files)
    }

    fn required(&mut self, folder: &Path, file: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let bytes = read_limited(&folder.join(file), limit);
        let bytes = bytes.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.folder.error(file, "there is no such file"),
            _ => self.folder.error(file, &error.to_string()),
        })?;
        self.update_digest(file, &bytes);
        Ok(bytes)
    }

    fn update_digest(&mut self, file: &str, bytes: &[u8]) {
        self.digest.update(file);
        self.digest.update([0]);
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(bytes);
    }

    /// Returns the id of the model: the algorithm and a digest of the files.
    pub(super) fn id(&self, algorithm: &str) -> Box<str> {
        let mut id = format!("{algorithm}-");
        for byte in &self.digest.clone().finalize()[..16] {
            let _ = write!(id, "{byte:02x}");
        }
        id.into()
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Folder {
    /// Returns the error for a model that cannot be used.
    pub(super) fn error(&self, file: &str, why: &str) -> Error {
        // Some parsers append a location in their own code.
        let why = why.lines().next().unwrap_or_default();
        let message = format!("Could not use the model file `{}/{file}`: {why}", self.0);
        let hint = "Name a folder with `config.json`, `tokenizer.json` and `model.safetensors` of one model";
        Error::new(ErrorKind::Invalid, message, hint)
    }
}

/// Runs a parser on untrusted content, turning a panic into an error.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let panicked = |_| Err("its content cannot be parsed".to_owned());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// Returns whether a vector is not empty and has only finite components.
pub(super) fn is_valid_vector(vector: &[f32]) -> bool {
    !vector.is_empty() && vector.iter().all(|component| component.is_finite())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user names the folder, and it has no skills"
)]
fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Check before opening: opening a pipe would block until there is a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let limit = limit / MEBIBYTE;
        return Err(io::Error::other(format!("it has more than {limit} MiB")));
    }
    Ok(bytes)
}
