//! A snapshot of a skill's files: what runs is what was reviewed.

use std::collections::BTreeMap;
use std::fmt;

use skillfold_core::load::{Digest, FileDigests, whole_skill_limits};
use skillfold_core::name::ResourcePath;
use skillfold_core::source::{Finding, Folder, Stability};
use skillfold_core::{Error, Refusal, Source};

/// Maximum number of files in a skill that is run.
const MAX_FILES: usize = 10_000;

/// Maximum total size of a skill that is run.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A skill's files in memory. A run gets these bytes, whatever happens to the folder meanwhile.
///
/// Files that start with `#!` and ELF programs are executable in the sandbox; the modes on disk do not matter, since
/// the approved digest does not cover them.
///
/// ```
/// use skillfold_core::MemorySource;
/// use skillfold_core::source::Folder;
/// use skillfold_run::SkillCopy;
///
/// let source = MemorySource::new([
///     ("pdf/SKILL.md", "---\nname: pdf\ndescription: Fills in forms\n---\n"),
///     ("pdf/scripts/fill.py", "print('ok')\n"),
/// ]);
/// let copy = SkillCopy::read(&source, &Folder::new("pdf")?)?;
/// assert_eq!(copy.paths().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SkillCopy {
    files: BTreeMap<ResourcePath, Box<[u8]>>,
    skipped: Vec<Finding>,
}

impl SkillCopy {
    /// Creates a copy from files in memory.
    ///
    /// # Errors
    ///
    /// Fails if the skill has more than 10,000 files or 64 MiB, or if one path is both a file and a folder.
    pub fn new(files: impl IntoIterator<Item = (ResourcePath, Vec<u8>)>) -> Result<Self, Error> {
        let mut copy = Self {
            files: BTreeMap::new(),
            skipped: Vec::new(),
        };
        let mut bytes = 0;
        for (path, content) in files {
            bytes += content.len() as u64;
            copy.insert(path, content, bytes)?;
        }
        copy.check_folders()?;
        Ok(copy)
    }

    /// Reads a skill's files from its source, through handles.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be listed or read or keeps changing, or if the skill has more than 10,000 files or 64
    /// MiB.
    pub fn read(source: &dyn Source, folder: &Folder) -> Result<Self, Error> {
        let limits = whole_skill_limits();
        let mut copy = Self::new([])?;
        let (mut cursor, mut bytes) = (None, 0);
        loop {
            let page = source.resources(folder, &limits, cursor.as_ref())?;
            page.check_complete(&folder.to_string())?;
            copy.skipped.extend(page.findings);
            for file in page.files {
                let content = read_entire_file(source, folder, &file.path, MAX_BYTES - bytes)?;
                bytes += content.len() as u64;
                copy.insert(file.path, content, bytes)?;
            }
            // A cursor that does not advance would loop forever.
            if page.next.is_none() || page.next == cursor {
                copy.check_folders()?;
                return Ok(copy);
            }
            cursor = page.next;
        }
    }

    /// Returns the copy's digest, equal to [`skill_digest`](skillfold_core::load::skill_digest) of what was read.
    pub fn content_digest(&self) -> Digest {
        let files = self.files.iter();
        let files: FileDigests = files
            .map(|(path, bytes)| (path.clone(), Digest::sha256(bytes)))
            .collect();
        files.digest()
    }

    /// Returns a file's bytes.
    pub fn file(&self, path: &ResourcePath) -> Option<&[u8]> {
        self.files.get(path).map(|bytes| &**bytes)
    }

    /// Returns the paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &ResourcePath> {
        self.files.keys()
    }

    /// Returns what the source skipped, such as links; a run does not get it.
    pub fn skipped(&self) -> &[Finding] {
        &self.skipped
    }

    /// Returns every file with its bytes and whether it is executable in the sandbox.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&ResourcePath, &[u8], Executable)> {
        self.files.iter().map(|(path, bytes)| {
            let executable = if bytes.starts_with(b"#!") || bytes.starts_with(b"\x7fELF") {
                Executable::Yes
            } else {
                Executable::No
            };
            (path, &**bytes, executable)
        })
    }

    fn insert(&mut self, path: ResourcePath, content: Vec<u8>, bytes: u64) -> Result<(), Error> {
        if bytes > MAX_BYTES || self.files.len() >= MAX_FILES {
            let rule = "A skill that runs scripts has at most 10,000 files and 64 MiB";
            return Err(Error::refused(path.as_str(), Refusal::TooLarge, rule));
        }
        self.files.insert(path, content.into_boxed_slice());
        Ok(())
    }

    /// Refuses a path that is both a file and another file's folder.
    fn check_folders(&self) -> Result<(), Error> {
        for path in self.files.keys() {
            let mut rest = path.as_str();
            while let Some((folder, _)) = rest.rsplit_once('/') {
                if self.files.contains_key(folder) {
                    return Err(Error::invalid(folder, "it is both a file and a folder"));
                }
                rest = folder;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SkillCopy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SkillCopy")
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

/// Whether a file is executable in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executable {
    Yes,
    No,
}

/// Reads an entire file of at most `max_bytes` bytes.
fn read_entire_file(
    source: &dyn Source,
    folder: &Folder,
    path: &ResourcePath,
    max_bytes: u64,
) -> Result<Vec<u8>, Error> {
    let read = source.read(folder, path, 0..max_bytes.saturating_add(1))?;
    if read.state.stability == Stability::Changing {
        let rule = "A file that keeps changing cannot be run";
        return Err(Error::refused(path.as_str(), Refusal::Changing, rule));
    }
    Ok(read.bytes)
}
