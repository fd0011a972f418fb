//! What was read of the skills of a root, in one file that is read at once.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use skillfold_core::Error;
use tempfile::Builder;

use crate::checksum::checksum;
use crate::ownership::{check, check_own, make_own};

/// What a file starts with: its kind and the version of this form.
const MAGIC: [u8; 16] = *b"skillfold meta 1";
/// Bytes before the content: the magic, the length of the content, its checksum.
const HEADER: usize = 32;
/// Bytes of a file that is read at most. 100,000 skills take less than a hundredth of it to a tenth.
const BYTES: u64 = 1024 * 1024 * 1024;
/// Files that are kept; the oldest goes first. Each is of one root, one version and one way of reading.
const FILES: usize = 32;
const EXTENSION: &str = "skills";
/// How the name of a temporary file starts.
const PREFIX: &str = ".skillfold-cache-";
/// The age at which a temporary file has no writer any more.
const LEFT_OVER: Duration = Duration::from_secs(60 * 60);

/// A folder of files, each with what was read of the skills of one root.
///
/// It is a cache of one person: the folder is made for them alone, and one that others can write to is not used. Files can
/// be deleted at any time. Several processes may read and write: each file is written aside and renamed, so that a reader
/// sees a whole one, and of two writers the last wins.
#[derive(Clone, Debug)]
pub struct BlobCache {
    folder: PathBuf,
}

/// What was kept of a root.
#[derive(Debug)]
pub struct CachedBlob {
    file: Vec<u8>,
}

impl CachedBlob {
    /// Returns the bytes as they were given to [`BlobCache::write`].
    pub fn bytes(&self) -> &[u8] {
        &self.file[HEADER..]
    }
}

impl BlobCache {
    /// Names the folder. It is made when something is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the file of a root, read by some rules.
    pub fn path_of(&self, root: &str, mark: &str) -> PathBuf {
        let name = checksum(root.as_bytes()) ^ checksum(mark.as_bytes()).rotate_left(1);
        self.folder.join(format!("{name:016x}.{EXTENSION}"))
    }

    /// Returns what was kept of a root that was read by some rules, or nothing if nothing was.
    ///
    /// # Errors
    ///
    /// If there is something that is not used: it is not whole, or not the person's own. The next write replaces it.
    pub fn read(&self, root: &str, mark: &str) -> Result<Option<CachedBlob>, Error> {
        let path = self.path_of(root, mark);
        let failed = |cause| Error::read(path.to_string_lossy(), cause);
        match self.read_file(&path) {
            Ok(file) => match fault(&file) {
                Some(fault) => Err(failed(io::Error::new(io::ErrorKind::InvalidData, fault))),
                None => Ok(Some(CachedBlob { file })),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Keeps what was read of a root by some rules, in place of what was kept before.
    ///
    /// Nothing is brought to the disk at once: what a crash leaves is told by its checksum. Files of other roots that were
    /// written longest ago are removed if there are more than 32.
    pub fn write(&self, root: &str, mark: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path_of(root, mark);
        self.write_file(&path, bytes)
            .map_err(|cause| Error::write(path.to_string_lossy(), cause))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the file that reads the cache"
    )]
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        check_own(&self.folder)?;
        let looked_at = fs::symlink_metadata(path)?;
        check(&looked_at)?;
        if !looked_at.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        if looked_at.len() > BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "larger than 1 GiB",
            ));
        }
        let mut file = Vec::new();
        let room = usize::try_from(looked_at.len()).unwrap_or_default();
        file.try_reserve_exact(room.saturating_add(1))?;
        File::open(path)?.take(BYTES).read_to_end(&mut file)?;
        Ok(file)
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        make_own(&self.folder)?;
        let mut file = Builder::new().prefix(PREFIX).tempfile_in(&self.folder)?;
        let mut header = [0; HEADER];
        header[..16].copy_from_slice(&MAGIC);
        header[16..24].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[24..].copy_from_slice(&checksum(bytes).to_le_bytes());
        file.write_all(&header)?;
        file.write_all(bytes)?;
        let written = file.as_file().metadata()?;
        file.persist(path).map_err(|error| error.error)?;
        if let Ok(now) = written.modified() {
            self.tidy(now);
        }
        Ok(())
    }

    /// Removes files of other roots if there are too many, and what killed writers left. What cannot be removed stays, as
    /// the next write tries again.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the file that tidies the cache"
    )]
    fn tidy(&self, now: SystemTime) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let entries = entries.filter_map(|entry| {
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some((modified, entry))
        });
        let is_named = |entry: &DirEntry, is_it: fn(&str) -> bool| {
            entry.file_name().to_str().is_some_and(is_it)
        };
        let mut kept = Vec::new();
        for (modified, entry) in entries {
            let age = now.duration_since(modified).unwrap_or_default();
            if is_named(&entry, |name| name.starts_with(PREFIX)) {
                if age > LEFT_OVER {
                    let _ = fs::remove_file(entry.path());
                }
            } else if is_named(&entry, |name| name.ends_with(EXTENSION)) {
                kept.push((age, entry.path()));
            }
        }
        kept.sort();
        for (_, path) in kept.iter().skip(FILES) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns what is wrong with a file.
fn fault(file: &[u8]) -> Option<&'static str> {
    let word = |at: usize| {
        let bytes = file.get(at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let (Some(length), Some(sum)) = (word(16), word(24)) else {
        return Some("too short to be a cache of skills");
    };
    let content = &file[HEADER..];
    if file[..16] != MAGIC {
        Some("not a cache of skills of this version")
    } else if length != content.len() as u64 || sum != checksum(content) {
        Some("not whole")
    } else {
        None
    }
}
