//! An open index file. It is read through its handle and never memory-mapped, so that truncation by another process is
//! an error and does not crash this one.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::SystemTime;

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

/// An open file.
#[derive(Debug)]
pub(super) struct Handle {
    file: File,
    length: usize,
    state: FileState,
    /// The number of the system's last error while reading, 0 if there was none.
    read_fault: AtomicI32,
    /// The number of the error that the next reads fail with.
    #[cfg(test)]
    pub(super) failing: AtomicI32,
}

/// Metadata of a file. Deleting the file does not change it, writing to it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Zero on systems without inode numbers.
    inode: u64,
}

impl Handle {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the file belongs to the cache and is not a skill"
        )]
        let file = File::open(path)?;
        let state = FileState::from_metadata(&file.metadata()?);
        let length = usize::try_from(state.bytes).map_err(io::Error::other)?;
        Ok(Self {
            file,
            length,
            state,
            read_fault: AtomicI32::new(0),
            #[cfg(test)]
            failing: AtomicI32::new(0),
        })
    }

    /// Returns the state of the file when it was opened.
    pub(super) fn state(&self) -> FileState {
        self.state
    }

    /// Returns the system's last error while reading, once: what was not read says nothing about what is in the file.
    pub(super) fn take_read_fault(&self) -> Option<io::Error> {
        let number = self.read_fault.swap(0, Ordering::AcqRel);
        (number != 0).then(|| io::Error::from_raw_os_error(number))
    }

    fn read_at(&self, bytes: &mut [u8], start: u64) -> io::Result<()> {
        #[cfg(test)]
        if let number @ 1.. = self.failing.load(Ordering::Acquire) {
            return Err(io::Error::from_raw_os_error(number));
        }
        read_at(&self.file, bytes, start)
    }

    /// Returns whether the file has not been written to since it was opened.
    pub(super) fn is_unchanged(&self) -> bool {
        let now = self.file.metadata();
        now.is_ok_and(|now| FileState::from_metadata(&now) == self.state)
    }
}

impl FileState {
    fn from_metadata(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            inode,
        }
    }
}

impl HasLen for Handle {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for Handle {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        // Check before allocating: a damaged file may claim any length.
        if range.start > range.end || range.end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; range.len()];
        let read = self.read_at(&mut bytes, range.start as u64);
        read.inspect_err(|error| {
            let number = error.raw_os_error().unwrap_or(0);
            self.read_fault.store(number, Ordering::Release);
        })?;
        Ok(OwnedBytes::new(bytes))
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut start: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;

    while !bytes.is_empty() {
        match file.seek_read(bytes, start)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                start += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use tantivy::directory::FileHandle as _;

    use super::Handle;

    #[test]
    fn truncating_an_open_file_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).open(&path).unwrap();
        file.write_all(&vec![7; 100_000]).unwrap();
        let handle = Handle::open(&path).unwrap();
        assert_eq!(handle.read_bytes(99_990..100_000).unwrap()[..], [7; 10]);
        assert!(handle.read_bytes(99_990..100_001).is_err());
        assert!(handle.read_bytes(5..5).unwrap().is_empty());
        assert!(handle.is_unchanged());
        file.set_len(50_000).unwrap();
        assert!(!handle.is_unchanged());
        assert!(handle.read_bytes(99_990..100_000).is_err());
        assert!(handle.read_bytes(0..100_000).is_err());
    }
}
