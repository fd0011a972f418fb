//! The folder of a skill inside its source.

use std::fmt;

use crate::name::InvalidPath;

/// The folder of a skill inside its source: relative, with `/`; empty where the root itself is the skill.
///
/// A folder that a source lists also remembers whether a link is on the way to it; one that is created by its path has
/// none. Later, a link is followed only where there was one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder {
    // The path comes first: folders are ordered by it.
    path: Box<str>,
    /// The name of the root, which is the folder's name where the path is empty.
    root: Option<Box<str>>,
    way: Reached,
}

/// How a folder was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Reached {
    /// Over folders alone.
    Direct,
    /// Over a link.
    Linked,
}

impl Folder {
    /// Creates the folder of a skill below the root.
    ///
    /// The path is relative with `/`, and no component is empty, `.` or `..`: reading cannot leave the source by it.
    pub fn new(path: impl Into<Box<str>>) -> Result<Self, InvalidPath> {
        let path = path.into();
        InvalidPath::check_folder(&path)?;
        Ok(Self {
            path,
            root: None,
            way: Reached::Direct,
        })
    }

    /// Creates a folder from a path that a walk put together from names that it checked.
    pub(super) fn walked(path: &str, way: Reached) -> Self {
        debug_assert!(Self::new(path).is_ok(), "the walk checks names");
        Self {
            path: path.into(),
            root: None,
            way,
        }
    }

    /// Creates the folder of a root that is itself a skill.
    pub fn root(name: impl Into<Box<str>>) -> Self {
        Self {
            path: "".into(),
            root: Some(name.into()),
            way: Reached::Direct,
        }
    }

    /// Returns the path inside the source.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the folder's own name.
    pub fn name(&self) -> &str {
        match &self.root {
            Some(name) => name,
            None => self.path.rsplit('/').next().unwrap_or_default(),
        }
    }

    /// Returns whether the folder was found over a link.
    pub(crate) fn is_linked(&self) -> bool {
        self.way == Reached::Linked
    }

    /// Returns how the folder was found.
    pub(super) fn way(&self) -> Reached {
        self.way
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.path.is_empty() {
            self.name()
        } else {
            &self.path
        })
    }
}
