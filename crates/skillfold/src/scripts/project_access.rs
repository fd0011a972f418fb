//! What a skill may do with the user's project.

use std::path::Path;

use serde::{Deserialize, Serialize};
use skillfold_run::{ApprovedPath, PathAccess};

use crate::scripts::shown_path::shown_path;

/// What a skill may do with the user's project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProjectAccess {
    /// Nothing: it sees no file of it.
    #[default]
    None,
    /// Read it.
    Read,
    /// Read and change it, except for repositories, settings of clients and skills.
    Write,
}

impl ProjectAccess {
    /// Returns the access with this name: `none`, `read` or `write`.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::None, Self::Read, Self::Write];
        all.into_iter().find(|access| access.as_str() == name)
    }

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    pub(super) fn path_access(self) -> Option<PathAccess> {
        match self {
            Self::None => None,
            Self::Read => Some(PathAccess::Read),
            Self::Write => Some(PathAccess::Write),
        }
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::None => "no access",
            Self::Read => "read access",
            Self::Write => "write access",
        }
    }
}

/// The user's decision about a skill in one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProjectDecision {
    /// The project's folder, as it was then.
    pub folder: ApprovedPath,
    /// What the skill may do with it.
    pub access: ProjectAccess,
}

impl ProjectDecision {
    /// Returns what the user is shown of it.
    pub(super) fn line(&self, home: Option<&Path>) -> String {
        let folder = shown_path(self.folder.path(), home);
        project_line(self.access, &folder)
    }
}

pub(super) fn project_line(access: ProjectAccess, folder: &str) -> String {
    let rest = match access {
        ProjectAccess::Write => " (`.git`, client settings and skills in it stay read-only)",
        _ => "",
    };
    format!("{} to the project {folder}{rest}", access.describe())
}
