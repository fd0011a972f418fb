//! Builds the search index in a separate process: it takes too long for a hook.

use std::path::Path;

use skillfold::Skills;
use skillfold::core::Error;
use skillfold_store::{Access, WriteRoot};

/// The indexing process's lock file, in the cache folder.
const LOCK_NAME: &str = "index.lock";

/// Builds the index for the skills found by `discover`, in the user's cache folder. Only one process builds at a time;
/// the others find its index.
pub fn build_index<E: From<Error>>(
    cache: &Path,
    discover: impl FnOnce() -> Result<Skills, E>,
) -> Result<(), E> {
    let _lock = WriteRoot::open_or_create(cache, Access::Private)?.lock(LOCK_NAME)?;
    discover()?.search("", 1);
    Ok(())
}
