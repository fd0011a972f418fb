//! A folder of checksummed cache files, each read and written as a whole.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use skillfold_core::Error;
use skillfold_core::load::Digest;
use tempfile::Builder;

use crate::ownership::{check_owned, check_owned_folder, create_owned_folder};

/// The format of the files. It is in their names, so that another version has files of its own.
const FORMAT: u32 = 2;
/// First bytes of a file: its kind and its format.
const MAGIC: [u8; 16] = *b"skillfold meta 2";
/// Header size in bytes: the magic, the length of the content, and its CRC-32, which reveals accidents but not tampering.
const HEADER_BYTES: usize = 28;
/// Maximum size of a file to read. 100,000 skills take between less than a hundredth and a tenth of it.
const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum number of files; the oldest is deleted first. There is one per root and variant.
const MAX_FILES: usize = 32;
const EXTENSION: &str = "skills";
/// Name prefix of temporary files.
const TEMP_PREFIX: &str = ".skillfold-cache-";
/// Age at which a temporary file is considered abandoned.
const STALE_TEMP_AGE: Duration = Duration::from_secs(60 * 60);

/// A folder of cache files, each with the scan results of one root.
///
/// The cache belongs to one user: the folder is created for them alone, and one that others can write to is not used.
/// Files can be deleted at any time. Several processes may read and write it: each file is written to a temporary file
/// and renamed, so that readers see complete files, and the last writer wins.
#[derive(Clone, Debug)]
pub struct BlobCache {
    folder: PathBuf,
}

/// The cached bytes of a root.
#[derive(Debug)]
pub struct CachedBlob {
    contents: Vec<u8>,
}

impl CachedBlob {
    /// Returns the bytes passed to [`BlobCache::write`].
    pub fn bytes(&self) -> &[u8] {
        &self.contents[HEADER_BYTES..]
    }
}

impl BlobCache {
    /// Uses a folder, which is created on the first write.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the file for a root and variant. The variant tells apart files of one root, for example by
    /// scan options or embedding model.
    pub fn path(&self, root: &str, variant: &str) -> PathBuf {
        let digest = Digest::sha256(format!("{root}\0{variant}").as_bytes()).to_string();
        let name = digest.trim_start_matches("sha256:");
        self.folder.join(format!("{FORMAT}-{name}.{EXTENSION}"))
    }

    /// Returns the cached bytes of a root and variant, or `None` if there are none.
    ///
    /// # Errors
    ///
    /// If the file is incomplete, or is not owned by the user alone. The next write replaces it.
    pub fn read(&self, root: &str, variant: &str) -> Result<Option<CachedBlob>, Error> {
        let path = self.path(root, variant);
        let to_error = |cause| Error::read(path.to_string_lossy(), cause);
        match self.read_file(&path) {
            Ok(contents) => match find_corruption(&contents) {
                Some(corruption) => Err(to_error(io::Error::new(
                    io::ErrorKind::InvalidData,
                    corruption,
                ))),
                None => Ok(Some(CachedBlob { contents })),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(to_error(error)),
        }
    }

    /// Replaces the cached bytes of a root and variant.
    ///
    /// The file is not synced: its checksum reveals what a crash leaves behind. If there are more than 32 files, the
    /// oldest ones are deleted.
    pub fn write(&self, root: &str, variant: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(root, variant);
        self.write_file(&path, bytes)
            .map_err(|cause| Error::write(path.to_string_lossy(), cause))
    }

    #[expect(clippy::disallowed_methods, reason = "this module reads the cache")]
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        check_owned_folder(&self.folder)?;
        let metadata = fs::symlink_metadata(path)?;
        check_owned(&metadata)?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        if metadata.len() > MAX_FILE_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "larger than 1 GiB",
            ));
        }
        let mut contents = Vec::new();
        let length = usize::try_from(metadata.len()).unwrap_or_default();
        contents.try_reserve_exact(length.saturating_add(1))?;
        File::open(path)?
            .take(MAX_FILE_BYTES)
            .read_to_end(&mut contents)?;
        Ok(contents)
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        create_owned_folder(&self.folder)?;
        let mut file = Builder::new()
            .prefix(TEMP_PREFIX)
            .tempfile_in(&self.folder)?;
        let mut header = [0; HEADER_BYTES];
        header[..16].copy_from_slice(&MAGIC);
        header[16..24].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[24..].copy_from_slice(&crc32fast::hash(bytes).to_le_bytes());
        file.write_all(&header)?;
        file.write_all(bytes)?;
        let metadata = file.as_file().metadata()?;
        file.persist(path).map_err(|error| error.error)?;
        if let Ok(now) = metadata.modified() {
            self.tidy(now);
        }
        Ok(())
    }

    /// Deletes the oldest files beyond the limit and the temporary files of killed writers. Failures are ignored, since
    /// the next write tries again.
    #[expect(clippy::disallowed_methods, reason = "this module cleans up the cache")]
    fn tidy(&self, now: SystemTime) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let entries = entries.filter_map(|entry| {
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some((modified, entry))
        });
        let has_name = |entry: &DirEntry, matches: fn(&str) -> bool| {
            entry.file_name().to_str().is_some_and(matches)
        };
        let mut files = Vec::new();
        for (modified, entry) in entries {
            let age = now.duration_since(modified).unwrap_or_default();
            if has_name(&entry, |name| name.starts_with(TEMP_PREFIX)) {
                if age > STALE_TEMP_AGE {
                    let _ = fs::remove_file(entry.path());
                }
            } else if has_name(&entry, |name| name.ends_with(EXTENSION)) {
                files.push((age, entry.path()));
            }
        }
        files.sort();
        for (_, path) in files.iter().skip(MAX_FILES) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns what is wrong with the contents of a file, or `None` if they are valid.
fn find_corruption(contents: &[u8]) -> Option<&'static str> {
    let Some((header, content)) = contents.split_first_chunk::<HEADER_BYTES>() else {
        return Some("too short to be a cache of skills");
    };
    let length = (content.len() as u64).to_le_bytes();
    let sum = crc32fast::hash(content).to_le_bytes();
    if header[..16] != MAGIC {
        Some("not a cache of skills of this version")
    } else if header[16..24] != length || header[24..] != sum {
        Some("not whole")
    } else {
        None
    }
}
