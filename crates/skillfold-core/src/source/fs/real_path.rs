//! Resolves the links in a path, to compare it with paths that the user chose.

use std::path::{Path, PathBuf};

/// Returns a path with links resolved, or as it is if that fails.
#[expect(
    clippy::disallowed_methods,
    reason = "the path is compared with those that the user chose; nothing is opened by it"
)]
pub(super) fn resolve_links(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
