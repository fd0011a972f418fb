//! Files by path, for systems without folder handles in the standard library.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::name::ResourcePath;
use crate::read::source::fs::{Encoding, EntryKind, Opened, RawEntry, Stat, Tree, not_a_file};
use crate::read::source::{Identity, Links, Revision, SKILL_FILE};

/// A folder by its path.
#[derive(Debug)]
pub(super) struct PortableTree {
    root: PathBuf,
    links: Links,
}

impl PortableTree {
    pub(super) fn open(path: &Path, links: Links) -> io::Result<Self> {
        let root = std::path::absolute(path)?;
        if !root.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { root, links })
    }

    /// Returns the path of a skill's folder; if links are refused, no component of it may be one.
    fn skill(&self, folder: &str) -> io::Result<PathBuf> {
        match self.links {
            Links::Follow => Ok(self.root.join(folder)),
            Links::Refuse => without_links(&self.root, folder),
        }
    }

    /// Returns the path of a file inside a skill, if no component below the skill is a link.
    fn beneath(&self, folder: &str, path: &ResourcePath) -> io::Result<PathBuf> {
        without_links(&self.skill(folder)?, path.as_str())
    }
}

fn without_links(base: &Path, path: &str) -> io::Result<PathBuf> {
    let mut full = base.to_owned();
    for component in path.split('/').filter(|component| !component.is_empty()) {
        full.push(component);
        if full.symlink_metadata()?.is_symlink() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a component is a link",
            ));
        }
    }
    Ok(full)
}

impl Tree for PortableTree {
    fn links(&self) -> Links {
        self.links
    }

    fn identity(&self, folder: &str) -> io::Result<Identity> {
        identity(&self.skill(folder)?)
    }

    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>> {
        list(&self.skill(folder)?, limit)
    }

    fn stat(&self, folder: &str) -> io::Result<Stat> {
        let folder = self.skill(folder)?;
        let metadata = folder.join(SKILL_FILE).symlink_metadata()?;
        Ok(Stat {
            kind: kind(&metadata),
            revision: revision(&metadata),
            identity: Some(identity(&folder)?),
        })
    }

    fn target(&self, path: &str) -> Option<EntryKind> {
        self.root
            .join(path)
            .metadata()
            .ok()
            .map(|metadata| kind(&metadata))
    }

    fn entries_beneath(
        &self,
        folder: &str,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>> {
        match path {
            None => list(&self.skill(folder)?, limit),
            Some(path) => list(&self.beneath(folder, path)?, limit),
        }
    }

    fn stat_beneath(&self, folder: &str, path: &ResourcePath) -> io::Result<Stat> {
        let metadata = self.beneath(folder, path)?.symlink_metadata()?;
        Ok(Stat {
            kind: kind(&metadata),
            revision: revision(&metadata),
            identity: None,
        })
    }

    fn read_beneath(
        &self,
        folder: &str,
        path: &ResourcePath,
        range: &Range<u64>,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        let path = self.beneath(folder, path)?;
        // Opening a pipe would wait for its other end.
        if !path.symlink_metadata()?.is_file() {
            return Err(not_a_file());
        }
        read(&path, range, into)
    }

    fn open_head(&self, folder: &str, bytes: usize, into: &mut Vec<u8>) -> io::Result<Opened> {
        let stat = self.stat(folder)?;
        let path = self.skill(folder)?.join(SKILL_FILE);
        let after = match stat.kind {
            // Opening a pipe would wait for its other end.
            EntryKind::File => read(&path, &(0..bytes as u64), into)?.1,
            EntryKind::Folder | EntryKind::Link | EntryKind::Other => stat.revision,
        };
        Ok(Opened { stat, after })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this file is the source that everything else goes through"
)]
fn read(path: &Path, range: &Range<u64>, into: &mut Vec<u8>) -> io::Result<(Revision, Revision)> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_a_file());
    }
    file.seek(SeekFrom::Start(range.start))?;
    Read::by_ref(&mut file)
        .take(range.end.saturating_sub(range.start))
        .read_to_end(into)?;
    Ok((revision(&metadata), revision(&file.metadata()?)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this file is the source that everything else goes through"
)]
fn list(path: &Path, limit: usize) -> io::Result<Vec<RawEntry>> {
    std::fs::read_dir(path)?
        .take(limit)
        .map(|entry| {
            let entry = entry?;
            let (name, encoding) = match entry.file_name().into_string() {
                Ok(name) => (name.into(), Encoding::Utf8),
                Err(name) => (name.to_string_lossy().into(), Encoding::Other),
            };
            Ok(RawEntry::new(
                name,
                encoding,
                entry.file_type().map(kind_of)?,
            ))
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "used to tell folders apart, not to confine"
)]
fn identity(folder: &Path) -> io::Result<Identity> {
    Ok(Identity::new(
        std::fs::canonicalize(folder)?.to_string_lossy(),
    ))
}

fn kind(metadata: &Metadata) -> EntryKind {
    kind_of(metadata.file_type())
}

fn kind_of(file_type: std::fs::FileType) -> EntryKind {
    if file_type.is_symlink() {
        EntryKind::Link
    } else if file_type.is_dir() {
        EntryKind::Folder
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

fn revision(metadata: &Metadata) -> Revision {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ns = modified.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
    Revision {
        device: 0,
        inode: 0,
        size: metadata.len(),
        modified_ns,
        changed_ns: 0,
    }
}
