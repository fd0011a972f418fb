//! What searches use besides the skills: the cache folder and an embedding model.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use skillfold_core::search::Embedder;
#[cfg(feature = "index")]
use skillfold_index::VectorCache;

/// The cache folder and the embedder for searches.
pub(crate) struct SearchResources {
    #[cfg(feature = "index")]
    pub(crate) cache_folder: Option<PathBuf>,
    /// The host's own embedder, which takes precedence over the model.
    pub(crate) host_embedder: Option<Arc<dyn Embedder>>,
    /// The folder of the embedding model.
    pub(crate) model_folder: Option<PathBuf>,
    /// The model, or why it cannot be used. Opened on first use.
    pub(crate) opened_model: OnceLock<Result<Arc<dyn Embedder>, String>>,
    /// Minimum skills for an index on disk.
    #[cfg(feature = "index")]
    pub(crate) min_disk_skills: usize,
}

impl SearchResources {
    /// Returns whether an index built with `other` can be reused.
    pub(super) fn is_compatible(&self, other: &Self) -> bool {
        let id = |resources: &Self| {
            let embedder = resources.host_embedder.as_ref();
            embedder.map(|embedder| embedder.id().to_owned())
        };
        #[cfg(feature = "index")]
        if self.cache_folder != other.cache_folder {
            return false;
        }
        self.model_folder == other.model_folder && id(self) == id(other)
    }

    pub(super) fn has_model(&self) -> bool {
        self.host_embedder.is_some() || self.model_folder.is_some()
    }

    /// Returns the embedder, or why it cannot be used. `None` if none is configured.
    pub(super) fn embedder(&self) -> Option<Result<Arc<dyn Embedder>, String>> {
        if let Some(embedder) = &self.host_embedder {
            return Some(Ok(Arc::clone(embedder)));
        }
        let folder = self.model_folder.as_deref()?;
        let opened = self.opened_model.get_or_init(|| open(folder));
        Some(opened.clone())
    }
}

/// Opens the model in a folder.
#[cfg(feature = "model")]
fn open(folder: &Path) -> Result<Arc<dyn Embedder>, String> {
    match skillfold_index::StaticModel::open(folder) {
        Ok(model) => Ok(Arc::new(model)),
        Err(error) => Err(error.with_cause()),
    }
}

#[cfg(not(feature = "model"))]
fn open(folder: &Path) -> Result<Arc<dyn Embedder>, String> {
    Err(format!(
        "The model in {} is not used: this program was built without the feature `model`",
        folder.display()
    ))
}

/// An embedder, and its vector cache on disk if there is one.
#[cfg(feature = "index")]
pub(super) struct CachedEmbedder(
    pub(super) Arc<dyn Embedder>,
    pub(super) Option<Arc<VectorCache>>,
);

#[cfg(not(feature = "index"))]
pub(super) struct CachedEmbedder(pub(super) Arc<dyn Embedder>);

impl CachedEmbedder {
    #[cfg(feature = "index")]
    pub(super) fn save(&self) -> Result<(), String> {
        let saved = self.1.as_ref().map_or(Ok(()), |vectors| vectors.save());
        saved.map_err(|error| error.with_cause())
    }

    #[cfg(not(feature = "index"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "saves vectors with the feature `index`"
    )]
    pub(super) fn save(&self) -> Result<(), String> {
        Ok(())
    }
}
