//! Access by path, for systems without folder handles in the standard library.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the source that everything else reads through"
)]

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::error::is_transient;
use crate::name::ResourcePath;
use crate::source::folder::Reached;
use crate::source::fs::tree::{
    AccessRule, Encoding, EntryKind, OpenedSkillFile, RawEntry, Stat, Tree,
};
use crate::source::{Folder, FolderIdentity, LinkPolicy, Revision, SKILL_FILE};

/// A folder that is accessed by path.
#[derive(Debug)]
pub(super) struct PortableTree {
    root: PathBuf,
    links: LinkPolicy,
}

impl PortableTree {
    pub(super) fn open(path: &Path, links: LinkPolicy) -> io::Result<Self> {
        let root = std::path::absolute(path)?;
        if !root.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { root, links })
    }

    /// Returns the path of a folder for the walk. If links are refused, no component may be one.
    fn walk_path(&self, folder: &str) -> io::Result<PathBuf> {
        match self.links {
            LinkPolicy::Follow => Ok(self.root.join(folder)),
            LinkPolicy::Refuse | LinkPolicy::Strict => {
                join_without_links(&self.root, folder, AccessRule::LinkOnPath)
            }
        }
    }

    /// Returns the path of a skill's folder. It must have no links, or, if the walk followed one, still lead to a
    /// skill.
    fn skill_path(&self, folder: &Folder) -> io::Result<PathBuf> {
        match (folder.reached(), self.links) {
            (Reached::Direct, _) => {
                join_without_links(&self.root, folder.path(), AccessRule::LinkOnPath)
            }
            (Reached::Linked, LinkPolicy::Refuse | LinkPolicy::Strict) => {
                Err(AccessRule::LinkOnPath.into())
            }
            (Reached::Linked, LinkPolicy::Follow) => {
                let path = self.root.join(folder.path());
                match path.join(SKILL_FILE).symlink_metadata() {
                    Ok(metadata) if metadata.is_file() => Ok(path),
                    Err(error) if is_transient(&error) => Err(error),
                    Ok(_) | Err(_) => Err(AccessRule::LinkToNonSkill.into()),
                }
            }
        }
    }

    /// Returns the path of a file inside a skill; no component below the skill may be a link.
    fn inside_path(&self, folder: &Folder, path: &str) -> io::Result<PathBuf> {
        join_without_links(&self.skill_path(folder)?, path, AccessRule::LinkInside)
    }
}

/// Joins a path to a base; no component of the path may be a link.
fn join_without_links(base: &Path, path: &str, rule: AccessRule) -> io::Result<PathBuf> {
    let mut full = base.to_owned();
    for component in path.split('/').filter(|component| !component.is_empty()) {
        full.push(component);
        if full.symlink_metadata()?.is_symlink() {
            return Err(rule.into());
        }
    }
    Ok(full)
}

impl Tree for PortableTree {
    fn links(&self) -> LinkPolicy {
        self.links
    }

    fn identity(&self, folder: &str) -> io::Result<FolderIdentity> {
        identity(&self.walk_path(folder)?)
    }

    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>> {
        list_entries(&self.walk_path(folder)?, limit)
    }

    fn stat(&self, folder: &str) -> io::Result<Stat> {
        let folder = self.walk_path(folder)?;
        let metadata = folder.join(SKILL_FILE).symlink_metadata()?;
        Ok(Stat {
            kind: kind(&metadata),
            revision: revision(&metadata),
            identity: Some(identity(&folder)?),
        })
    }

    fn lstat(&self, path: &str) -> io::Result<EntryKind> {
        Ok(kind(&self.root.join(path).symlink_metadata()?))
    }

    fn target_kind(&self, path: &str) -> io::Result<EntryKind> {
        Ok(kind(&self.root.join(path).metadata()?))
    }

    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        read_file(
            &self.inside_path(folder, SKILL_FILE)?,
            &(0..bytes as u64),
            into,
        )
    }

    fn revision(&self, folder: &Folder) -> io::Result<Stat> {
        Ok(stat(
            &self.inside_path(folder, SKILL_FILE)?.symlink_metadata()?,
        ))
    }

    fn entries_beneath(
        &self,
        folder: &Folder,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>> {
        match path {
            None => list_entries(&self.skill_path(folder)?, limit),
            Some(path) => list_entries(&self.inside_path(folder, path.as_str())?, limit),
        }
    }

    fn stat_beneath(&self, folder: &Folder, path: &ResourcePath) -> io::Result<Stat> {
        Ok(stat(
            &self
                .inside_path(folder, path.as_str())?
                .symlink_metadata()?,
        ))
    }

    fn read_beneath(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: &Range<u64>,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        read_file(&self.inside_path(folder, path.as_str())?, range, into)
    }

    fn open_head(
        &self,
        folder: &str,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<OpenedSkillFile> {
        let stat = self.stat(folder)?;
        let path = self.walk_path(folder)?.join(SKILL_FILE);
        let after = match stat.kind {
            // Opening a pipe would block until its other end is opened.
            EntryKind::File => read_range(&path, &(0..bytes as u64), into)?.1,
            EntryKind::Folder | EntryKind::Link | EntryKind::HardLinked | EntryKind::Other => {
                stat.revision
            }
        };
        Ok(OpenedSkillFile { stat, after })
    }
}

/// Reads a range of a regular file. Anything else is not opened: opening a pipe would block.
fn read_file(
    path: &Path,
    range: &Range<u64>,
    into: &mut Vec<u8>,
) -> io::Result<(Revision, Revision)> {
    if path.symlink_metadata()?.is_file() {
        read_range(path, range, into)
    } else {
        Err(AccessRule::NotAFile.into())
    }
}

fn read_range(
    path: &Path,
    range: &Range<u64>,
    into: &mut Vec<u8>,
) -> io::Result<(Revision, Revision)> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(AccessRule::NotAFile.into());
    }
    file.seek(SeekFrom::Start(range.start))?;
    Read::by_ref(&mut file)
        .take(range.end.saturating_sub(range.start))
        .read_to_end(into)?;
    Ok((revision(&metadata), revision(&file.metadata()?)))
}

fn list_entries(path: &Path, limit: usize) -> io::Result<Vec<RawEntry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path)?.take(limit) {
        let entry = entry?;
        let kind = match entry.file_type() {
            Ok(file_type) => kind_of(file_type),
            // It was removed after it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let (name, encoding) = match entry.file_name().into_string() {
            Ok(name) => (name.into(), Encoding::Utf8),
            Err(name) => (name.to_string_lossy().into(), Encoding::Other),
        };
        entries.push(RawEntry::new(name, encoding, kind));
    }
    Ok(entries)
}

fn identity(folder: &Path) -> io::Result<FolderIdentity> {
    Ok(FolderIdentity::new(
        std::fs::canonicalize(folder)?.to_string_lossy(),
    ))
}

fn stat(metadata: &Metadata) -> Stat {
    Stat {
        kind: kind(metadata),
        revision: revision(metadata),
        identity: None,
    }
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
    Revision::new(metadata.len())
        .with_modified(metadata.modified().unwrap_or(UNIX_EPOCH))
        // The closest substitute for an inode: a replaced file has another creation time.
        .with_changed(metadata.created().unwrap_or(UNIX_EPOCH))
}
