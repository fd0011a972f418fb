//! Which skills the user has accepted.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::read::discover::Skill;

/// Which skills the user has accepted. A skill that is not accepted is held: the user can see it, models cannot.
///
/// Bundled skills, and skills that are not in the file system, come with the host program and are never held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcceptedSkills {
    /// All of them.
    #[default]
    All,
    /// Those in these folders, given by their [real paths](crate::Entry::real_dir).
    Only(Arc<BTreeSet<PathBuf>>),
}

/// Whether the user has accepted a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Accepted,
    Held,
}

impl AcceptedSkills {
    /// Returns whether a skill of a root is accepted.
    pub(crate) fn acceptance(&self, skill: &Skill, root: &Root) -> Acceptance {
        let Self::Only(folders) = self else {
            return Acceptance::Accepted;
        };
        if root.scope() == Scope::Bundled {
            return Acceptance::Accepted;
        }
        match root.source().real_path(&skill.folder) {
            Some(folder) if !folders.contains(&folder) => Acceptance::Held,
            _ => Acceptance::Accepted,
        }
    }
}
