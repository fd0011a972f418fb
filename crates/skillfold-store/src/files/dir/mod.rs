//! An open folder and operations on the names in it.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::{Dir, identity};
#[cfg(unix)]
pub(crate) use unix::{Dir, identity};

/// Device and inode, or `None` where the system does not report them.
pub(crate) type Identity = Option<(u64, u64)>;

/// Kind and identity of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryStat {
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

/// Hint for a path that goes through a link.
pub(crate) const LINK_IN_PATH: &str = "A parent folder is a symbolic link; replace the link with a folder, or name the file by its real path";
