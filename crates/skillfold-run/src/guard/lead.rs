//! Where links lead, and the files with which Git names a repository.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

use super::folders::{FileNumber, open_inside};

/// Links in one path, as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// Maximum bytes of a file that names a repository.
const MAX_GIT_FILE: u64 = 8192;

/// Where something leads that stays read-only.
#[derive(Debug)]
pub(super) struct Lead {
    pub(super) source: LeadSource,
    /// The path from there; from the folder around a file `.git`.
    pub(super) way: PathBuf,
    /// Where that led before the run.
    pub(super) end: LeadEnd,
}

/// What leads somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeadSource {
    /// A link that is a part of a folder or in one, by their numbers.
    Link(usize, usize),
    /// A file `.git` that is a part of a folder.
    GitFile(usize, usize),
    /// A path that the host protects.
    Path,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) enum LeadEnd {
    /// A path without links, and what is there.
    At(PathBuf, FileNumber),
    /// The last folder without links on the way. The next name is not in it.
    Nowhere(PathBuf),
}

impl LeadEnd {
    /// Returns whether the same is there, or nothing.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::At(_, one), Self::At(_, other)) => one == other,
            (Self::Nowhere(_), Self::Nowhere(_)) => true,
            _ => false,
        }
    }
}

/// Follows an absolute path.
pub(super) fn follow(path: &Path) -> LeadEnd {
    let mut here = PathBuf::from("/");
    let mut left: VecDeque<OsString> = names(path).collect();
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        let Ok(found) = next.symlink_metadata() else {
            return LeadEnd::Nowhere(here);
        };
        if !found.is_symlink() {
            if !found.is_dir() && !left.is_empty() {
                return LeadEnd::Nowhere(here);
            }
            here = next;
            continue;
        }
        links += 1;
        let Some(target) = next.read_link().ok().filter(|_| links <= MAX_LINKS) else {
            return LeadEnd::Nowhere(here);
        };
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        names(&target).rev().for_each(|name| left.push_front(name));
    }
    match here.symlink_metadata() {
        Ok(found) => LeadEnd::At(here, (found.dev(), found.ino())),
        Err(_) => LeadEnd::Nowhere(here),
    }
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

/// Returns the path in a file `.git`, as in `gitdir: ../.bare`.
pub(super) fn git_folder(folder: BorrowedFd<'_>, inside: &Path) -> Option<PathBuf> {
    let parent = open_inside(folder, inside.parent()?).ok()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(parent, inside.file_name()?, flags, Mode::empty()).ok()?;
    let file = File::from(file);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_GIT_FILE).read_to_end(&mut text).ok()?;
    let path = text.strip_prefix(b"gitdir:")?.trim_ascii();
    (!path.is_empty()).then(|| Path::new(OsStr::from_bytes(path)).to_owned())
}
