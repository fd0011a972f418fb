//! Host files and folders that no run gets, whatever is granted.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use crate::interpreter::is_language;

/// What a host withholds from every run: credentials, and files that would let a script run outside its sandbox.
///
/// A grant is refused if it covers one of them: the path itself, a path below it, or a path above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    home: Option<PathBuf>,
    secret: Vec<PathBuf>,
    unwritable: Vec<PathBuf>,
}

impl Protected {
    /// Sets the user's home. If a script's shebang names a program in it, a run sees only the program, unless it is one
    /// of the languages Skillfold knows.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Adds paths that no run may read or write.
    #[must_use]
    pub fn with_secret(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.secret.extend(paths);
        self
    }

    /// Adds paths that no run may write.
    #[must_use]
    pub fn with_unwritable(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.unwritable.extend(paths);
        self
    }

    /// Returns what reading a path would expose.
    pub(crate) fn read_exposes(&self, path: &Path) -> Option<&Path> {
        covered(&self.secret, path)
    }

    /// Returns what writing to a path could change.
    pub(crate) fn write_exposes(&self, path: &Path) -> Option<&Path> {
        self.read_exposes(path)
            .or_else(|| covered(&self.unwritable, path))
    }

    /// Returns whether a run sees the libraries in its interpreter's install folder. Shared folders, such as the home
    /// and `~/.local`, contain more than libraries.
    #[cfg(target_os = "linux")]
    pub(crate) fn shows_libraries(&self, prefix: &Path, program: &Path) -> bool {
        let is_in_home = (self.home.as_ref()).is_some_and(|home| prefix.starts_with(home));
        let mut all = self.secret.iter().chain(&self.unwritable);
        (is_language(program) || !is_in_home) && !all.any(|path| path.starts_with(prefix))
    }
}

fn covered<'a>(protected: &'a [PathBuf], path: &Path) -> Option<&'a Path> {
    let mut protected = protected.iter().map(PathBuf::as_path);
    protected.find(|protected| path.starts_with(protected) || protected.starts_with(path))
}
