//! Skills in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::codes::Code;
use crate::error::Error;
use crate::limits::Limits;
use crate::name::{ResourcePath, is_vcs_name};
use crate::source::fs::join;
use crate::source::{
    Cursor, FileBytes, FileState, Finding, Folder, FolderPage, ListedFolder, Resource,
    ResourceKind, Resources, Revision, SKILL_FILE, Source, WalkOptions,
};

/// A source whose files are in memory, for bundled skills and tests. Clones share their files, so that a program can add
/// some after discovery: they are found by the next refresh.
///
/// ```
/// use skillfold_core::MemorySource;
/// use skillfold_core::read::{ReadOptions, discover};
///
/// let source = MemorySource::new([("pdf/SKILL.md", "---\nname: pdf\ndescription: Fills in forms\n---\n")]);
/// let found = discover(&[&source], &ReadOptions::default());
/// assert_eq!(found.skills[0].manifest.name().as_str(), "pdf");
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemorySource {
    files: Arc<RwLock<Files>>,
}

/// The files by path.
type Files = BTreeMap<Box<str>, Arc<[u8]>>;

impl MemorySource {
    /// Creates a source from paths and contents: `folder/SKILL.md`, `folder/references/more.md`.
    pub fn new<P: Into<Box<str>>, B: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Self {
        let files = files
            .into_iter()
            .map(|(path, bytes)| (path.into(), bytes.into().into()));
        Self {
            files: Arc::new(RwLock::new(files.collect())),
        }
    }

    /// Adds a file, or replaces the one at its path.
    pub fn insert(&self, path: impl Into<Box<str>>, bytes: impl Into<Vec<u8>>) {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.into(), bytes.into().into());
    }

    /// Returns whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files().is_empty()
    }

    fn files(&self) -> RwLockReadGuard<'_, Files> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, folder: &Folder, path: &str) -> Result<Arc<[u8]>, Error> {
        let full = join(folder.path(), path);
        let file = self.files().get(&*full).cloned();
        file.ok_or_else(|| Error::not_found(full))
    }
}

/// Returns the folder of a `SKILL.md` path.
fn skill_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix(SKILL_FILE)?;
    if folder.is_empty() {
        Some(folder)
    } else {
        folder.strip_suffix('/')
    }
}

/// Returns the size and a hash of the content as its revision; files in memory have no timestamps.
fn revision(bytes: &[u8]) -> Revision {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    Revision::new(bytes.len() as u64).with_inode(0, hasher.finish())
}

impl Source for MemorySource {
    /// Lists all folders: the host put them there, so none is skipped because of its name or depth.
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let files = self.files();
        let skill_files = files
            .iter()
            .filter_map(|(path, bytes)| Some((skill_folder(path)?, bytes)));
        let mut skills: Vec<_> = skill_files.collect();
        skills.sort_by_key(|(folder, _)| *folder);
        let all: BTreeSet<_> = skills.iter().map(|(folder, _)| *folder).collect();
        let (mut folders, mut findings): (Vec<ListedFolder>, Vec<Finding>) =
            (Vec::new(), Vec::new());
        for (path, bytes) in skills {
            // A skill inside a skill is a file of the outer one, as on disk.
            let mut parents = path
                .match_indices('/')
                .map(|(at, _)| &path[..at])
                .chain((!path.is_empty()).then_some(""));
            if parents.any(|parent| all.contains(parent)) {
                continue;
            }
            let folder = if path.is_empty() {
                Ok(Folder::root(""))
            } else {
                Folder::new(path)
            };
            match folder {
                Ok(folder) => folders.push(ListedFolder::new(folder, revision(bytes))),
                Err(error) => {
                    findings.push(Finding::new(Code::FolderName, path, &format!("{error}:")));
                }
            }
        }
        if folders.len() > options.limits.skills {
            folders.truncate(options.limits.skills);
            let bound = format!("Listing stopped after {} skills of", options.limits.skills);
            findings.push(Finding::new(Code::BoundReached, "", &bound));
        }
        if let Some(cursor) = cursor {
            folders.retain(|listed| listed.folder.path() > cursor.as_str());
            findings.clear();
        }
        let next = (folders.len() > options.page.max(1)).then(|| {
            folders.truncate(options.page.max(1));
            Cursor::after(folders.last().map_or("", |last| last.folder.path()))
        });
        Ok(FolderPage {
            folders,
            findings,
            next,
        })
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let file = self.file(folder, SKILL_FILE)?;
        into.extend_from_slice(&file[..bytes.min(file.len())]);
        Ok(FileState::stable(revision(&file)))
    }

    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        Ok(revision(&self.file(folder, SKILL_FILE)?))
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        let file = self.file(folder, path.as_str())?;
        let clamp = |offset: u64| {
            usize::try_from(offset)
                .unwrap_or(usize::MAX)
                .min(file.len())
        };
        let (start, end) = (clamp(range.start), clamp(range.end));
        Ok(FileBytes::new(
            file[start..end.max(start)].to_vec(),
            FileState::stable(revision(&file)),
        ))
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        let prefix = join(folder.path(), "");
        let mut resources = Resources::default();
        for (path, bytes) in &*self.files() {
            let Some(path) = path
                .strip_prefix(&*prefix)
                .filter(|path| cursor.is_none_or(|cursor| *path > cursor.as_str()))
            else {
                continue;
            };
            if resources.files.len() == limits.resources.max(1) {
                resources.next = resources
                    .files
                    .last()
                    .map(|last| Cursor::after(last.path.as_str()));
                break;
            }
            match path.parse() {
                Ok(path) => resources
                    .files
                    .push(Resource::new(path, bytes.len() as u64)),
                Err(error) => {
                    let code = if path.split('/').any(is_vcs_name) {
                        Code::VersionControl
                    } else {
                        Code::FolderName
                    };
                    let finding = Finding::new(code, path, &format!("{error}:"));
                    resources.findings.push(finding);
                }
            }
        }
        Ok(resources)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        let full = join(folder.path(), path.as_str());
        let files = self.files();
        if files.contains_key(&*full) {
            return Ok(ResourceKind::File);
        }
        let below = format!("{full}/");
        let is_folder = files
            .range(Box::<str>::from(&*below)..)
            .next()
            .is_some_and(|(path, _)| path.starts_with(&below));
        if is_folder {
            Ok(ResourceKind::Folder)
        } else {
            Err(Error::not_found(full))
        }
    }
}
