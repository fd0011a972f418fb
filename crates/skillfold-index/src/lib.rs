//! The caches of Skillfold on disk. All of it can be deleted at any time: what is missing is made again from the skills.
//!
//! [`MetadataCache`] keeps what was read of the skills of a root, so that a start among many skills reads no `SKILL.md` that
//! did not change.
//!
//! ```
//! use skillfold_core::{Catalog, FsSource, Remembered, Root, Rules, Scope};
//! use skillfold_index::MetadataCache;
//!
//! # let folder = tempfile::tempdir()?;
//! # let (skills, caches) = (folder.path().join("skills"), folder.path().join("caches"));
//! # std::fs::create_dir(&skills)?;
//! let cache = MetadataCache::new(&caches);
//! let rules = Rules::default();
//! let mark = Remembered::mark(&rules.reading);
//! let root = Root::new(Scope::User, "mine", FsSource::open(&skills)?);
//! let name = root.source().lasting_name().expect("the path is text").to_owned();
//!
//! let kept = cache.read(&name, &mark)?;
//! let remembered = kept.as_ref().and_then(|kept| Remembered::new(kept.bytes(), &rules.reading));
//! let found = Catalog::discover_from(vec![root], rules, i64::MAX, remembered.as_slice());
//! if let Some(bytes) = found.catalog.remember(0) {
//!     cache.write(&name, &mark, &bytes)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`DiskIndex`] finds skills by the words of a request among so many that they are better not held in memory.
//!
//! [`Vectors`] remembers what the texts of skills mean by some model.
//!
//! With the feature `static-model` there is `StaticModel`, and with `transformer` there is `Transformer`: models that tell
//! what texts mean, read from a folder. Nothing is ever fetched.
#![forbid(unsafe_code)]

mod checksum;
mod own;

mod metadata;

mod vectors;

mod disk;

#[cfg(any(feature = "static-model", feature = "transformer"))]
mod model;

pub use disk::{Answer, Damage, DiskIndex, Hit, Key, Synced, Writer, tidy_indexes};
pub use metadata::{Kept, MetadataCache};
#[cfg(feature = "static-model")]
pub use model::table::StaticModel;
#[cfg(feature = "transformer")]
pub use model::transformer::Transformer;
pub use vectors::Vectors;
