//! An in-memory source that calls a function before each read, and skills with a built index.

use std::fmt;
use std::ops::Range;
use std::thread;

use skillfold::Skills;
use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ResourceKind, Resources, WalkOptions,
};
use skillfold::core::{Error, Limits, MemorySource, Source};
use skillfold_testkit::files;

/// An in-memory source that calls a function before each read.
pub(crate) struct ObservedSource {
    files: MemorySource,
    on_read: Box<dyn Fn() + Send + Sync>,
}

impl ObservedSource {
    pub(crate) fn new(tree: &str, on_read: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            files: MemorySource::new(files(tree)),
            on_read: Box::new(on_read),
        }
    }
}

impl fmt::Debug for ObservedSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ObservedSource")
            .finish_non_exhaustive()
    }
}

impl Source for ObservedSource {
    fn list(&self, walk: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        self.files.list(walk, cursor)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        self.files.head(folder, bytes, into)
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        (self.on_read)();
        self.files.read(folder, path, range)
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        self.files.resources(folder, limits, cursor)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        self.files.kind(folder, path)
    }
}

/// Returns skills with a built search index, so that no response says it is missing.
pub(crate) fn indexed(skills: Skills) -> Skills {
    skills.prepare_search();
    while !skills.is_search_prepared() {
        thread::yield_now();
    }
    skills
}
