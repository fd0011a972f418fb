//! Content-addressed objects: skill files, skill versions and proposals.
//!
//! An object is written once and never changed. It is returned only if it still matches its digest.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use skillfold_core::load::{Digest, FileDigests};
use skillfold_core::{Error, ErrorKind};

use crate::files::skill_files::SkillFiles;
use crate::files::write_root::{Access, ReadFile, WriteRoot};

/// Maximum size of an object, that of an entire skill.
const MAX_BYTES: u64 = 64 << 20;

const FOLDER: &str = "objects";

/// The objects in the store's folder.
#[derive(Debug)]
pub(crate) struct Objects<'a>(pub(crate) &'a WriteRoot);

impl Objects<'_> {
    /// Stores an object and returns its digest.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<Digest, Error> {
        let digest = Digest::sha256(bytes);
        match self.0.create(&path(digest), bytes, Access::Private) {
            // Its writer may have been killed before the name was on disk.
            Err(error) if error.kind() == ErrorKind::Exists => {
                self.0.flush_parent(&path(digest))?;
            }
            created => created?,
        }
        Ok(digest)
    }

    /// Returns an object; `None` if it is not stored, or no longer matches its digest.
    pub(crate) fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, Error> {
        let file = self.0.read(&path(digest), MAX_BYTES)?;
        let bytes = file.map(ReadFile::into_bytes);
        Ok(bytes.filter(|bytes| Digest::sha256(bytes) == digest))
    }

    /// Stores a version of a skill and returns its digest.
    pub(crate) fn put_skill(&self, files: &SkillFiles) -> Result<Digest, Error> {
        for (_, bytes) in files.iter() {
            self.put(bytes)?;
        }
        self.put(&files.digests().to_bytes())
    }

    /// Returns a version of a skill; `None` if it is not stored completely.
    pub(crate) fn get_skill(&self, digest: Digest) -> Result<Option<SkillFiles>, Error> {
        let list = self.get(digest)?;
        let Some(list) = list.and_then(|list| FileDigests::from_bytes(&list)) else {
            return Ok(None);
        };
        let mut files = SkillFiles::default();
        for (path, digest) in list.iter() {
            let Some(bytes) = self.get(digest)? else {
                return Ok(None);
            };
            let file = ReadFile::new(bytes, None);
            files.files.insert(path.clone(), file);
        }
        Ok(Some(files))
    }

    /// Adds the digests of a version's files to `kept`.
    pub(crate) fn mark_skill(&self, digest: Digest, kept: &mut BTreeSet<Digest>) {
        kept.insert(digest);
        if let Ok(Some(list)) = self.get(digest) {
            let list = FileDigests::from_bytes(&list).unwrap_or_default();
            kept.extend(list.iter().map(|(_, digest)| digest));
        }
    }

    /// Removes objects not in `kept`. One that cannot be removed only wastes space.
    pub(crate) fn retain(&self, kept: &BTreeSet<Digest>) -> usize {
        let mut removed = 0;
        for folder in self.0.names_in(FOLDER).unwrap_or_default() {
            let folder = PathBuf::from(FOLDER).join(folder);
            for name in self.0.names_in(&folder).unwrap_or_default() {
                let is_kept = digest_of(&folder.join(&name)).is_none_or(|it| kept.contains(&it));
                if !is_kept && self.0.unlink(&folder.join(&name)).is_ok() {
                    removed += 1;
                }
            }
        }
        removed
    }
}

/// Returns an object's path: its digest, in folders named after the first two digits.
fn path(digest: Digest) -> PathBuf {
    let text = digest.to_string();
    let digits = text.trim_start_matches("sha256:");
    [FOLDER, &digits[..2], &digits[2..]].iter().collect()
}

fn digest_of(path: &std::path::Path) -> Option<Digest> {
    let mut names = path.iter().rev();
    let (rest, first): (OsString, OsString) = (names.next()?.into(), names.next()?.into());
    format!("sha256:{}{}", first.to_str()?, rest.to_str()?)
        .parse()
        .ok()
}
