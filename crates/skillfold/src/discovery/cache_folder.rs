//! What is in the user's cache folder, and how to empty it.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use skillfold_core::Error;

/// The parts of a cache folder, and what each is for. Nothing else in the folder is counted or deleted.
const PARTS: [(&str, &str); 4] = [
    ("git", "copies of repositories that skills come from"),
    ("metadata", "names and descriptions, for a quick start"),
    ("search", "search indexes"),
    ("vectors", "embeddings of skills"),
];

/// A part of the cache folder.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "CachePartView")]
#[non_exhaustive]
pub struct CachePart {
    /// The name of its folder.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The number of its files.
    pub files: usize,
    /// The bytes of its files.
    pub bytes: u64,
}

/// Returns what is in a [cache folder](crate::Environment::cache_folder).
pub fn cache_parts(folder: &Path) -> Result<Vec<CachePart>, Error> {
    let parts = PARTS.into_iter().map(|(name, description)| {
        let mut part = CachePart {
            name,
            description,
            files: 0,
            bytes: 0,
        };
        let path = folder.join(name);
        count_files(&path, &mut part)
            .map_err(|error| Error::read(path.to_string_lossy(), error))?;
        Ok(part)
    });
    parts.collect()
}

/// Deletes what is in a cache folder, and returns what that was. A running program goes on with what it has open, and
/// writes it again when it needs it.
pub fn clean_cache(folder: &Path) -> Result<Vec<CachePart>, Error> {
    let parts = cache_parts(folder)?;
    for part in &parts {
        let path = folder.join(part.name);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::write(path.to_string_lossy(), error));
            }
            _ => {}
        }
    }
    Ok(parts)
}

#[expect(
    clippy::disallowed_methods,
    reason = "it looks at the engine's own files, and follows no link"
)]
fn count_files(folder: &Path, part: &mut CachePart) -> io::Result<()> {
    let is_folder = folder.symlink_metadata().is_ok_and(|it| it.is_dir());
    if !is_folder {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => count_files(&entry.path(), part)?,
            Ok(metadata) => count(&metadata, part),
            // Another process may have deleted it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn count(metadata: &Metadata, part: &mut CachePart) {
    part.files += 1;
    part.bytes += metadata.len();
}
