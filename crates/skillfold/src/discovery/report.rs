//! How a catalog was discovered.

use skillfold_core::CatalogOptions;
use skillfold_core::catalog::{TrustedSkills, Versions};

#[cfg(feature = "index")]
use crate::discovery::root_cache::RootCache;
use crate::discovery::roots::SearchedRoot;
use crate::settings::{NewSkills, SettingFinding, Settings};
use crate::trust::trusted::{TrustRule, TrustedFolders};
use crate::trust::trusted_skills::TrustedSkillList;

/// How a catalog was discovered: the settings, roots and trust that were used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoveryReport {
    /// The settings with their origins and problems.
    pub settings: Settings,
    /// The folders that were looked for, in order of name precedence.
    pub roots: Vec<SearchedRoot>,
    /// The user's list of trusted folders, with its problems.
    pub trusted: TrustedFolders,
    /// Why the project is trusted, if it is.
    pub trusted_by: Option<TrustRule>,
    /// The rule that trusts the project by its path; what is in a pinned folder may have changed.
    pub(crate) rule_by_path: Option<TrustRule>,
    /// The user's list of trusted skills, with its problems; empty unless the settings hold new skills.
    pub trusted_skills: TrustedSkillList,
    /// The versions of the programs that the skills are used with: the engine, and what the host named.
    pub versions: Versions,
    /// How each root's cache file was used when the host started.
    #[cfg(feature = "index")]
    pub root_caches: Vec<RootCache>,
}

impl DiscoveryReport {
    /// Returns the problems of the settings, and of the lists of trusted folders and skills.
    pub fn findings(&self) -> impl Iterator<Item = &SettingFinding> {
        let lists = self
            .trusted
            .findings
            .iter()
            .chain(&self.trusted_skills.findings);
        self.settings.findings.iter().chain(lists)
    }

    /// Returns the options of the catalog.
    pub(crate) fn catalog_options(&self) -> CatalogOptions {
        let trusted = match self.settings.new_skills.value {
            NewSkills::Show => TrustedSkills::All,
            NewSkills::Hold => TrustedSkills::Only(self.trusted_skills.folders.clone()),
        };
        let options = self.settings.catalog_options();
        options
            .with_trusted_skills(trusted)
            .with_versions(self.versions.clone())
    }
}
