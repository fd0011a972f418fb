//! The files of a commit.

use std::collections::{BTreeMap, BTreeSet};

use skillfold_core::{Error, Refusal};

use crate::git::cat_file::ObjectKind;
use crate::git::objects::{CheckedObjects, hexadecimal, is_id};
use crate::tree::{EntryKind, ReadLimits, TooLarge, Tree};

/// Maximum number of files and folders in a repository.
const MAX_ENTRIES: usize = 500_000;
/// Maximum bytes of the paths of all files and folders.
const MAX_PATH_BYTES: usize = 64 << 20;
/// Maximum depth of folders in a repository.
const MAX_DEPTH: usize = 64;

const FOLDERS: ReadLimits = ReadLimits {
    each: 64 << 20,
    total: 64 << 20,
    rule: "A repository may have at most 500,000 files and folders, 64 folders deep, with 64 MiB of paths",
};

/// The files of a commit.
pub(crate) struct CommitTree {
    objects: CheckedObjects,
    entries: BTreeMap<String, EntryKind>,
    blobs: BTreeMap<String, String>,
    /// The number of files and folders, and the bytes of their paths.
    count: usize,
    path_bytes: usize,
}

impl CommitTree {
    /// Reads the paths of a commit.
    pub(super) fn read(objects: CheckedObjects, commit: &str) -> Result<Self, Error> {
        let mut texts = objects.commits(&BTreeSet::from([commit]))?;
        let text = texts.remove(commit).unwrap_or_default();
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let root = first
            .strip_prefix(b"tree ")
            .and_then(|id| str::from_utf8(id).ok());
        let root = root.filter(|id| is_id(id) && id.len() == commit.len());
        let root = root.ok_or_else(|| objects.malformed("a commit without files"))?;
        let mut tree = Self {
            objects,
            entries: BTreeMap::new(),
            blobs: BTreeMap::new(),
            count: 0,
            path_bytes: 0,
        };
        tree.read_folders(root)?;
        Ok(tree)
    }

    /// Reads all folders, level by level.
    fn read_folders(&mut self, root: &str) -> Result<(), Error> {
        let id_bytes = root.len() / 2;
        let mut level = vec![(String::new(), root.to_owned())];
        for _ in 0..MAX_DEPTH {
            if level.is_empty() {
                return Ok(());
            }
            let ids = level.iter().map(|(_, id)| &**id).collect();
            let folders = self.objects.read(&ids, ObjectKind::Tree, FOLDERS)?;
            let mut next = Vec::new();
            for (prefix, id) in &level {
                let Some(Ok(bytes)) = folders.get(id) else {
                    return Err(self.too_large());
                };
                self.add_folder(prefix, bytes, id_bytes, &mut next)?;
            }
            level = next;
        }
        Err(self.too_large())
    }

    /// Adds the entries of one folder; its own folders go to `next`.
    fn add_folder(
        &mut self,
        prefix: &str,
        mut bytes: &[u8],
        id_bytes: usize,
        next: &mut Vec<(String, String)>,
    ) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        while !bytes.is_empty() {
            let (TreeEntry { mode, name, id }, rest) = split_entry(bytes, id_bytes)
                .ok_or_else(|| self.objects.malformed("a damaged folder"))?;
            bytes = rest;
            if name.is_empty() || name.contains(&b'/') {
                let what = format!("a name that git does not allow: `{}`", name.escape_ascii());
                return Err(self.objects.malformed(&what));
            }
            if !names.insert(name) {
                let what = format!("a folder with a name twice: `{}`", name.escape_ascii());
                return Err(self.objects.malformed(&what));
            }
            let path = format!("{prefix}{}", String::from_utf8_lossy(name));
            self.count += 1;
            self.path_bytes += path.len();
            if self.count > MAX_ENTRIES || self.path_bytes > MAX_PATH_BYTES {
                return Err(self.too_large());
            }
            let kind = match mode {
                b"40000" | b"040000" => {
                    next.push((format!("{path}/"), id));
                    continue;
                }
                b"120000" => EntryKind::Link,
                b"160000" => EntryKind::Submodule,
                // Several names that are not UTF-8 can be this path.
                _ if path.contains(char::REPLACEMENT_CHARACTER) => EntryKind::Other,
                _ => EntryKind::File,
            };
            self.entries.insert(path.clone(), kind);
            self.blobs.insert(path, id);
        }
        Ok(())
    }

    /// Returns the ids of files.
    fn ids<'t>(&'t self, paths: &[&str]) -> Result<Vec<&'t str>, Error> {
        let ids = paths.iter().map(|path| {
            let id = self.blobs.get(*path).map(|id| &**id);
            id.ok_or_else(|| Error::not_found(path))
        });
        ids.collect()
    }

    fn too_large(&self) -> Error {
        Error::refused(self.objects.source(), Refusal::TooLarge, FOLDERS.rule)
    }
}

impl Tree for CommitTree {
    fn entries(&self) -> &BTreeMap<String, EntryKind> {
        &self.entries
    }

    fn read(
        &mut self,
        paths: &[&str],
        limits: ReadLimits,
    ) -> Result<Vec<Result<Vec<u8>, TooLarge>>, Error> {
        let ids = self.ids(paths)?;
        let unique = ids.iter().copied().collect();
        let contents = self.objects.read(&unique, ObjectKind::Blob, limits)?;
        let mut left = limits.total;
        let read = paths.iter().zip(ids).map(|(path, id)| {
            let content = contents.get(id).ok_or_else(|| Error::not_found(path))?;
            let size = content.as_ref().map_or(0, |bytes| bytes.len() as u64);
            let rest = left.checked_sub(size);
            left = rest.ok_or_else(|| Error::refused(path, Refusal::TooLarge, limits.rule))?;
            Ok(content.clone())
        });
        read.collect()
    }

    fn read_ahead(&mut self, paths: &[&str]) -> Result<(), Error> {
        let ids = self.ids(paths)?.into_iter().collect();
        self.objects.fetch(&ids)
    }
}

/// An entry of a folder.
struct TreeEntry<'b> {
    mode: &'b [u8],
    name: &'b [u8],
    id: String,
}

/// Splits the first entry off a folder: `mode SPACE name NUL id`.
fn split_entry(bytes: &[u8], id_bytes: usize) -> Option<(TreeEntry<'_>, &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let (mode, rest) = (&bytes[..space], &bytes[space + 1..]);
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (name, rest) = (&rest[..end], &rest[end + 1..]);
    let (id, rest) = rest.split_at_checked(id_bytes)?;
    let id = hexadecimal(id);
    Some((TreeEntry { mode, name, id }, rest))
}
