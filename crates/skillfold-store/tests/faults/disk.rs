//! A disk that loses unflushed writes.
//!
//! It keeps only what a file system guarantees: a file's bytes once the file is flushed, a name once its folder is.
//! Until then the bytes may be there in full, in part, or as zeros; a folder may have only its first few changes.
//! Nothing is guaranteed about the order of changes to two files or folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use skillfold_store::Step;

use crate::random::Random;

type Names = BTreeMap<String, usize>;

#[derive(Clone)]
enum Node {
    File(File),
    Folder(Folder),
    Link(PathBuf),
}

#[derive(Clone, Default)]
struct File {
    flushed: Vec<u8>,
    pending: Vec<FileChange>,
}

#[derive(Clone)]
enum FileChange {
    Append(Vec<u8>),
    Truncate(usize),
}

#[derive(Clone, Default)]
struct Folder {
    flushed: Names,
    pending: Vec<FolderChange>,
}

#[derive(Clone)]
enum FolderChange {
    Add(String, usize),
    Rename(String, String),
    Exchange(String, String),
    Remove(String),
}

#[derive(Clone)]
pub(crate) struct Disk {
    nodes: Vec<Node>,
    /// The node that currently has an inode. Another may have had it before.
    by_inode: BTreeMap<u64, usize>,
}

impl Disk {
    /// Reads a folder in which everything is flushed.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut disk = Self {
            nodes: Vec::new(),
            by_inode: BTreeMap::new(),
        };
        disk.add(folder);
        disk
    }

    fn add(&mut self, path: &Path) -> usize {
        let metadata = fs::symlink_metadata(path).unwrap();
        if let Some(known) = self.by_inode.get(&metadata.ino()) {
            return *known;
        }
        let number = self.create(metadata.ino(), Node::File(File::default()));
        self.nodes[number] = if metadata.is_dir() {
            let entries = fs::read_dir(path).unwrap().map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, self.add(&entry.path()))
            });
            Node::Folder(Folder {
                flushed: entries.collect(),
                pending: Vec::new(),
            })
        } else if metadata.is_symlink() {
            Node::Link(fs::read_link(path).unwrap())
        } else {
            Node::File(File {
                flushed: fs::read(path).unwrap(),
                pending: Vec::new(),
            })
        };
        number
    }

    fn create(&mut self, inode: u64, node: Node) -> usize {
        self.nodes.push(node);
        let number = self.nodes.len() - 1;
        self.by_inode.insert(inode, number);
        number
    }

    /// Writes the state that programs see to a folder, and records the new inodes.
    pub(crate) fn write(&mut self, folder: &Path) {
        fs::remove_dir_all(folder).unwrap();
        self.by_inode.clear();
        self.write_node(0, folder, &mut BTreeMap::new());
    }

    fn write_node(&mut self, number: usize, path: &Path, written: &mut BTreeMap<usize, PathBuf>) {
        if let Some(first) = written.get(&number) {
            return fs::hard_link(first, path).unwrap();
        }
        match &self.nodes[number] {
            Node::File(file) => fs::write(path, file.after(&file.pending)).unwrap(),
            Node::Link(target) => symlink(target, path).unwrap(),
            Node::Folder(folder) => {
                fs::create_dir(path).unwrap();
                for (name, inner) in folder.now() {
                    self.write_node(inner, &path.join(name), written);
                }
            }
        }
        written.insert(number, path.to_owned());
        let inode = fs::symlink_metadata(path).unwrap().ino();
        self.by_inode.insert(inode, number);
    }

    /// Applies a call.
    pub(crate) fn apply(&mut self, step: &Step) {
        let (folder, change) = match step {
            Step::CreateFile {
                folder,
                name,
                inode,
            } => {
                let file = self.create(*inode, Node::File(File::default()));
                (folder, FolderChange::Add(name.clone(), file))
            }
            Step::CreateFolder {
                folder,
                name,
                inode,
            } => {
                let new = self.create(*inode, Node::Folder(Folder::default()));
                (folder, FolderChange::Add(name.clone(), new))
            }
            Step::Link {
                folder,
                name,
                other,
            } => {
                let file = self.folder(*folder).now()[name];
                (other, FolderChange::Add(name.clone(), file))
            }
            Step::LinkTo {
                folder,
                name,
                target,
            } => {
                // Nothing is done to a link but to remove it by its name.
                let link = self.create(u64::MAX, Node::Link(target.into()));
                (folder, FolderChange::Add(name.clone(), link))
            }
            Step::Rename { folder, from, to } => {
                (folder, FolderChange::Rename(from.clone(), to.clone()))
            }
            Step::Exchange { folder, one, other } => {
                (folder, FolderChange::Exchange(one.clone(), other.clone()))
            }
            Step::Remove { folder, name } => (folder, FolderChange::Remove(name.clone())),
            Step::Write { file, bytes } => {
                let change = FileChange::Append(bytes.clone());
                return self.file(*file).pending.push(change);
            }
            Step::Truncate { file, length } => {
                let change = FileChange::Truncate(usize::try_from(*length).unwrap());
                return self.file(*file).pending.push(change);
            }
            Step::Flush { inode } => {
                let number = self.by_inode[inode];
                return self.nodes[number].flush();
            }
        };
        self.folder(*folder).pending.push(change);
    }

    fn file(&mut self, inode: u64) -> &mut File {
        let number = self.by_inode[&inode];
        match &mut self.nodes[number] {
            Node::File(file) => file,
            _ => panic!("inode {inode} is no file"),
        }
    }

    fn folder(&mut self, inode: u64) -> &mut Folder {
        let number = self.by_inode[&inode];
        match &mut self.nodes[number] {
            Node::Folder(folder) => folder,
            _ => panic!("inode {inode} is no folder"),
        }
    }

    /// Returns what is left after a power loss.
    pub(crate) fn lose_power(&self, random: &mut Random) -> Self {
        Self {
            nodes: self.nodes.iter().map(|it| it.lose(random)).collect(),
            by_inode: BTreeMap::new(),
        }
    }
}

impl Node {
    fn flush(&mut self) {
        match self {
            Self::File(file) => {
                file.flushed = file.after(&file.pending);
                file.pending.clear();
            }
            Self::Folder(folder) => {
                folder.flushed = folder.now();
                folder.pending.clear();
            }
            Self::Link(_) => {}
        }
    }

    /// Returns what is left of it after a power loss.
    fn lose(&self, random: &mut Random) -> Self {
        match self {
            Self::File(file) => Self::File(File {
                flushed: file.lose(random),
                pending: Vec::new(),
            }),
            Self::Folder(folder) => {
                let kept = random.up_to(folder.pending.len());
                Self::Folder(Folder {
                    flushed: folder.after(&folder.pending[..kept]),
                    pending: Vec::new(),
                })
            }
            Self::Link(target) => Self::Link(target.clone()),
        }
    }
}

impl File {
    fn after(&self, changes: &[FileChange]) -> Vec<u8> {
        let mut bytes = self.flushed.clone();
        for change in changes {
            match change {
                FileChange::Append(added) => bytes.extend_from_slice(added),
                FileChange::Truncate(length) => bytes.resize(*length, 0),
            }
        }
        bytes
    }

    fn lose(&self, random: &mut Random) -> Vec<u8> {
        let whole = match random.up_to(3) {
            0 => 0,
            1 => self.pending.len(),
            _ => random.up_to(self.pending.len()),
        };
        let mut bytes = self.after(&self.pending[..whole]);
        match self.pending.get(whole) {
            Some(FileChange::Append(added)) => {
                bytes.extend_from_slice(&added[..random.up_to(added.len())]);
            }
            // The length is on disk, but part of the bytes are not.
            None if self.pending.len() == 1 && random.up_to(1) == 0 => {
                let start = self.flushed.len().min(bytes.len());
                let added = &mut bytes[start..];
                let from = random.up_to(added.len());
                let to = from + random.up_to(added.len() - from);
                added[from..to].fill(0);
            }
            _ => {}
        }
        bytes
    }
}

impl Folder {
    fn now(&self) -> Names {
        self.after(&self.pending)
    }

    fn after(&self, changes: &[FolderChange]) -> Names {
        let mut names = self.flushed.clone();
        for change in changes {
            match change {
                FolderChange::Add(name, node) => _ = names.insert(name.clone(), *node),
                FolderChange::Rename(from, to) => {
                    let node = names.remove(from).unwrap();
                    names.insert(to.clone(), node);
                }
                FolderChange::Exchange(one, other) => {
                    let (first, second) = (names[one], names[other]);
                    names.insert(one.clone(), second);
                    names.insert(other.clone(), first);
                }
                FolderChange::Remove(name) => _ = names.remove(name),
            }
        }
        names
    }
}

#[test]
fn simulated_disk_loses_or_tears_unflushed_writes_and_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "old").unwrap();
    let mut disk = Disk::read(folder.path());
    let root = fs::metadata(folder.path()).unwrap().ino();
    let temporary = || "temporary".to_owned();
    let (write, flush) = (
        Step::Write {
            file: 1,
            bytes: b"new".to_vec(),
        },
        Step::Flush { inode: 1 },
    );
    let create = Step::CreateFile {
        folder: root,
        name: temporary(),
        inode: 1,
    };
    let rename = Step::Rename {
        folder: root,
        from: temporary(),
        to: "a".to_owned(),
    };
    let found = |disk: &Disk| -> BTreeSet<Vec<u8>> {
        let seeds = (0..200).map(|seed| {
            disk.lose_power(&mut Random::new(seed)).write(folder.path());
            fs::read(folder.path().join("a")).unwrap()
        });
        seeds.collect()
    };
    // Renamed before it is flushed: any part of the new bytes may be there.
    for step in [&create, &write, &rename] {
        disk.apply(step);
    }
    let torn = found(&disk);
    for bytes in [&b"old"[..], b"", b"n", b"ne", b"new", b"n\0w", b"\0\0\0"] {
        assert!(torn.contains(bytes), "{bytes:?}");
    }
    // Flushed first, it is the old file or the new one.
    disk.apply(&flush);
    assert_eq!(found(&disk), [b"new".to_vec(), b"old".to_vec()].into());
    disk.apply(&Step::Flush { inode: root });
    assert_eq!(found(&disk), [b"new".to_vec()].into());
}
