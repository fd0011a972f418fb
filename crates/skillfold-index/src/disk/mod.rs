//! The on-disk search index, for more skills than should be read again at each start or held in memory.
//!
//! Tantivy finds the candidates by a single field, in which each term is repeated by its weighted frequency. The core
//! then ranks them as it ranks those of an in-memory index, by the field counts in the stored documents.

mod key;

mod token;

mod handle;

mod files;

mod schema;

mod stamp;

mod open_index;

mod merge;

mod write;

mod search;

mod index;

mod cleanup;

pub use cleanup::delete_unused_indexes;
pub use index::{DiskIndex, SyncReport, SyncWriter};
pub use key::DocumentKey;
pub use open_index::Damage;
pub use search::{DiskHit, DiskResults};
pub use stamp::SEARCH_FORMAT;
