//! What a search may use beside the skills: a folder for what can be made again, and a model.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use skillfold_core::Embedder;
#[cfg(feature = "index")]
use skillfold_index::VectorCache;

/// What searching may use.
pub(crate) struct SearchResources {
    /// The folder for what can be made again.
    #[cfg(feature = "index")]
    pub(crate) cache: Option<PathBuf>,
    /// What the host brings to tell which texts mean the same.
    pub(crate) given: Option<Arc<dyn Embedder>>,
    /// The folder of a model that does.
    pub(crate) model: Option<PathBuf>,
    /// That model, or why there is none, from when it is needed for the first time.
    pub(crate) opened: OnceLock<Result<Arc<dyn Embedder>, String>>,
}

impl SearchResources {
    /// Returns whether what was made with others serves these too.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let id = |means: &Self| means.given.as_ref().map(|one| one.id().to_owned());
        #[cfg(feature = "index")]
        if self.cache != other.cache {
            return false;
        }
        self.model == other.model && id(self) == id(other)
    }

    pub(super) fn has_model(&self) -> bool {
        self.given.is_some() || self.model.is_some()
    }

    /// Returns what tells meanings, if something should, or why it cannot.
    pub(super) fn embedder(&self) -> Option<Result<Arc<dyn Embedder>, String>> {
        if let Some(given) = &self.given {
            return Some(Ok(Arc::clone(given)));
        }
        let folder = self.model.as_deref()?;
        let opened = self.opened.get_or_init(|| open(folder));
        Some(opened.clone())
    }
}

/// Opens a model.
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

/// What tells meanings, and remembers them on disk where it can.
#[cfg(feature = "index")]
pub(super) struct Remembering(
    pub(super) Arc<dyn Embedder>,
    pub(super) Option<Arc<VectorCache>>,
);

#[cfg(not(feature = "index"))]
pub(super) struct Remembering(pub(super) Arc<dyn Embedder>);

impl Remembering {
    #[cfg(feature = "index")]
    pub(super) fn keep(&self) -> Result<(), String> {
        let kept = self.1.as_ref().map_or(Ok(()), |vectors| vectors.save());
        kept.map_err(|error| error.with_cause())
    }

    #[cfg(not(feature = "index"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "with the feature `index` something is kept"
    )]
    pub(super) fn keep(&self) -> Result<(), String> {
        Ok(())
    }
}
