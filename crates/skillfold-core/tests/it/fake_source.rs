//! A source whose files and revisions a test chooses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold_core::catalog::Refreshed;
use skillfold_core::name::ResourcePath;
use skillfold_core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ListedFolder, ResourceKind, Resources,
    Revision, Stability, WalkOptions,
};
use skillfold_core::{Catalog, CatalogOptions, Error, Limits, Root, Scope, Source};

pub(crate) const SECOND: i64 = 1_000_000_000;
/// The time of the first look; files are a minute older unless a test says otherwise.
pub(crate) const NOW: i64 = 1_000 * SECOND;

/// A source whose files and revisions a test chooses, and which counts how often a file is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeSource(pub(crate) Arc<Mutex<Held>>);

#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) files: BTreeMap<String, File>,
    reads: usize,
    /// How often the state of a file was looked at without reading it.
    looks: usize,
    /// What happens to a file after it was listed and before it is read.
    pub(crate) between: Option<(String, File)>,
}

#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) text: String,
    pub(crate) revision: FileRevision,
    pub(crate) steadiness: Stability,
}

impl File {
    /// A skill `folder` with a description, last changed a minute before the first look.
    pub(crate) fn new(folder: &str, description: &str) -> Self {
        let text = format!("---\nname: {folder}\ndescription: {description}\n---\n");
        let revision = FileRevision {
            device: 1,
            inode: 7,
            size: text.len() as u64,
            modified_ns: NOW - 60 * SECOND,
            changed_ns: NOW - 60 * SECOND,
        };
        Self {
            text,
            revision,
            steadiness: Stability::Stable,
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut FileRevision)) -> Self {
        change(&mut self.revision);
        self
    }
}

/// The parts of a revision, for tests to change one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRevision {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
}

impl FileRevision {
    pub(crate) fn revision(self) -> Revision {
        Revision::new(self.size)
            .with_inode(self.device, self.inode)
            .with_modified(at(self.modified_ns))
            .with_changed(at(self.changed_ns))
    }
}

/// Returns a time from nanoseconds since 1970.
pub(crate) fn at(nanoseconds: i64) -> SystemTime {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 {
        UNIX_EPOCH - distance
    } else {
        UNIX_EPOCH + distance
    }
}

impl FakeSource {
    pub(crate) fn put(&self, folder: &str, file: File) {
        self.0.lock().unwrap().files.insert(folder.to_owned(), file);
    }

    pub(crate) fn remove(&self, folder: &str) {
        self.0.lock().unwrap().files.remove(folder);
    }

    /// Returns how many files were read since the last time.
    pub(crate) fn reads(&self) -> usize {
        std::mem::take(&mut self.0.lock().unwrap().reads)
    }

    /// Returns how often the state of a file was looked at without reading it, since the last time.
    pub(crate) fn looks(&self) -> usize {
        std::mem::take(&mut self.0.lock().unwrap().looks)
    }

    pub(crate) fn roots(&self) -> Vec<Root> {
        vec![Root::new(Scope::User, "told", self.clone())]
    }

    pub(crate) fn discover(&self, now_ns: i64) -> Catalog {
        Catalog::discover(self.roots(), CatalogOptions::default(), at(now_ns))
    }

    pub(crate) fn refresh(&self, catalog: &Catalog, now_ns: i64) -> Refreshed {
        catalog.refresh(self.roots(), CatalogOptions::default(), at(now_ns))
    }
}

impl Source for FakeSource {
    fn list(&self, _: &WalkOptions, _: Option<&Cursor>) -> Result<FolderPage, Error> {
        let mut listing = FolderPage::default();
        for (folder, file) in &self.0.lock().unwrap().files {
            let folder = Folder::new(folder.as_str()).unwrap();
            listing
                .folders
                .push(ListedFolder::new(folder, file.revision.revision()));
        }
        Ok(listing)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let mut inner = self.0.lock().unwrap();
        if let Some((folder, file)) = inner.between.take() {
            inner.files.insert(folder, file);
        }
        inner.reads += 1;
        let file = inner.files.get(folder.path());
        let file = file.ok_or_else(|| Error::not_found(folder.path()))?;
        into.extend_from_slice(&file.text.as_bytes()[..bytes.min(file.text.len())]);
        Ok(FileState::new(file.revision.revision(), file.steadiness))
    }

    fn location(&self) -> Option<&Path> {
        Some(Path::new("told"))
    }

    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        let mut inner = self.0.lock().unwrap();
        inner.looks += 1;
        let file = inner.files.get(folder.path());
        let file = file.ok_or_else(|| Error::not_found(folder.path()))?;
        Ok(file.revision.revision())
    }

    fn read(&self, folder: &Folder, _: &ResourcePath, _: Range<u64>) -> Result<FileBytes, Error> {
        Err(Error::not_found(folder.path()))
    }

    fn resources(
        &self,
        folder: &Folder,
        _: &Limits,
        _: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        Err(Error::not_found(folder.path()))
    }

    fn kind(&self, folder: &Folder, _: &ResourcePath) -> Result<ResourceKind, Error> {
        Err(Error::not_found(folder.path()))
    }
}
