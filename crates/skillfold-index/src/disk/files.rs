//! The index files: read through file handles, written without syncing, and never outside the index folder.
//!
//! A cache need not survive a power loss: an incomplete file is detected by its checksum, and the index is rebuilt. So
//! nothing is synced, which keeps a small change cheap. The engine's lists of its own files are untrusted like all
//! other content: a file they name is touched only if it is a plain name in the folder.

#![expect(
    clippy::disallowed_methods,
    reason = "the folder belongs to the cache and has no skills"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use skillfold_core::Error;
use tantivy::HasLen as _;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::footer::Footer;
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, FileSlice, Lock, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};
use tempfile::Builder;

use crate::disk::handle::Handle;

/// The engine's list of segments, which a commit replaces.
pub(super) const META_FILE: &str = "meta.json";
/// The checksums of the files by name. A file contains its own checksum, but not its name.
const CHECKSUMS_FILE: &str = "sums";
/// Locked by the process that writes.
pub(super) const WRITER_LOCK: &str = "writer.lock";
/// Maximum size of a file that is read whole; enough for thousands of segments.
const MAX_META_BYTES: u64 = 16 * 1024 * 1024;
/// Minimum size of the footer in each engine file.
const MIN_FOOTER_BYTES: u64 = 8;
/// Name prefix of incomplete files.
const TEMP_PREFIX: &str = ".unfinished-";
/// Number of attempts to take a lock that others hold only briefly.
const LOCK_ATTEMPTS: u32 = 500;
/// Delay between these attempts.
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(10);

/// The folder of an index.
#[derive(Clone, Debug)]
pub(super) struct IndexFiles {
    folder: Arc<Path>,
    /// Open files by name.
    handles: Arc<Mutex<BTreeMap<PathBuf, Arc<Handle>>>>,
}

impl IndexFiles {
    pub(super) fn open(folder: &Path) -> Result<Self, OpenDirectoryError> {
        if !folder.is_dir() {
            return Err(OpenDirectoryError::DoesNotExist(folder.to_owned()));
        }
        Ok(Self {
            folder: folder.into(),
            handles: Arc::default(),
        })
    }

    /// Returns the handle of a file, opening it if necessary.
    pub(super) fn handle(&self, name: &Path) -> Result<Arc<Handle>, OpenReadError> {
        if let Some(handle) = self.lock_handles().get(name) {
            return Ok(Arc::clone(handle));
        }
        self.check_size(name, MIN_FOOTER_BYTES, u64::MAX)?;
        let path = self.path(name).map_err(|cause| read_error(cause, name))?;
        let handle = Arc::new(Handle::open(&path).map_err(|cause| read_error(cause, name))?);
        self.lock_handles()
            .insert(name.to_owned(), Arc::clone(&handle));
        Ok(handle)
    }

    /// Returns the name of an open file that has been modified since it was opened, if any.
    pub(super) fn find_modified(&self) -> Option<PathBuf> {
        let handles = self.lock_handles();
        let mut modified = handles.iter().filter(|(_, handle)| !handle.is_unchanged());
        modified.next().map(|(name, _)| name.clone())
    }

    /// Returns the system's last error while reading an open file, if a retry may succeed.
    pub(super) fn take_read_fault(&self) -> Option<io::Error> {
        let handles = self.lock_handles();
        let faults = handles
            .values()
            .filter_map(|handle| handle.take_read_fault());
        // All are taken: one that stays would excuse later damage.
        let faults: Vec<_> = faults.collect();
        faults.into_iter().find(is_transient)
    }

    /// Makes reads of all open files fail with an error of the system, or succeed again if it is 0.
    #[cfg(test)]
    pub(super) fn fail_reads(&self, number: i32) {
        for handle in self.lock_handles().values() {
            handle
                .failing
                .store(number, std::sync::atomic::Ordering::Release);
        }
    }

    fn lock_handles(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Handle>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names and sizes of the files in a folder, sorted.
    pub(super) fn list(folder: &Path) -> io::Result<Vec<(String, u64)>> {
        let entries = fs::read_dir(folder)?;
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            match entry.metadata() {
                Ok(metadata) if metadata.is_file() => {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    files.push((name, metadata.len()));
                }
                // Another process may have deleted it.
                Ok(_) | Err(_) => {}
            }
        }
        files.sort();
        Ok(files)
    }

    /// Deletes all files of an index; other files in the folder stay.
    pub(super) fn clear(folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if is_index_file(&entry.file_name().to_string_lossy()) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Returns the recorded checksums by file name.
    pub(super) fn checksums(&self) -> Result<BTreeMap<PathBuf, u32>, OpenReadError> {
        let bytes = self.atomic_read(Path::new(CHECKSUMS_FILE))?;
        let text = String::from_utf8_lossy(&bytes);
        let parse = |line: &str| {
            let (checksum, name) = line.split_once(' ')?;
            Some((name.into(), u32::from_str_radix(checksum, 16).ok()?))
        };
        Ok(text.lines().filter_map(parse).collect())
    }

    /// Records the checksums of all segment files, including those of the commit in progress.
    fn write_checksums(&self) -> io::Result<()> {
        let mut text = String::new();
        for (name, _) in Self::list(&self.folder)? {
            if !is_segment_file(&name) {
                continue;
            }
            let file = Handle::open(&self.folder.join(&name))?;
            // A file without a footer is still being written, or its writer was killed. No commit lists it.
            if let Ok((footer, _)) = Footer::extract_footer(FileSlice::new(Arc::new(file))) {
                let _ = writeln!(text, "{:08x} {name}", footer.crc);
            }
        }
        self.replace(Path::new(CHECKSUMS_FILE), text.as_bytes())
    }

    fn replace(&self, name: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name)?;
        let mut file = Builder::new()
            .prefix(TEMP_PREFIX)
            .tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }

    fn path(&self, name: &Path) -> io::Result<PathBuf> {
        if is_plain_name(name) {
            return Ok(self.folder.join(name));
        }
        let message = format!("Name leads out of the index: `{}`", name.display());
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    /// Refuses a file with a size out of range, and anything that is not a regular file.
    fn check_size(&self, name: &Path, min: u64, max: u64) -> Result<(), OpenReadError> {
        let to_error = |cause: io::Error| read_error(cause, name);
        let path = self.path(name).map_err(to_error)?;
        let metadata = fs::symlink_metadata(path).map_err(to_error)?;
        if !metadata.is_file() {
            let message = "not a file";
            return Err(to_error(io::Error::new(
                io::ErrorKind::InvalidData,
                message,
            )));
        }
        let bytes = metadata.len();
        if (min..=max).contains(&bytes) {
            return Ok(());
        }
        let message = format!("{bytes} bytes, expected {min} to {max}");
        Err(to_error(io::Error::new(
            io::ErrorKind::InvalidData,
            message,
        )))
    }
}

impl Directory for IndexFiles {
    fn get_file_handle(&self, name: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(self.handle(name)?)
    }

    fn delete(&self, name: &Path) -> Result<(), DeleteError> {
        let to_error = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(name.to_owned()),
            _ => DeleteError::IoError {
                io_error: Arc::new(cause),
                filepath: name.to_owned(),
            },
        };
        self.lock_handles().remove(name);
        let path = self.path(name).map_err(to_error)?;
        fs::remove_file(path).map_err(to_error)
    }

    fn exists(&self, name: &Path) -> Result<bool, OpenReadError> {
        Ok(self.path(name).is_ok_and(|path| path.exists()))
    }

    fn open_write(&self, name: &Path) -> Result<WritePtr, OpenWriteError> {
        let to_error = |cause: io::Error| match cause.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(name.to_owned()),
            _ => OpenWriteError::wrap_io_error(cause, name.to_owned()),
        };
        let path = self.path(name).map_err(to_error)?;
        self.lock_handles().remove(name);
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = UnsyncedFile(file.map_err(to_error)?);
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_read(&self, name: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.check_size(name, 0, MAX_META_BYTES)?;
        let path = self.path(name).map_err(|cause| read_error(cause, name))?;
        let read = Handle::open(&path).and_then(|file| file.read_bytes(0..file.len()));
        read.map(|bytes| bytes.to_vec())
            .map_err(|cause| read_error(cause, name))
    }

    fn atomic_write(&self, name: &Path, bytes: &[u8]) -> io::Result<()> {
        if name == Path::new(META_FILE) {
            self.write_checksums()?;
        }
        self.replace(name, bytes)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let path = self
            .path(&lock.filepath)
            .map_err(LockError::wrap_io_error)?;
        let attempts = if lock.is_blocking { LOCK_ATTEMPTS } else { 1 };
        let lock = try_lock_file(&path, attempts).map_err(LockError::wrap_io_error)?;
        lock.map(|lock| DirectoryLock::from(Box::new(lock)))
            .ok_or(LockError::LockBusy)
    }

    /// Does nothing: new commits are found by polling.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// Returns whether the system failed to read something, and may succeed when it is tried again. Content that is wrong is no error of
/// the system.
pub(super) fn is_transient(error: &io::Error) -> bool {
    let again = error.raw_os_error().map(io::Error::from_raw_os_error);
    again.is_some_and(|error| Error::read("", error).is_transient())
}

fn read_error(cause: io::Error, name: &Path) -> OpenReadError {
    match cause.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(name.to_owned()),
        _ => OpenReadError::wrap_io_error(cause, name.to_owned()),
    }
}

/// Takes the writer lock if it is free. It is released when the value is dropped or the process ends in any way.
pub(super) fn writer_lock(folder: &Path) -> io::Result<Option<FileLock>> {
    try_lock_file(&folder.join(WRITER_LOCK), 1)
}

/// A file lock, released on drop.
#[derive(Debug)]
pub(super) struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is being spawned shares it until it executes its
        // program. If unlocking fails, closing has to do.
        let _ = self.0.unlock();
    }
}

fn try_lock_file(path: &Path, attempts: u32) -> io::Result<Option<FileLock>> {
    // Opening a pipe would block until there is a reader.
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        remove(path)?;
    }
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    for attempt in 1..=attempts {
        match file.try_lock() {
            Ok(()) => return Ok(Some(FileLock(file))),
            Err(TryLockError::WouldBlock) if attempt < attempts => thread::sleep(LOCK_RETRY_DELAY),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
    }
    Ok(None)
}

/// A file that is not synced when it is complete.
struct UnsyncedFile(File);

impl Write for UnsyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for UnsyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}

/// Deletes a file or an empty folder.
fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    }
}

fn is_plain_name(name: &Path) -> bool {
    let mut parts = name.components();
    matches!(parts.next(), Some(Component::Normal(first)) if first == OsStr::new(name))
        && parts.next().is_none()
}

/// Returns whether a file belongs to an index.
fn is_index_file(name: &str) -> bool {
    [META_FILE, CHECKSUMS_FILE, ".managed.json"].contains(&name)
        || name.starts_with(TEMP_PREFIX)
        || is_segment_file(name)
}

/// Returns whether a file belongs to a segment: its name starts with 32 hex digits and a dot.
fn is_segment_file(name: &str) -> bool {
    let (id, extension) = name.split_at_checked(32).unwrap_or_default();
    extension.starts_with('.') && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_outside_the_folder_is_not_touched() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("index");
        fs::create_dir(&folder).unwrap();
        let outside = root.path().join("outside");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&outside)
            .unwrap();
        file.write_all(b"not yours to touch").unwrap();
        let files = IndexFiles::open(&folder).unwrap();
        for name in [
            Path::new("../outside"),
            &outside,
            Path::new("a/../../outside"),
            Path::new(".."),
        ] {
            assert!(files.delete(name).is_err());
            assert!(files.open_write(name).is_err());
            assert!(files.atomic_write(name, b"").is_err());
            assert!(files.atomic_read(name).is_err());
            assert!(files.get_file_handle(name).is_err());
            assert!(!files.exists(name).unwrap());
        }
        assert!(outside.exists());
    }

    #[test]
    fn foreign_files_are_not_cleared() {
        assert!(is_index_file("meta.json") && is_index_file(".managed.json"));
        assert!(is_index_file("0123456789abcdef0123456789abcdef.store"));
        assert!(is_index_file("0123456789abcdef0123456789abcdef.12.del"));
        for name in [
            "notes.txt",
            "0123456789abcdef0123456789abcdef",
            "",
            "writer.lock",
            "0123456789abcdef0123456789abcdeé.x",
        ] {
            assert!(!is_index_file(name), "{name}");
        }
    }
}
