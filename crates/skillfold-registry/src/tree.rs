//! The files of a source at one version.

use std::collections::BTreeMap;

use skillfold_core::load::{Digest, FileDigests};
use skillfold_core::name::{ResourcePath, is_vcs_name};
use skillfold_core::{Error, Refusal};

/// Maximum number of a skill's files, as in the store.
const MAX_SKILL_FILES: usize = 10_000;

/// How much is read at once. It is checked before anything is in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadLimits {
    /// Maximum bytes of one file.
    pub(crate) each: u64,
    /// Maximum bytes of all files together; one that is read twice counts twice.
    pub(crate) total: u64,
    /// The rule, for the error.
    pub(crate) rule: &'static str,
}

/// What a skill may have, as in the store.
pub(crate) const SKILL_LIMITS: ReadLimits = ReadLimits {
    each: 64 << 20,
    total: 64 << 20,
    rule: "A skill may have at most 64 MiB and 10,000 files",
};

/// A file that is larger than the limit for one, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge(pub(crate) u64);

/// What stands at a path of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A regular file.
    File,
    /// A link to somewhere else.
    Link,
    /// Another repository.
    Submodule,
    /// Anything else: a device, a name that is not UTF-8, or what cannot be read.
    Other,
}

/// The paths of a source at one version; contents are read on demand.
pub(crate) trait Tree {
    /// Returns what stands at each path. Paths are relative, with `/`; nothing else about them is checked.
    fn entries(&self) -> &BTreeMap<String, EntryKind>;

    /// Reads files, in the order given. Each path is one of the entries, and a file. Fails if they are larger than the limits
    /// together; a single one that is too large is only left out.
    fn read(
        &mut self,
        paths: &[&str],
        limits: ReadLimits,
    ) -> Result<Vec<Result<Vec<u8>, TooLarge>>, Error>;

    /// Fetches files that are going to be read, if each read costs a round trip.
    fn read_ahead(&mut self, _paths: &[&str]) -> Result<(), Error> {
        Ok(())
    }
}

/// Files by path, in memory: an archive, or a skill as it was fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTree {
    files: BTreeMap<ResourcePath, Vec<u8>>,
}

impl FileTree {
    /// Returns the digest of a skill with these files.
    pub fn digest(&self) -> Digest {
        let files = self.files.iter();
        files
            .map(|(path, bytes)| (path.clone(), Digest::sha256(bytes)))
            .collect::<FileDigests>()
            .digest()
    }

    /// Returns the files, sorted by path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ResourcePath, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path, &**bytes))
    }

    /// Returns a file's content.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|bytes| &**bytes)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl FromIterator<(ResourcePath, Vec<u8>)> for FileTree {
    fn from_iter<T: IntoIterator<Item = (ResourcePath, Vec<u8>)>>(files: T) -> Self {
        Self {
            files: files.into_iter().collect(),
        }
    }
}

impl IntoIterator for FileTree {
    type Item = (ResourcePath, Vec<u8>);
    type IntoIter = std::collections::btree_map::IntoIter<ResourcePath, Vec<u8>>;

    fn into_iter(self) -> Self::IntoIter {
        self.files.into_iter()
    }
}

/// The files of a source, in memory: an archive, or a local folder.
///
/// Unlike a [`FileTree`], it may have links, other repositories, and paths that no skill may have.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryTree {
    entries: BTreeMap<String, EntryKind>,
    files: BTreeMap<String, Vec<u8>>,
}

impl MemoryTree {
    /// Adds a file.
    pub(crate) fn insert(&mut self, path: String, content: Vec<u8>) {
        self.entries.insert(path.clone(), EntryKind::File);
        self.files.insert(path, content);
    }

    /// Adds something that has no content here.
    #[cfg(test)]
    pub(crate) fn insert_other(&mut self, path: String, kind: EntryKind) {
        self.files.remove(&path);
        self.entries.insert(path, kind);
    }
}

impl From<FileTree> for MemoryTree {
    fn from(files: FileTree) -> Self {
        let mut tree = Self::default();
        for (path, content) in files {
            tree.insert(path.as_str().to_owned(), content);
        }
        tree
    }
}

impl Tree for MemoryTree {
    fn entries(&self) -> &BTreeMap<String, EntryKind> {
        &self.entries
    }

    fn read(
        &mut self,
        paths: &[&str],
        limits: ReadLimits,
    ) -> Result<Vec<Result<Vec<u8>, TooLarge>>, Error> {
        let mut left = limits.total;
        let read = paths.iter().map(|path| {
            let content = self.files.get(*path);
            let content = content.ok_or_else(|| Error::not_found(path))?;
            let size = content.len() as u64;
            if size > limits.each {
                return Ok(Err(TooLarge(size)));
            }
            let rest = left.checked_sub(size);
            left = rest.ok_or_else(|| Error::refused(path, Refusal::TooLarge, limits.rule))?;
            Ok(Ok(content.clone()))
        });
        read.collect()
    }
}

const NOT_ON_WINDOWS: &str =
    "Windows does not allow `*?\"<>|` in names; its author has to rename the file";

/// Fetches the files of skills, all at once.
pub(crate) fn read_ahead(tree: &mut dyn Tree, folders: &[&str]) -> Result<(), Error> {
    let mut paths = Vec::new();
    for folder in folders {
        let prefix = match *folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let below = tree.entries().range(prefix.clone()..);
        let below = below.take_while(|(path, _)| path.starts_with(&prefix));
        let files = below.filter(|(_, kind)| **kind == EntryKind::File);
        paths.extend(files.map(|(path, _)| path.clone()));
    }
    let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
    tree.read_ahead(&paths)
}

/// Reads all files of the skill in a folder of the tree; `""` is the top.
pub(crate) fn read_skill(tree: &mut dyn Tree, folder: &str) -> Result<FileTree, Error> {
    let prefix = match folder {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    let mut paths: Vec<(String, ResourcePath)> = Vec::new();
    for (path, kind) in tree.entries().range(prefix.clone()..) {
        let Some(inner) = path.strip_prefix(&prefix) else {
            break;
        };
        if inner.split('/').any(is_vcs_name) {
            continue;
        }
        let refused = |refusal, rule| Err(Error::refused(path, refusal, rule));
        match kind {
            EntryKind::File => {}
            EntryKind::Link => {
                let rule =
                    "The skill has a link; its author has to replace it with the file itself";
                return refused(Refusal::Link, rule);
            }
            EntryKind::Submodule => {
                let rule = "The skill has another repository inside; its author has to add the files themselves";
                return refused(Refusal::NotAFile, rule);
            }
            EntryKind::Other => {
                let rule = "The skill has something that is not a plain file, or a name that is not UTF-8; its author has to remove it";
                return refused(Refusal::NotAFile, rule);
            }
        }
        let inner: ResourcePath =
            inner
                .parse()
                .map_err(|error: skillfold_core::name::InvalidPath| {
                    Error::refused(path, Refusal::Traversal, error.rule())
                })?;
        if inner.as_str().contains(['*', '?', '"', '<', '>', '|']) {
            return refused(Refusal::Traversal, NOT_ON_WINDOWS);
        }
        paths.push((path.clone(), inner));
        if paths.len() > MAX_SKILL_FILES {
            return Err(Error::refused(folder, Refusal::TooLarge, SKILL_LIMITS.rule));
        }
    }
    check_collisions(folder, paths.iter().map(|(_, path)| path.as_str()))?;
    let names: Vec<&str> = paths.iter().map(|(path, _)| path.as_str()).collect();
    let contents = tree.read(&names, SKILL_LIMITS)?;
    let files = paths.iter().zip(contents).map(|((path, inner), content)| {
        let too_large = |_| Error::refused(path, Refusal::TooLarge, SKILL_LIMITS.rule);
        Ok((inner.clone(), content.map_err(too_large)?))
    });
    files.collect()
}

/// Refuses paths that are the same name on a file system that ignores case or how characters are composed.
pub(crate) fn check_collisions<'p>(
    what: &str,
    paths: impl Iterator<Item = &'p str>,
) -> Result<(), Error> {
    let mut known: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for path in paths {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let name = (&path[..end], end == path.len());
            let other = *known.entry(fold(name.0)).or_insert(name);
            if other != name {
                let rule = "Two names are the same on some systems; the author has to rename one";
                let error = Error::refused(what, Refusal::Traversal, rule);
                return Err(error.because(format!("`{}` and `{}`", other.0, name.0)));
            }
        }
    }
    Ok(())
}

/// Returns a name as a file system that ignores case and composition compares it.
fn fold(name: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;

    // Upper case first: `ß` becomes `SS`, and both forms of sigma become one.
    let upper = name.nfkc().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfkc().collect()
}
