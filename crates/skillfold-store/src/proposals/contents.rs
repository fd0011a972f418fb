//! Contents by digest: skill files, versions of skills and proposals.
//!
//! A content is written once and never changed. It is returned only if it still matches its digest. Several processes share
//! them; what no version, proposal or lock needs is removed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use skillfold_core::load::{Digest, FileDigests};
use skillfold_core::{Error, ErrorKind};

use serde::{Deserialize, Serialize};
use skillfold_core::text::FormatNumber;

use crate::files::skill_files::SkillFiles;
use crate::files::write_root::{Access, ReadFile, WriteRoot};

/// Maximum size of a content, that of an entire skill.
const MAX_BYTES: u64 = 64 << 20;

const FOLDER: &str = "contents";
/// The folder with a file for each lock that needs contents.
const LOCKS: &str = "locks";
/// Maximum size of such a file: a million skills.
const MAX_LOCK_BYTES: u64 = 128 << 20;

/// The contents in the store's folder.
#[derive(Debug)]
pub(crate) struct Contents<'a>(pub(crate) &'a WriteRoot);

/// The skills that a lock needs.
#[derive(Serialize, Deserialize)]
struct Needed {
    format: FormatNumber<1>,
    /// The lock. Once it is gone, so is the need.
    lock: PathBuf,
    skills: BTreeSet<Digest>,
}

impl Contents<'_> {
    /// Stores a content and returns its digest.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<Digest, Error> {
        let digest = Digest::sha256(bytes);
        let file = path(digest);
        match self.0.create(&file, bytes, Access::Private) {
            Err(error) if error.kind() == ErrorKind::Exists => {
                match self.0.read(&file, MAX_BYTES)? {
                    // Something else changed it.
                    Some(old) if old.bytes() != bytes => {
                        self.0.replace(&file, &old, bytes, Access::Private)?;
                    }
                    // Its writer may have been killed before the name was on disk.
                    _ => self.0.flush_parent(&file)?,
                }
            }
            created => created?,
        }
        Ok(digest)
    }

    /// Returns a content; `None` if it is not stored, or no longer matches its digest.
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

    /// Records the skills that a lock needs, so that their contents are kept.
    pub(crate) fn need(&self, lock: &Path, skills: BTreeSet<Digest>) -> Result<(), Error> {
        let file = needed_file(lock);
        let format = FormatNumber::default();
        let needed = Needed {
            format,
            lock: lock.to_owned(),
            skills,
        };
        let json = serde_json::to_vec(&needed)
            .map_err(|error| Error::write(lock.to_string_lossy(), error.into()))?;
        match self.0.read(&file, MAX_LOCK_BYTES)? {
            // Its writer may have been killed before the name was on disk.
            Some(old) if old.bytes() == json => self.0.flush_parent(&file),
            Some(old) => self.0.replace(&file, &old, &json, Access::Private),
            None => self.0.create(&file, &json, Access::Private),
        }
    }

    /// Returns whether a lock needed a skill when that was last recorded.
    pub(crate) fn is_needed_by(&self, lock: &Path, skill: Digest) -> Result<bool, Error> {
        let file = self.0.read(&needed_file(lock), MAX_LOCK_BYTES)?;
        let needed: Option<Needed> =
            file.and_then(|file| serde_json::from_slice(file.bytes()).ok());
        Ok(needed.is_some_and(|needed| needed.skills.contains(&skill)))
    }

    /// Adds what locks need to `kept`. A lock that is gone needs nothing; `None` if one cannot be read, and so nothing may be
    /// removed.
    pub(crate) fn mark_needed(&self, kept: &mut BTreeSet<Digest>) -> Option<()> {
        for name in self.0.names_in(LOCKS).unwrap_or_default() {
            let path = Path::new(LOCKS).join(name);
            let file = self.0.read(&path, MAX_LOCK_BYTES).ok()??;
            let needed: Needed = serde_json::from_slice(file.bytes()).ok()?;
            if needed.lock.exists() {
                for skill in needed.skills {
                    self.mark_skill(skill, kept);
                }
            } else {
                // If it stays, it is removed the next time.
                _ = self.0.unlink(&path);
            }
        }
        Some(())
    }

    /// Removes contents not in `kept`. One that cannot be removed only wastes space.
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

/// Returns the file that says what a lock needs.
fn needed_file(lock: &Path) -> PathBuf {
    let digest = Digest::sha256(lock.as_os_str().as_encoded_bytes()).to_string();
    Path::new(LOCKS).join(&digest["sha256:".len()..][..32])
}

/// Returns a content's path: its digest, in folders named after the first two digits.
fn path(digest: Digest) -> PathBuf {
    let text = digest.to_string();
    let digits = text.trim_start_matches("sha256:");
    [FOLDER, &digits[..2], &digits[2..]].iter().collect()
}

fn digest_of(path: &Path) -> Option<Digest> {
    let mut names = path.iter().rev();
    let (rest, first): (OsString, OsString) = (names.next()?.into(), names.next()?.into());
    format!("sha256:{}{}", first.to_str()?, rest.to_str()?)
        .parse()
        .ok()
}
