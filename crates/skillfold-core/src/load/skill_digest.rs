//! The digest of a whole skill.

use std::collections::BTreeMap;

use crate::error::{Error, Refusal};
use crate::limits::Limits;
use crate::load::digest::{Digest, DigestHasher};
use crate::name::ResourcePath;
use crate::source::{Folder, Revision, Source, Stability};

/// Maximum files of a skill. The largest real skills have some hundreds.
const MAX_FILES: usize = 10_000;

/// Maximum nesting of folders in a skill.
const MAX_DEPTH: usize = 64;

/// Maximum bytes of all files of a skill.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Bytes that are read at once, so that a large file is not held in memory.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// The files of a skill, each with the SHA-256 of its content. Their list has one digest, that of the skill.
///
/// The list has `path NUL digest LF` for each file, sorted by the bytes of the path, with the 32 bytes of the digest as they are.
/// This is the `contentDigest` of [ToolHive](https://github.com/stacklok/toolhive)'s lock file, so its digests can be compared with
/// ours. Every regular file counts, hidden ones too; version control's folders, links and modes do not.
///
/// ```
/// use skillfold_core::load::{Digest, FileDigests};
///
/// let files = [("SKILL.md", "# Skill"), ("refs/guide.md", "guide")];
/// let files = files.map(|(path, text)| (path.parse().unwrap(), Digest::sha256(text.as_bytes())));
/// let digest = FileDigests::from_iter(files).digest().to_string();
/// assert_eq!(digest, "sha256:9b46342aaebede490f12bf67a5ecb4be507c7684ee5e11a0511b54c701f464bd");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDigests(BTreeMap<ResourcePath, Digest>);

impl FileDigests {
    /// Returns the digest of the skill: the SHA-256 of the list.
    pub fn digest(&self) -> Digest {
        Digest::sha256(&self.to_bytes())
    }

    /// Returns the list.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut list = Vec::new();
        for (path, digest) in &self.0 {
            list.extend_from_slice(path.as_str().as_bytes());
            list.push(0);
            list.extend_from_slice(digest.as_bytes());
            list.push(b'\n');
        }
        list
    }

    /// Reads a list; `None` if the bytes are not one.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut files = BTreeMap::new();
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == 0)?;
            let path = str::from_utf8(&bytes[..end]).ok()?.parse().ok()?;
            let (digest, rest) = bytes[end + 1..].split_first_chunk()?;
            bytes = rest.strip_prefix(b"\n")?;
            files.insert(path, Digest::from_bytes(*digest));
        }
        Some(Self(files))
    }

    /// Returns the files, sorted by path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ResourcePath, Digest)> {
        self.0.iter().map(|(path, digest)| (path, *digest))
    }
}

impl FromIterator<(ResourcePath, Digest)> for FileDigests {
    fn from_iter<T: IntoIterator<Item = (ResourcePath, Digest)>>(files: T) -> Self {
        Self(files.into_iter().collect())
    }
}

/// Returns the digest of everything in a skill, that of its [`FileDigests`]. Reads every file.
///
/// # Errors
///
/// Fails if a file or folder cannot be read, a file keeps changing, or the skill has more than 10,000 files, 256 MiB or 64 levels
/// of folders. A digest of a part would not tell that the rest changed.
///
/// ```
/// use skillfold_core::load::skill_digest;
/// use skillfold_core::source::Folder;
/// use skillfold_core::MemorySource;
///
/// let digest = |text: &str| {
///     let source = MemorySource::new([("pdf/SKILL.md", text), ("pdf/forms.md", "Forms")]);
///     skill_digest(&source, &Folder::new("pdf").unwrap())
/// };
/// assert_eq!(digest("one")?, digest("one")?);
/// assert_ne!(digest("one")?, digest("two")?);
/// # Ok::<(), skillfold_core::Error>(())
/// ```
pub fn skill_digest(source: &dyn Source, folder: &Folder) -> Result<Digest, Error> {
    Ok(combined_digest(&file_digests(source, folder)?))
}

/// A file of a skill, with the digest of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDigest {
    /// The path inside the skill.
    pub path: ResourcePath,
    /// The size in bytes.
    pub size: u64,
    /// The digest of the content.
    pub digest: Digest,
}

/// Returns every file of a skill with its digest. Reads every file.
///
/// # Errors
///
/// Those of [`skill_digest`].
pub fn file_digests(source: &dyn Source, folder: &Folder) -> Result<Vec<FileDigest>, Error> {
    let mut bytes_left = MAX_BYTES;
    let paths = list_paths(source, folder)?.into_iter();
    paths
        .map(|path| {
            let before = bytes_left;
            let digest = file_digest(source, folder, &path, &mut bytes_left)?;
            let size = before - bytes_left;
            Ok(FileDigest { path, size, digest })
        })
        .collect()
}

/// Returns the digest of a skill with these files: the one that [`skill_digest`] returns.
pub fn combined_digest(files: &[FileDigest]) -> Digest {
    let files = files.iter();
    let files: FileDigests = files.map(|file| (file.path.clone(), file.digest)).collect();
    files.digest()
}

/// Returns the limits to list all files of a skill with, for its digest or for a copy of it.
pub fn whole_skill_limits() -> Limits {
    Limits::default()
        .with_resources(MAX_FILES + 1)
        .with_resource_depth(MAX_DEPTH)
        .with_walk_entries(10 * MAX_FILES)
}

/// Returns the paths of all files of a skill; fails if some could not be listed.
fn list_paths(source: &dyn Source, folder: &Folder) -> Result<Vec<ResourcePath>, Error> {
    let limits = whole_skill_limits();
    let (mut paths, mut cursor) = (Vec::new(), None);
    loop {
        let page = source.resources(folder, &limits, cursor.as_ref())?;
        page.check_complete(&folder.to_string())?;
        paths.extend(page.files.into_iter().map(|file| file.path));
        if paths.len() > MAX_FILES {
            return Err(too_large(folder));
        }
        // A cursor that does not advance would loop forever.
        if page.next.is_none() || page.next == cursor {
            return Ok(paths);
        }
        cursor = page.next;
    }
}

/// Returns the digest of a file, and takes its size from `bytes_left`.
fn file_digest(
    source: &dyn Source,
    folder: &Folder,
    path: &ResourcePath,
    bytes_left: &mut u64,
) -> Result<Digest, Error> {
    let mut hasher = DigestHasher::default();
    let mut read = 0;
    let mut known: Option<Revision> = None;
    loop {
        let chunk = source.read(folder, path, read..read + CHUNK_BYTES)?;
        let revision = chunk.state.revision;
        if chunk.state.stability == Stability::Changing
            || known.is_some_and(|known| known != revision)
        {
            let rule = "The file kept changing while it was read; try again";
            return Err(Error::refused(path.as_str(), Refusal::Changing, rule));
        }
        known = Some(revision);
        let length = chunk.bytes.len() as u64;
        *bytes_left = bytes_left
            .checked_sub(length)
            .ok_or_else(|| too_large(folder))?;
        hasher.update(&chunk.bytes);
        read += length;
        if length < CHUNK_BYTES {
            return Ok(hasher.finish());
        }
    }
}

fn too_large(folder: &Folder) -> Error {
    let rule = "The skill has more than 10,000 files or 256 MiB";
    Error::refused(folder.to_string(), Refusal::TooLarge, rule)
}
