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
    pub parts: Vec<CachePartView>,
}

/// A part of the cache folder.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CachePartView {
    /// The name of its folder.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The number of its files.
    pub files: usize,
    /// The bytes of its files.
    pub bytes: u64,
}

impl CacheView {
    /// Creates the view of a cache folder.
    pub fn new(folder: &Path, parts: &[CachePart]) -> Self {
        let view = |part: &CachePart| CachePartView {
            name: part.name.to_owned(),
            description: part.description.to_owned(),
            files: part.files,
            bytes: part.bytes,
        };
        Self {
            folder: folder.to_string_lossy().into_owned(),
            parts: parts.iter().map(view).collect(),
        }
    }
}
