//! Why a write is not made, before it is told with its path.

use std::io;
use std::path::Path;

use skillfold_core::Error;

pub(crate) const CHANGED: &str = "The file changed in the meantime; try again";

pub(crate) type WriteResult<T> = Result<T, WriteFault>;

#[derive(Debug)]
pub(crate) enum WriteFault {
    /// A rule forbids it.
    Refused(&'static str),
    /// There is a file already.
    Exists,
    /// The system could not do it.
    System(io::Error),
}

impl WriteFault {
    pub(crate) fn at(self, path: &Path) -> Error {
        let path = path.to_string_lossy();
        match self {
            Self::Refused(rule) => Error::refused_write(path, rule),
            Self::Exists => Error::exists(path),
            Self::System(error) => Error::write(path, error),
        }
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
