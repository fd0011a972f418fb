//! Builds the search index in a process of its own: a hook may not take that long.

use std::path::Path;

use skillfold::Skills;
use skillfold::core::Error;
use skillfold_store::{Access, WriteRoot};

/// The lock of the process that builds the index, in the cache folder.
const LOCK_NAME: &str = "index.lock";

/// Builds the index of the skills that `discover` finds, in the user's cache folder. Of several processes one builds at a
/// time, and the others find its index.
pub fn build_index<E: From<Error>>(
    cache: &Path,
    discover: impl FnOnce() -> Result<Skills, E>,
) -> Result<(), E> {
    let _lock = WriteRoot::open_or_create(cache, Access::Private)?.lock(LOCK_NAME)?;
    discover()?.search("", 1);
    Ok(())
}
