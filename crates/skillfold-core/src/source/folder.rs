//! The folder of a skill inside its source.

use crate::name::InvalidPath;

/// The folder of a skill inside its source: a relative path with `/`, empty if the root itself is the skill.
///
/// A folder listed by a source also records whether it was reached through a link; one created from a path was not.
/// Later reads follow a link only if there was one during the walk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder {
    // The path must be the first field: the derived order is by path.
    path: Box<str>,
    /// The name of the root, if the root itself is the skill.
    root: Option<Box<str>>,
    reached: Reached,
}

/// How the walk reached a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Reached {
    /// Through folders only.
    Direct,
    /// Through at least one link.
    Linked,
}

impl Folder {
    /// Creates the folder of a skill below the root.
    ///
    /// The path must be relative with `/`, and no component may be empty, `.` or `..`, so a read cannot leave the
    /// source.
    pub fn new(path: impl Into<Box<str>>) -> Result<Self, InvalidPath> {
        let path = path.into();
        InvalidPath::check_folder(&path)?;
        Ok(Self {
            path,
            root: None,
            reached: Reached::Direct,
        })
    }

    /// Creates a folder from a path whose components the walk has checked.
    pub(super) fn from_walk(path: &str, reached: Reached) -> Self {
        debug_assert!(Self::new(path).is_ok(), "the walk checks names");
        Self {
            path: path.into(),
            root: None,
            reached,
        }
    }

    /// Creates the folder of a root that is itself a skill.
    pub fn root(name: impl Into<Box<str>>) -> Self {
        Self {
            path: "".into(),
            root: Some(name.into()),
            reached: Reached::Direct,
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

    /// Returns whether the folder was reached through a link.
    pub(crate) fn is_linked(&self) -> bool {
        self.reached == Reached::Linked
    }

    /// Returns how the walk reached the folder.
    pub(super) fn reached(&self) -> Reached {
        self.reached
    }
}

display!(Folder, |it| if it.path.is_empty() {
    it.name()
} else {
    &it.path
});
