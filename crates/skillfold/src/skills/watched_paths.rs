//! The paths to watch for changes, as configured and with links resolved.

use std::path::{Path, PathBuf};

use crate::environment::real_path;

/// The paths that settings and skills come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchedPaths {
    /// Folders that are searched for skills.
    pub(crate) roots: Vec<PathBuf>,
    /// Roots that are missing or duplicates, and settings files. None of them need exist.
    pub(crate) others: Vec<PathBuf>,
}

impl WatchedPaths {
    /// Returns whether a root is inside another, so that a folder may be in two roots.
    pub(crate) fn has_overlap(&self) -> bool {
        let roots: Vec<PathBuf> = self
            .roots
            .iter()
            .filter_map(|root| real_path(root))
            .collect();
        let is_inside = |(number, root): (usize, &PathBuf)| {
            let mut others = roots.iter().enumerate();
            others.any(|(other, outer)| other != number && root.starts_with(outer))
        };
        roots.iter().enumerate().any(is_inside)
    }

    /// Returns all paths, as configured and with links resolved.
    pub(crate) fn all_paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        with_real_paths(self.roots.iter().chain(&self.others))
    }

    /// Converts a path below the real path of a root to one below the root as configured.
    pub(crate) fn as_configured(&self, path: PathBuf) -> PathBuf {
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return path;
        }
        let mut configured = self.roots.iter().filter_map(|root| {
            let inside = path.strip_prefix(real_target(root)?).ok()?;
            Some(root.join(inside))
        });
        configured.next().unwrap_or(path)
    }
}

/// Returns each path as configured, and with links resolved if that differs.
pub(crate) fn with_real_paths<'p>(
    paths: impl Iterator<Item = &'p PathBuf>,
) -> impl Iterator<Item = PathBuf> {
    paths.flat_map(|path| {
        [Some(path.clone()), real_target(path)]
            .into_iter()
            .flatten()
    })
}

/// Returns a path with links resolved, if that differs. Missing components at the end are kept.
fn real_target(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|above| above.exists())?;
    let rest = path.strip_prefix(existing).ok()?;
    let real = real_path(existing)?.join(rest);
    (real != path).then_some(real)
}
