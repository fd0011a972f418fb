//! A folder and everything below it, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Prefix of the names a write gives to what it builds.
const TEMPORARY: &str = ".skillfold-write-";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Folder { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link(PathBuf),
}

/// A folder's entries by path. A folder comes before its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree(pub(crate) BTreeMap<PathBuf, Entry>);

impl Tree {
    pub(crate) fn read(folder: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(folder, Path::new(""));
        tree
    }

    fn add(&mut self, folder: &Path, below: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
            let below = below.join(name);
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            let entry = if metadata.is_dir() {
                self.add(&path, &below);
                Entry::Folder { mode }
            } else if metadata.is_symlink() {
                Entry::Link(fs::read_link(&path).unwrap())
            } else {
                let bytes = fs::read(&path).unwrap();
                Entry::File { mode, bytes }
            };
            self.0.insert(below, entry);
        }
    }

    /// Makes the folder match this tree, whatever it contains.
    pub(crate) fn write(&self, folder: &Path) {
        if folder.exists() {
            fs::remove_dir_all(folder).unwrap();
        }
        fs::create_dir_all(folder).unwrap();
        for (path, entry) in &self.0 {
            let path = folder.join(path);
            let mode = match entry {
                Entry::Link(target) => {
                    symlink(target, path).unwrap();
                    continue;
                }
                Entry::Folder { mode } => {
                    fs::create_dir(&path).unwrap();
                    mode
                }
                Entry::File { mode, bytes } => {
                    fs::write(&path, bytes).unwrap();
                    mode
                }
            };
            fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
        }
    }

    /// Returns the files below the folder `name`, but for temporary ones.
    pub(crate) fn files_in(&self, name: &str) -> Self {
        let files = self.0.iter().filter(|(path, entry)| {
            let is_file = matches!(entry, Entry::File { .. }) && !is_temporary(path);
            is_file && path.starts_with(name)
        });
        Self(files.map(|(path, it)| (path.clone(), it.clone())).collect())
    }

    /// Returns what is not below the folder `name`. Omits temporary files, which may stay until the next write, and
    /// folders without files, which a failed creation may leave.
    pub(crate) fn outside(&self, name: &str) -> Self {
        let is_content = |(path, entry): &(&PathBuf, &Entry)| match entry {
            Entry::Folder { .. } => false,
            Entry::File { .. } => !is_temporary(path),
            Entry::Link(_) => true,
        };
        let outside = self.0.iter().filter(|(path, _)| !path.starts_with(name));
        let content = outside.filter(is_content);
        let paths: BTreeSet<&Path> = content.flat_map(|(path, _)| path.ancestors()).collect();
        let entries = self.0.iter().filter(|(path, _)| paths.contains(&***path));
        Self(
            entries
                .map(|(path, it)| (path.clone(), it.clone()))
                .collect(),
        )
    }

    /// Returns the tree with one mode for all files and one for all folders.
    pub(crate) fn without_modes(mut self) -> Self {
        for entry in self.0.values_mut() {
            match entry {
                Entry::Folder { mode } | Entry::File { mode, .. } => *mode = 0,
                Entry::Link(_) => {}
            }
        }
        self
    }

    /// Returns the folders that a write was building.
    pub(crate) fn temporary_folders(&self) -> Vec<&PathBuf> {
        let folders = self
            .0
            .iter()
            .filter(|(path, entry)| matches!(entry, Entry::Folder { .. }) && is_temporary(path));
        folders.map(|(path, _)| path).collect()
    }

    /// Returns a file's content.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<&[u8]> {
        match self.0.get(path.as_ref())? {
            Entry::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
}
