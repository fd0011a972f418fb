//! What was put right in a writable folder after a run.

use std::fmt;
use std::path::{Path, PathBuf};

use skillfold_core::diagnostic::visible;

/// What was put right in a writable folder after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Correction {
    /// The run created something that no run may, and it was renamed.
    MovedAside {
        /// Where it was created.
        path: PathBuf,
        /// Where it is now.
        to: PathBuf,
    },
    /// The run removed a link that no run may change, and it was created again.
    PutBack(PathBuf),
    /// The run changed something that no run may, and it could not be put right.
    Failed(PathBuf),
    /// The folder could not be searched for what the run created.
    Unsearched(PathBuf),
}

impl fmt::Display for Correction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| visible(&path.to_string_lossy()).into_owned();
        match self {
            Self::MovedAside { path, to } => write!(
                formatter,
                "The script created `{}`, which no skill may; it is now `{}`",
                shown(path),
                shown(to)
            ),
            Self::PutBack(path) => write!(
                formatter,
                "The script removed the link `{}`, which no skill may; it is back",
                shown(path)
            ),
            Self::Failed(path) => write!(
                formatter,
                "The script changed `{}`, which no skill may, and it could not be put right",
                shown(path)
            ),
            Self::Unsearched(path) => write!(
                formatter,
                "The script may have created what no skill may in `{}`, which could not be searched",
                shown(path)
            ),
        }
    }
}

impl Correction {
    /// Returns whether something is not right.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Unsearched(_))
    }
}
