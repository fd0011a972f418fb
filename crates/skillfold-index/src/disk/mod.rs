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

mod opened;

mod merge;

mod write;

mod search;

mod index;

mod tidy;

pub use index::{DiskIndex, Synced, Writer};
pub use key::Key;
pub use opened::Damage;
pub use search::{Answer, Hit};
pub use tidy::tidy_indexes;
