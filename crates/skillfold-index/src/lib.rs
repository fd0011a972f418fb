//! The caches of Skillfold on disk. All of it can be deleted at any time: what is missing is made again from the skills.
//!
//! [`BlobCache`] keeps what was read of the skills of a root, so that a start among many skills reads no `SKILL.md` that
//! did not change.
//!
//! ```
//! use skillfold_core::{Catalog, FsSource, CachedScan, Root, CatalogOptions, Scope};
//! use skillfold_index::BlobCache;
//!
//! # let folder = tempfile::tempdir()?;
//! # let (skills, caches) = (folder.path().join("skills"), folder.path().join("caches"));
//! # std::fs::create_dir(&skills)?;
//! let cache = BlobCache::new(&caches);
//! let rules = CatalogOptions::default();
//! let mark = CachedScan::options_key(&rules.read);
//! let root = Root::new(Scope::User, "mine", FsSource::open(&skills)?);
//! let name = root.source().lasting_name().expect("the path is text").to_owned();
//!
//! let kept = cache.read(&name, &mark)?;
//! let remembered = kept.as_ref().and_then(|kept| CachedScan::new(kept.bytes(), &rules.read));
//! let found = Catalog::discover_cached(vec![root], rules, i64::MAX, remembered.as_slice());
//! if let Some(bytes) = found.catalog.to_scan_bytes(0) {
//!     cache.write(&name, &mark, &bytes)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`DiskIndex`] finds skills by the words of a request among so many that they are better not held in memory.
//!
//! [`VectorCache`] remembers what the texts of skills mean by some model.
//!
//! With the feature `static-model` there is `StaticModel`, and with `transformer` there is `Transformer`: models that tell
//! what texts mean, read from a folder. Nothing is ever fetched.
#![forbid(unsafe_code)]

mod checksum;
mod ownership;

mod blob_cache;

mod vector_cache;

mod disk;

#[cfg(any(feature = "static-model", feature = "transformer"))]
mod model;

pub use blob_cache::{BlobCache, CachedBlob};
pub use disk::{Answer, Damage, DiskIndex, Hit, Key, Synced, Writer, tidy_indexes};
#[cfg(feature = "static-model")]
pub use model::table::StaticModel;
#[cfg(feature = "transformer")]
pub use model::transformer::Transformer;
pub use vector_cache::VectorCache;
