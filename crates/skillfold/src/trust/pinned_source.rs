//! A source that gives only what a pinned folder was trusted with. Whatever is read is checked against its digest, so that a
//! change that no refresh has noticed yet is not given to anybody.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::load::{DigestHasher, FileDigest};
use skillfold_core::name::ResourcePath;
use skillfold_core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ListedFolder, ResourceKind, Resources,
    Revision, SKILL_FILE, ScannedFolder, SkillLayout, WalkOptions, WalkReport,
};
use skillfold_core::{Error, Limits, Refusal, Source};

/// Why something is refused that is not as it was pinned.
const NOT_PINNED: &str = "It changed since the folder was trusted; review the change, and run `skillfold trust --pin` again";

/// Bytes that are read at once, so that a large file is not held in memory.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// The files of the pinned skills of one source, by folder.
pub(crate) type PinnedFiles = HashMap<Box<str>, HashMap<ResourcePath, FileDigest>>;

/// Reads from another source, and refuses what is not as it was pinned.
#[derive(Debug)]
pub(crate) struct PinnedSource {
    inner: Arc<dyn Source>,
    files: PinnedFiles,
}

impl PinnedSource {
    pub(crate) fn new(inner: Arc<dyn Source>, files: PinnedFiles) -> Self {
        Self { inner, files }
    }

    fn pinned(&self, folder: &Folder, path: &ResourcePath) -> Result<&FileDigest, Error> {
        let files = self.files.get(folder.path());
        files
            .and_then(|files| files.get(path))
            .ok_or_else(|| not_pinned(folder, path.as_str()))
    }
}

fn not_pinned(folder: &Folder, path: &str) -> Error {
    Error::refused(format!("{folder}/{path}"), Refusal::Untrusted, NOT_PINNED)
}

impl Source for PinnedSource {
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        self.inner.list(options, cursor)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let path = SKILL_FILE
            .parse()
            .map_err(|_| Error::not_found(SKILL_FILE))?;
        let read = self.read(folder, &path, 0..bytes as u64)?;
        into.extend(read.bytes);
        Ok(read.state)
    }

    fn scan(
        &self,
        options: &WalkOptions,
        bytes: usize,
        found: &mut dyn FnMut(ScannedFolder<'_>),
    ) -> Result<WalkReport, Error> {
        let mut buffer = Vec::new();
        self.inner.survey(options, &mut |listed| {
            buffer.clear();
            let state = self.head(&listed.folder, bytes, &mut buffer);
            found(ScannedFolder::new(listed, state, &buffer));
        })
    }

    fn survey(
        &self,
        options: &WalkOptions,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Result<WalkReport, Error> {
        self.inner.survey(options, found)
    }

    fn survey_at(
        &self,
        options: &WalkOptions,
        path: &str,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Option<WalkReport> {
        self.inner.survey_at(options, path, found)
    }

    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        self.inner.revision(folder)
    }

    /// Reads the whole file, whatever the range is: only all of it has a digest. Keeps only the range.
    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        let pinned = self.pinned(folder, path)?;
        let mut hasher = DigestHasher::default();
        let (mut kept, mut at) = (Vec::new(), 0);
        loop {
            // One byte more than was pinned reveals that the file grew.
            let until = pinned.size.saturating_add(1).min(at + CHUNK_BYTES);
            let FileBytes { bytes, state, .. } = self.inner.read(folder, path, at..until)?;
            let in_chunk = |position: u64| {
                let position = usize::try_from(position.saturating_sub(at)).unwrap_or(usize::MAX);
                position.min(bytes.len())
            };
            let (start, end) = (in_chunk(range.start), in_chunk(range.end));
            kept.extend_from_slice(&bytes[start.min(end)..end]);
            hasher.update(&bytes);
            let is_whole = (bytes.len() as u64) < until - at;
            at += bytes.len() as u64;
            if is_whole && at == pinned.size && hasher.clone().finish() == pinned.digest {
                return Ok(FileBytes::new(kept, state));
            }
            if is_whole || at > pinned.size {
                return Err(not_pinned(folder, path.as_str()));
            }
        }
    }

    /// Refuses a skill that has other files. Their names alone would be given to a model.
    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        let page = self.inner.resources(folder, limits, cursor)?;
        for file in &page.files {
            self.pinned(folder, &file.path)?;
        }
        Ok(page)
    }

    fn location(&self) -> Option<&Path> {
        self.inner.location()
    }

    fn layout(&self) -> SkillLayout {
        self.inner.layout()
    }

    fn file_path(&self, folder: &Folder) -> Option<PathBuf> {
        self.inner.file_path(folder)
    }

    fn real_path(&self, folder: &Folder) -> Option<PathBuf> {
        self.inner.real_path(folder)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        self.inner.kind(folder, path)
    }
}
