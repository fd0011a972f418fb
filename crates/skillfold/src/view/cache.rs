//! The view of the cache folder.

use std::path::Path;

use crate::discovery::cache_folder::CachePart;

/// What is in the cache folder, or what was deleted from it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheView {
    /// The path of the folder.
    pub folder: String,
    /// Its parts.
    pub parts: Vec<CachePart>,
}

impl CacheView {
    /// Creates the view of a cache folder.
    pub fn new(folder: &Path, parts: Vec<CachePart>) -> Self {
        Self {
            folder: folder.to_string_lossy().into_owned(),
            parts,
        }
    }
}
