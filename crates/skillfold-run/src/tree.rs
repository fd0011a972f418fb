//! The digest of a folder of installed packages, and a cheap way to see that it still holds.
//!
//! The digest covers paths, bytes, executable bits and links. Reading thousands of files at each run would cost more than
//! most scripts, so a *fingerprint* is kept with it: what the file system says of each file, its change time (`ctime`)
//! among it, which a program cannot set. While the fingerprint is the same, so is the digest; otherwise all is read again.

use std::fs::{self, File, Metadata};
#[cfg(unix)]
use std::io::Write as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

#[cfg(unix)]
use serde::{Deserialize, Serialize};
use skillfold_core::load::{Digest, DigestHasher};
#[cfg(unix)]
use tempfile::NamedTempFile;

/// Maximum number of files and folders.
const MAX_ENTRIES: usize = 500_000;

/// Seconds by which the stored fingerprint is younger than all files. Below that, a file could have changed again without
/// another change time, as clocks of file systems go in steps.
#[cfg(unix)]
const SETTLED_SECONDS: i64 = 1;

/// The files, links and folders below a folder, sorted by their paths.
#[derive(Debug)]
pub(crate) struct Tree {
    folder: PathBuf,
    entries: Vec<(PathBuf, Metadata)>,
}

/// A digest, and the fingerprint of the folder it was computed from.
#[cfg(unix)]
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    tree: Digest,
    fingerprint: Digest,
}

impl Tree {
    /// Lists a folder. Links are not followed.
    #[expect(
        clippy::disallowed_methods,
        reason = "it lists the engine's own folder"
    )]
    pub(crate) fn list(folder: &Path) -> io::Result<Self> {
        let mut entries = Vec::new();
        let mut waiting = vec![PathBuf::new()];
        while let Some(inside) = waiting.pop() {
            for entry in fs::read_dir(folder.join(&inside))? {
                let entry = entry?;
                let (path, metadata) = (inside.join(entry.file_name()), entry.metadata()?);
                if metadata.is_dir() {
                    waiting.push(path.clone());
                }
                entries.push((path, metadata));
                if entries.len() > MAX_ENTRIES {
                    return Err(io::Error::other("it has more than 500,000 files"));
                }
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Self {
            folder: folder.to_owned(),
            entries,
        })
    }

    /// Reads every file, and returns the digest of all.
    pub(crate) fn digest(&self) -> io::Result<Digest> {
        let mut all = DigestHasher::default();
        for (path, metadata) in &self.entries {
            let full = self.folder.join(path);
            let (kind, content) = if metadata.is_dir() {
                (b'd', Digest::sha256(b""))
            } else if metadata.is_symlink() {
                let target = fs::read_link(&full)?;
                let target = target.as_os_str().as_encoded_bytes();
                (b'l', Digest::sha256(target))
            } else if metadata.is_file() {
                let kind = if is_executable(metadata) { b'x' } else { b'f' };
                (kind, file_digest(&full)?)
            } else {
                let why = format!("`{}` is not a file", path.display());
                return Err(io::Error::other(why));
            };
            let path = path.as_os_str().as_encoded_bytes();
            all.update(&[kind]);
            all.update(&(path.len() as u64).to_le_bytes());
            all.update(path);
            all.update(content.as_bytes());
        }
        Ok(all.finish())
    }
}

/// Returns the digest of a folder. If the fingerprint in `file` is that of the folder, nothing is read; otherwise it is
/// stored there.
#[cfg(unix)]
pub(crate) fn digest_by_fingerprint(folder: &Path, file: &Path) -> io::Result<Digest> {
    let tree = Tree::list(folder)?;
    if let Some(stored) = stored_digest(&tree, file) {
        return Ok(stored);
    }
    let digest = tree.digest()?;
    let fingerprint = tree.fingerprint();
    // Whatever changed while it was read has another fingerprint now.
    if Tree::list(folder)?.fingerprint() == fingerprint {
        let stored = Stored {
            tree: digest,
            fingerprint,
        };
        // Without it, the next run reads everything again.
        let _ = store(&stored, file);
    }
    Ok(digest)
}

/// Returns the digest of a folder. Other systems have no change time that programs cannot set.
#[cfg(not(unix))]
pub(crate) fn digest_by_fingerprint(folder: &Path, _: &Path) -> io::Result<Digest> {
    Tree::list(folder)?.digest()
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "it reads the engine's own file")]
fn stored_digest(tree: &Tree, file: &Path) -> Option<Digest> {
    use std::os::unix::fs::MetadataExt as _;

    let written = file.symlink_metadata().ok()?;
    let stored: Stored = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let is_settled = written.is_file() && written.ctime() > tree.changed() + SETTLED_SECONDS;
    (is_settled && stored.fingerprint == tree.fingerprint()).then_some(stored.tree)
}

#[cfg(unix)]
fn store(stored: &Stored, file: &Path) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(&serde_json::to_vec(stored)?)?;
    new.persist(file)?;
    Ok(())
}

#[cfg(unix)]
impl Tree {
    /// Returns the digest of what the file system says about all files.
    fn fingerprint(&self) -> Digest {
        use std::os::unix::fs::MetadataExt as _;

        let mut all = DigestHasher::default();
        for (path, metadata) in &self.entries {
            let path = path.as_os_str().as_encoded_bytes();
            all.update(&(path.len() as u64).to_le_bytes());
            all.update(path);
            let times = [
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ];
            let numbers = [metadata.dev(), metadata.ino(), metadata.size()];
            all.update(&metadata.mode().to_le_bytes());
            for number in numbers {
                all.update(&number.to_le_bytes());
            }
            for time in times {
                all.update(&time.to_le_bytes());
            }
        }
        all.finish()
    }

    /// Returns the latest change time, in seconds.
    fn changed(&self) -> i64 {
        use std::os::unix::fs::MetadataExt as _;

        let times = self.entries.iter().map(|(_, metadata)| metadata.ctime());
        times.max().unwrap_or_default()
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

#[expect(
    clippy::disallowed_methods,
    reason = "it reads the engine's own folder"
)]
fn file_digest(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut digest = DigestHasher::default();
    let mut block = vec![0; 64 * 1024];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(digest.finish()),
            count => digest.update(&block[..count]),
        }
    }
}
