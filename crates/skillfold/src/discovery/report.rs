//! How a catalog was discovered.

use skillfold_core::CatalogOptions;
use skillfold_core::catalog::{AcceptedSkills, Versions};

#[cfg(feature = "index")]
use crate::discovery::root_cache::RootCache;
use crate::discovery::roots::SearchedRoot;
use crate::settings::{NewSkills, SettingFinding, Settings};
use crate::trust::accepted::AcceptedFolders;
use crate::trust::trusted::{TrustRule, TrustedFolders};

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
    /// The user's list of accepted skills, with its problems; empty unless the settings hold new skills.
    pub accepted: AcceptedFolders,
    /// The versions of the programs that the skills are used with: the engine, and what the host named.
    pub versions: Versions,
    /// How each root's cache file was used when the host started.
    #[cfg(feature = "index")]
    pub root_caches: Vec<RootCache>,
}

impl DiscoveryReport {
    /// Returns the problems of the settings, and of the lists of trusted folders and accepted skills.
    pub fn findings(&self) -> impl Iterator<Item = &SettingFinding> {
        let lists = self.trusted.findings.iter().chain(&self.accepted.findings);
        self.settings.findings.iter().chain(lists)
    }

    /// Returns the options of the catalog.
    pub(crate) fn catalog_options(&self) -> CatalogOptions {
        let accepted = match self.settings.new_skills.value {
            NewSkills::Show => AcceptedSkills::All,
            NewSkills::Hold => AcceptedSkills::Only(self.accepted.folders.clone()),
        };
        let options = self.settings.catalog_options();
        options
            .with_accepted(accepted)
            .with_versions(self.versions.clone())
    }
}
