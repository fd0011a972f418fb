//! The search index on disk: the words of many skills in files, so that they are neither read again nor held in memory.
//!
//! An engine finds the candidates by one field in which a term stands as often as it counts; the function of the core then
//! ranks them as it ranks those of an index in memory, by the counts of each field, which are kept beside.

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
