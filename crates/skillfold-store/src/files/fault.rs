//! Why a write failed, before the path is added.

use std::io;
use std::path::Path;

use skillfold_core::{Error, ErrorKind, Refusal};

pub(crate) const CHANGED: &str = "The file changed in the meantime; try again";

pub(crate) type WriteResult<T> = Result<T, WriteFault>;

#[derive(Debug)]
pub(crate) enum WriteFault {
    /// A rule forbids it.
    Refused(&'static str),
    /// The file already exists.
    Exists,
    /// An I/O error.
    System(io::Error),
}

impl WriteFault {
    pub(crate) fn into_error(self, path: &Path) -> Error {
        let path = path.to_string_lossy();
        match self {
            Self::Refused(rule) => Error::refused(path, Refusal::Write, rule),
            Self::Exists => Error::new(
                ErrorKind::Exists,
                format!("File already exists: `{path}`"),
                "Choose another name; the existing file was not changed",
            ),
            Self::System(error) => Error::write(path, error),
        }
    }

    /// Whether a file stands where a folder would have to be.
    pub(crate) fn is_no_folder(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::NotADirectory)
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<io::Error> for WriteFault {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}
