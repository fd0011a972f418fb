//! The on-disk caches of Skillfold. They can be deleted at any time and are rebuilt from the skills.
//!
//! [`BlobCache`] stores the scan results of a root, so that a start with many skills reads no unchanged `SKILL.md`.
//!
//! ```
//! use skillfold_core::{Catalog, CatalogOptions, FsSource, Root, Scope};
//! use skillfold_core::catalog::CachedScan;
//! use skillfold_index::BlobCache;
//!
//! # let folder = tempfile::tempdir()?;
//! # let (skills, caches) = (folder.path().join("skills"), folder.path().join("caches"));
//! # std::fs::create_dir(&skills)?;
//! let cache = BlobCache::new(&caches);
//! let options = CatalogOptions::default();
//! let variant = CachedScan::options_key(&options.read);
//! let root = Root::new(Scope::User, "mine", FsSource::open(&skills)?);
//! let name = root.cache_name().expect("the path is text").to_owned();
//!
//! let blob = cache.read(&name, &variant)?;
//! let scan = blob.as_ref().and_then(|blob| CachedScan::new(blob.bytes(), &options.read));
//! let found = Catalog::discover_cached(vec![root], options, std::time::SystemTime::now(), scan.as_slice());
//! if let Some(bytes) = found.catalog.to_scan_bytes(0) {
//!     cache.write(&name, &variant, &bytes)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`DiskIndex`] is a full-text index for more skills than should be held in memory.
//!
//! [`VectorCache`] stores the embeddings of skill texts.
//!
//! The feature `static-model` adds `StaticModel`, an embedding model that is loaded from a folder. Nothing is ever
//! downloaded.
#![forbid(unsafe_code)]

mod ownership;

mod blob_cache;

mod vector_cache;

mod disk;

#[cfg(feature = "static-model")]
mod model;

pub use blob_cache::{BlobCache, CachedBlob};
pub use disk::{
    Damage, DiskHit, DiskIndex, DiskResults, DocumentKey, SEARCH_FORMAT, SyncReport, SyncWriter,
    delete_unused_indexes,
};
#[cfg(feature = "static-model")]
pub use model::static_model::StaticModel;
pub use vector_cache::VectorCache;
