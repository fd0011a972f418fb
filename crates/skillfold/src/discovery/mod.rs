//! Where skills are looked for, and what was found: the host, its roots and the report.

#[cfg(feature = "index")]
pub(crate) mod root_cache;
pub(crate) mod roots;

pub(crate) mod pin_check;

pub(crate) mod cache_folder;

pub(crate) mod report;

pub(crate) mod host;

pub use cache_folder::{CachePart, cache_parts, clean_cache};
pub use host::Host;
pub use report::DiscoveryReport;
#[cfg(feature = "index")]
pub use root_cache::RootCache;
pub use roots::{CLIENT_FOLDERS, FOLDERS, RootStatus, SearchedRoot};
