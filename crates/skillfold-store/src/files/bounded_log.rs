//! A log of lines that cannot grow without bound.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

use skillfold_core::Error;

use crate::files::write_root::{Access, WriteRoot};

/// Bytes from which a file becomes the old one. With the old one, a log has twice as many.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// A log, open for appending: `NAME.jsonl` in a folder, and `NAME.old.jsonl` with what was before it.
///
/// At 5 MiB the file replaces the one before it. Both are readable only by the user.
#[derive(Debug)]
pub struct BoundedLog {
    file: File,
}

impl BoundedLog {
    /// Opens the log with this name in a folder, and creates both if they are missing.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    pub fn open(folder: &Path, name: &str) -> Result<Self, Error> {
        let path = Self::path(folder, name);
        let root = WriteRoot::open_or_create(folder, Access::Private)?;
        let size = || path.symlink_metadata().map_or(0, |file| file.len());
        if size() >= MAX_BYTES {
            let _lock = root.lock(&format!("{name}.lock"))?;
            // Another process may have moved it meanwhile.
            if size() >= MAX_BYTES {
                std::fs::rename(&path, old_path(folder, name))
                    .map_err(|error| Error::write(path.to_string_lossy(), error))?;
            }
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path);
        let file = file.map_err(|error| Error::write(path.to_string_lossy(), error))?;
        Ok(Self { file })
    }

    /// Returns the path of a log.
    pub fn path(folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.jsonl"))
    }

    /// Reads a log, oldest lines first; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    pub fn read(folder: &Path, name: &str) -> Result<Option<impl BufRead + use<>>, Error> {
        let open = |path: PathBuf| match OpenOptions::new().read(true).open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::read(path.to_string_lossy(), error)),
        };
        // In this order, a file that is moved meanwhile is read at most twice, but not lost.
        let (new, old) = (
            open(Self::path(folder, name))?,
            open(old_path(folder, name))?,
        );
        if new.is_none() && old.is_none() {
            return Ok(None);
        }
        let reader = |file: Option<File>| -> Box<dyn io::Read> {
            match file {
                Some(file) => Box::new(file),
                None => Box::new(io::empty()),
            }
        };
        Ok(Some(BufReader::with_capacity(
            1 << 16,
            reader(old).chain(reader(new)),
        )))
    }
}

impl Write for BoundedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn old_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.old.jsonl"))
}
