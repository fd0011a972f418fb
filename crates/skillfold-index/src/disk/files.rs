//! The files of the index: read by their handles, written without waiting for the disk, never outside of the folder.
//!
//! A cache need not survive a loss of power: what was not written whole is found by its sum and made again. So nothing waits
//! for the disk, and one change is cheap. The lists that the engine keeps of its own files are content like any other;
//! what they name is touched only if it is a plain name in the folder.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

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

/// The engine's list of segments, which is what a commit replaces.
pub(super) const LIST: &str = "meta.json";
/// The sums of the files, each with its name: a file knows its own sum, but not which file it is.
const SUMS: &str = "sums";
/// Who holds it writes.
pub(super) const WRITER_LOCK: &str = "writer.lock";
/// Bytes of a list at most: thousands of segments.
const LIST_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes that the engine ends each of its files with, at least.
const FOOTER_BYTES: u64 = 8;
/// How the name of a file starts that is not whole yet.
const UNFINISHED: &str = ".unfinished-";
/// How often a lock that is held for moments is tried again, and after how long.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// The folder of an index.
#[derive(Clone, Debug)]
pub(super) struct IndexFiles {
    folder: Arc<Path>,
    /// What is open, by its name: each file once.
    open: Arc<Mutex<BTreeMap<PathBuf, Arc<Handle>>>>,
}

impl IndexFiles {
    /// Opens the folder.
    pub(super) fn open(folder: &Path) -> Result<Self, OpenDirectoryError> {
        if !folder.is_dir() {
            return Err(OpenDirectoryError::DoesNotExist(folder.to_owned()));
        }
        Ok(Self {
            folder: folder.into(),
            open: Arc::default(),
        })
    }

    /// Opens a file, or returns it if it is open.
    pub(super) fn handle(&self, name: &Path) -> Result<Arc<Handle>, OpenReadError> {
        if let Some(open) = self.opened().get(name) {
            return Ok(Arc::clone(open));
        }
        self.check_size(name, FOOTER_BYTES, u64::MAX)?;
        let path = self.path(name).map_err(|cause| unread(cause, name))?;
        let handle = Arc::new(Handle::open(&path).map_err(|cause| unread(cause, name))?);
        self.opened().insert(name.to_owned(), Arc::clone(&handle));
        Ok(handle)
    }

    /// Returns the name of a file that somebody wrote to since it was opened.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        let open = self.opened();
        let mut changed = open.iter().filter(|(_, handle)| !handle.is_same());
        changed.next().map(|(name, _)| name.clone())
    }

    fn opened(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Handle>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of the files in the folder, with their sizes.
    pub(super) fn list(folder: &Path) -> io::Result<Vec<(String, u64)>> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the folder is the cache's own and holds no skills"
        )]
        let entries = fs::read_dir(folder)?;
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            match entry.metadata() {
                Ok(metadata) if metadata.is_file() => {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    files.push((name, metadata.len()));
                }
                // Another process may have removed it since.
                Ok(_) | Err(_) => {}
            }
        }
        files.sort();
        Ok(files)
    }

    /// Removes everything that an index consists of; what else is in the folder stays.
    pub(super) fn clear(folder: &Path) -> io::Result<()> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the folder is the cache's own and holds no skills"
        )]
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if is_ours(&entry.file_name().to_string_lossy()) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Returns the sums that the files were written with, by their names.
    pub(super) fn sums(&self) -> Result<BTreeMap<PathBuf, u32>, OpenReadError> {
        let bytes = self.atomic_read(Path::new(SUMS))?;
        let text = String::from_utf8_lossy(&bytes);
        let sum = |line: &str| {
            let (sum, name) = line.split_once(' ')?;
            Some((name.into(), u32::from_str_radix(sum, 16).ok()?))
        };
        Ok(text.lines().filter_map(sum).collect())
    }

    /// Writes the sums of all files that are there; what a commit is about to name is among them.
    fn write_sums(&self) -> io::Result<()> {
        let mut text = String::new();
        for (name, _) in Self::list(&self.folder)? {
            if !is_segment(&name) {
                continue;
            }
            let file = Handle::open(&self.folder.join(&name))?;
            // One without a footer is being written, or was when its process was killed: no commit names it.
            if let Ok((footer, _)) = Footer::extract_footer(FileSlice::new(Arc::new(file))) {
                let _ = writeln!(text, "{:08x} {name}", footer.crc);
            }
        }
        self.replace(Path::new(SUMS), text.as_bytes())
    }

    fn replace(&self, name: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name)?;
        let mut file = Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }

    fn path(&self, name: &Path) -> io::Result<PathBuf> {
        if is_plain(name) {
            return Ok(self.folder.join(name));
        }
        let what = format!("Name leads out of the index: `{}`", name.display());
        Err(io::Error::new(io::ErrorKind::InvalidInput, what))
    }

    /// Refuses files that are too short to be opened, or too long to be read at once.
    fn check_size(&self, name: &Path, least: u64, most: u64) -> Result<(), OpenReadError> {
        let failed = |cause: io::Error| unread(cause, name);
        let path = self.path(name).map_err(failed)?;
        let found = fs::symlink_metadata(path).map_err(failed)?;
        if !found.is_file() {
            let what = "not a file";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        let bytes = found.len();
        if (least..=most).contains(&bytes) {
            return Ok(());
        }
        let what = format!("{bytes} bytes, expected {least} to {most}");
        Err(failed(io::Error::new(io::ErrorKind::InvalidData, what)))
    }
}

impl Directory for IndexFiles {
    fn get_file_handle(&self, name: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(self.handle(name)?)
    }

    fn delete(&self, name: &Path) -> Result<(), DeleteError> {
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(name.to_owned()),
            _ => DeleteError::IoError {
                io_error: Arc::new(cause),
                filepath: name.to_owned(),
            },
        };
        self.opened().remove(name);
        let path = self.path(name).map_err(failed)?;
        fs::remove_file(path).map_err(failed)
    }

    fn exists(&self, name: &Path) -> Result<bool, OpenReadError> {
        Ok(self.path(name).is_ok_and(|path| path.exists()))
    }

    fn open_write(&self, name: &Path) -> Result<WritePtr, OpenWriteError> {
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(name.to_owned()),
            _ => OpenWriteError::wrap_io_error(cause, name.to_owned()),
        };
        let path = self.path(name).map_err(failed)?;
        self.opened().remove(name);
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let unhurried = UnsyncedFile(file.map_err(failed)?);
        Ok(BufWriter::new(Box::new(unhurried)))
    }

    fn atomic_read(&self, name: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.check_size(name, 0, LIST_BYTES)?;
        let path = self.path(name).map_err(|cause| unread(cause, name))?;
        let read = Handle::open(&path).and_then(|file| file.read_bytes(0..file.len()));
        read.map(|bytes| bytes.to_vec())
            .map_err(|cause| unread(cause, name))
    }

    fn atomic_write(&self, name: &Path, bytes: &[u8]) -> io::Result<()> {
        if name == Path::new(LIST) {
            self.write_sums()?;
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
        let attempts = if lock.is_blocking { ATTEMPTS } else { 1 };
        let held = held(&path, attempts).map_err(LockError::wrap_io_error)?;
        held.map(|held| DirectoryLock::from(Box::new(held)))
            .ok_or(LockError::LockBusy)
    }

    /// Nobody is told of new commits: who wants to know looks.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn unread(cause: io::Error, name: &Path) -> OpenReadError {
    match cause.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(name.to_owned()),
        _ => OpenReadError::wrap_io_error(cause, name.to_owned()),
    }
}

/// Takes the lock of the writer, if nobody has it. It ends with the value, or with the process, however it ends.
pub(super) fn writer_lock(folder: &Path) -> io::Result<Option<FileLock>> {
    held(&folder.join(WRITER_LOCK), 1)
}

/// A lock that is held.
#[derive(Debug)]
pub(super) struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started has the file too, until it runs its program. Where it fails,
        // closing has to do.
        let _ = self.0.unlock();
    }
}

fn held(path: &Path, attempts: u32) -> io::Result<Option<FileLock>> {
    // To open a pipe would wait for whoever reads it.
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
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
            Err(TryLockError::WouldBlock) if attempt < attempts => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
    }
    Ok(None)
}

/// A file that is not brought to the disk when it is whole.
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

/// Removes what is there, unless it is a folder with something in it.
fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    }
}

fn is_plain(name: &Path) -> bool {
    let mut parts = name.components();
    matches!(parts.next(), Some(Component::Normal(first)) if first == OsStr::new(name))
        && parts.next().is_none()
}

/// Returns whether a file is one that an index consists of.
fn is_ours(name: &str) -> bool {
    [LIST, SUMS, ".managed.json"].contains(&name)
        || name.starts_with(UNFINISHED)
        || is_segment(name)
}

/// Returns whether a file is part of a segment: its name is a number.
fn is_segment(name: &str) -> bool {
    let (number, ending) = name.split_at_checked(32).unwrap_or_default();
    ending.starts_with('.') && number.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_out_of_the_folder_is_not_touched() {
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
    fn what_is_no_part_of_an_index_is_not_cleared() {
        assert!(is_ours("meta.json") && is_ours(".managed.json"));
        assert!(is_ours("0123456789abcdef0123456789abcdef.store"));
        assert!(is_ours("0123456789abcdef0123456789abcdef.12.del"));
        for name in [
            "notes.txt",
            "0123456789abcdef0123456789abcdef",
            "",
            "writer.lock",
            "0123456789abcdef0123456789abcdeé.x",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
