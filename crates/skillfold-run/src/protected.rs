//! Files and folders of the host that no run gets, whatever is granted.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use crate::interpreter::is_language;

/// What a host keeps from every run: credentials, and files by which a script could run outside its sandbox.
///
/// A grant that covers one of them is refused: the path itself, a path below it, and a path above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    home: Option<PathBuf>,
    secret: Vec<PathBuf>,
    unwritable: Vec<PathBuf>,
}

impl Protected {
    /// Sets the home of the user. Of a program in it that a script's first line names, a run sees the program alone, unless it is
    /// one of the languages that Skillfold knows.
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

    /// Returns what reading a path would give away.
    pub(crate) fn read_exposes(&self, path: &Path) -> Option<&Path> {
        covered(&self.secret, path)
    }

    /// Returns what writing to a path could change.
    pub(crate) fn write_exposes(&self, path: &Path) -> Option<&Path> {
        self.read_exposes(path)
            .or_else(|| covered(&self.unwritable, path))
    }

    /// Returns whether a run sees the libraries in the folder in which its interpreter is installed. Folders that programs share,
    /// such as the home and `~/.local`, have more in them than libraries.
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
