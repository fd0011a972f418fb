//! An open folder, and what is done in it by name.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::{Dir, identity};
#[cfg(unix)]
pub(crate) use unix::{Dir, identity};

/// Device and inode: what tells a file from another one; nothing where the system does not say.
pub(crate) type Identity = Option<(u64, u64)>;

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
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

/// Why a path that leads over a link is not written.
pub(crate) const LINK_ON_THE_WAY: &str = "A parent folder is a symbolic link; replace the link with a folder, or name the file by its real path";
