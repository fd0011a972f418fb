//! A source that counts what is asked of it.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ResourceKind, Resources, WalkOptions,
};
use skillfold::core::{Error, Limits, MemorySource, Source};
use skillfold::{Environment, Host};

/// Files in memory, and how often they were asked for. A clone counts together with it.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    source: Arc<MemorySource>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    lists: AtomicUsize,
    reads: AtomicUsize,
    looks: AtomicUsize,
    bytes: AtomicUsize,
    /// Held by a test to let scans wait.
    scans: Mutex<()>,
}

/// What was asked for since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Folders were listed.
    pub(crate) lists: usize,
    /// Something of a file was read.
    pub(crate) reads: usize,
    /// The state of a file was looked at.
    pub(crate) looks: usize,
    /// Bytes of files that were read.
    pub(crate) bytes: usize,
}

impl Counting {
    /// Counts what is asked of skills, each with its fields and its instructions.
    pub(crate) fn new<'a>(skills: impl IntoIterator<Item = (&'a str, String, String)>) -> Self {
        let files = skills.into_iter().map(|(name, fields, body)| {
            let text = format!("---\nname: {name}\n{fields}\n---\n{body}");
            (format!("{name}/SKILL.md"), text)
        });
        Self {
            source: Arc::new(MemorySource::new(files)),
            counts: Arc::default(),
        }
    }

    pub(crate) fn host(&self) -> Host {
        Host::new(Environment::new("/nowhere")).bundled("counted", self.clone())
    }

    /// Lets scans wait until the result is dropped.
    pub(crate) fn hold_scans(&self) -> MutexGuard<'_, ()> {
        self.counts.scans.lock().unwrap()
    }

    pub(crate) fn asked(&self) -> Asked {
        let take = |counter: &AtomicUsize| counter.swap(0, Ordering::Relaxed);
        Asked {
            lists: take(&self.counts.lists),
            reads: take(&self.counts.reads),
            looks: take(&self.counts.looks),
            bytes: take(&self.counts.bytes),
        }
    }
}

fn add(counter: &AtomicUsize, number: usize) {
    counter.fetch_add(number, Ordering::Relaxed);
}

impl Source for Counting {
    fn list(&self, walk: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        add(&self.counts.lists, 1);
        drop(self.hold_scans());
        self.source.list(walk, cursor)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let counter = match bytes {
            0 => &self.counts.looks,
            _ => &self.counts.reads,
        };
        add(counter, 1);
        let before = into.len();
        let state = self.source.head(folder, bytes, into)?;
        add(&self.counts.bytes, into.len() - before);
        Ok(state)
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        add(&self.counts.reads, 1);
        let content = self.source.read(folder, path, range)?;
        add(&self.counts.bytes, content.bytes.len());
        Ok(content)
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        add(&self.counts.lists, 1);
        self.source.resources(folder, limits, cursor)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        add(&self.counts.looks, 1);
        self.source.kind(folder, path)
    }
}
