//! A skill's regular files, including hidden ones, and their combined digest. Version control folders are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use skillfold_core::load::{Digest, FileDigests};
use skillfold_core::name::{ResourcePath, is_vcs_name};

use crate::change::FileEdit;
use crate::files::dir::{Dir, Kind, identity};
use crate::files::fault::{CHANGED, WriteFault, WriteResult};
use crate::files::temporary_name::is_temporary;
use crate::files::write_root::{ReadFile, missing_to_changed};

/// Maximum total size of a skill's files.
pub(crate) const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of entries in a skill's folder, including hidden ones.
pub(crate) const MAX_ENTRIES: usize = 10_000;
/// How often to read a folder whose files are being replaced.
const MAX_TRIES: usize = 10;
/// Maximum folder depth, including hidden folders.
pub(crate) const MAX_DEPTH: usize = 64;

pub(crate) const TOO_LARGE: &str =
    "The skill has more than 64 MiB or 10,000 files; changes to such a skill cannot be stored";
const LINK_INSIDE: &str =
    "A file of the skill is a link, which cannot be stored; replace it with the file itself";
const ODD_NAME: &str = "A file's name is not valid on other systems; rename it first";
pub(crate) const NOT_A_FILE_INSIDE: &str =
    "The skill has something that is neither a file nor a folder; remove it first";

/// A skill's files as read from disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFiles {
    pub(crate) files: BTreeMap<ResourcePath, ReadFile>,
}

impl FromIterator<(ResourcePath, Vec<u8>)> for SkillFiles {
    fn from_iter<T: IntoIterator<Item = (ResourcePath, Vec<u8>)>>(files: T) -> Self {
        let files = files.into_iter();
        let files = files.map(|(path, bytes)| (path, ReadFile::new(bytes, None)));
        Self {
            files: files.collect(),
        }
    }
}

impl SkillFiles {
    /// Returns the files' paths and contents, ordered by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.files.iter();
        files.map(|(path, file)| (path.as_str(), file.bytes()))
    }

    /// Returns whether there are no files: the skill does not exist yet.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns a file's content.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(ReadFile::bytes)
    }

    /// Returns the skill's digest.
    pub fn digest(&self) -> Digest {
        self.digests().digest()
    }

    /// Returns each file's digest.
    pub(crate) fn digests(&self) -> FileDigests {
        let files = self.files.iter();
        files
            .map(|(path, file)| (path.clone(), Digest::sha256(file.bytes())))
            .collect()
    }

    /// Returns the files with the edits applied.
    #[must_use]
    pub fn edited(&self, edits: &[FileEdit]) -> Self {
        let mut files = self.files.clone();
        for edit in edits {
            match &edit.new {
                Some(bytes) => {
                    let file = ReadFile::new(bytes.clone(), None);
                    files.insert(edit.path.clone(), file);
                }
                None => _ = files.remove(&edit.path),
            }
        }
        Self { files }
    }

    /// Returns the edits that turn these files into `other`.
    pub fn edits_to(&self, other: &Self) -> Vec<FileEdit> {
        let mut edits = Vec::new();
        let paths: BTreeSet<&ResourcePath> = self.files.keys().chain(other.files.keys()).collect();
        for path in paths {
            let (old, new) = (self.get(path.as_str()), other.get(path.as_str()));
            if old != new {
                edits.push(FileEdit {
                    path: path.clone(),
                    old: old.map(<[u8]>::to_vec),
                    new: new.map(<[u8]>::to_vec),
                });
            }
        }
        edits
    }

    /// Reads a folder's files. Starts over if a listed file is gone, since editors replace files when they save.
    pub(crate) fn read(folder: &Dir) -> WriteResult<Self> {
        let mut tries = 0;
        loop {
            let mut files = Self::default();
            let mut left = (MAX_ENTRIES, MAX_BYTES);
            tries += 1;
            match files.read_below(folder, "", &mut left) {
                Ok(()) => return Ok(files),
                Err(fault) if fault.is_missing() && tries < MAX_TRIES => {}
                Err(fault) => return Err(missing_to_changed(fault)),
            }
        }
    }

    fn read_below(
        &mut self,
        folder: &Dir,
        prefix: &str,
        left: &mut (usize, u64),
    ) -> WriteResult<()> {
        if prefix.matches('/').count() > MAX_DEPTH {
            return Err(WriteFault::Refused(TOO_LARGE));
        }
        for name in folder.names_with_prefix("")? {
            left.0 = left
                .0
                .checked_sub(1)
                .ok_or(WriteFault::Refused(TOO_LARGE))?;
            // A temporary file may still be locked for a moment after its writer was killed.
            if is_temporary(&name) || name.to_str().is_some_and(is_vcs_name) {
                continue;
            }
            let path = name.to_str().map(|name| format!("{prefix}{name}"));
            let path = path.and_then(|path| path.parse::<ResourcePath>().ok());
            let path = path.ok_or(WriteFault::Refused(ODD_NAME))?;
            match folder.stat(&name)?.map(|found| found.kind) {
                Some(Kind::Folder) => {
                    let inner = folder.open_subfolder(&name)?;
                    self.read_below(&inner, &format!("{path}/"), left)?;
                }
                Some(Kind::File) => {
                    let handle = folder.open_read(&name)?;
                    let mut bytes = Vec::new();
                    (&handle).take(left.1 + 1).read_to_end(&mut bytes)?;
                    let size = bytes.len() as u64;
                    left.1 = left
                        .1
                        .checked_sub(size)
                        .ok_or(WriteFault::Refused(TOO_LARGE))?;
                    let metadata = handle.metadata()?;
                    if !metadata.is_file() {
                        return Err(WriteFault::Refused(CHANGED));
                    }
                    let file = ReadFile::new(bytes, identity(&metadata));
                    self.files.insert(path, file);
                }
                // Links are not part of the skill, but a visible one may have been meant to be, so it is refused.
                Some(Kind::Link) if path.components().any(|name| name.starts_with('.')) => {}
                Some(Kind::Link) => return Err(WriteFault::Refused(LINK_INSIDE)),
                Some(Kind::Other) => return Err(WriteFault::Refused(NOT_A_FILE_INSIDE)),
                // Removed after it was listed.
                None => {}
            }
        }
        Ok(())
    }
}
