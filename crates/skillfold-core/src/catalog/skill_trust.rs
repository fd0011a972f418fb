//! Which single skills the user trusts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::read::discover::Skill;

/// Which skills the user trusts. Any other is held: the user can see it, models cannot.
///
/// Bundled skills, and skills that are not in the file system, come with the host program and are never held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustedSkills {
    /// All of them.
    #[default]
    All,
    /// Those in these folders, given by their [real paths](crate::Entry::real_dir).
    Only(Arc<BTreeSet<PathBuf>>),
}

/// Whether the user trusts a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillTrust {
    Trusted,
    Held,
}

impl TrustedSkills {
    /// Returns whether the user trusts a skill of a root.
    pub(crate) fn trust_of(&self, skill: &Skill, root: &Root) -> SkillTrust {
        let Self::Only(folders) = self else {
            return SkillTrust::Trusted;
        };
        if root.scope() == Scope::Bundled {
            return SkillTrust::Trusted;
        }
        match root.source().real_path(&skill.folder) {
            Some(folder) if !folders.contains(&folder) => SkillTrust::Held,
            _ => SkillTrust::Trusted,
        }
    }
}
