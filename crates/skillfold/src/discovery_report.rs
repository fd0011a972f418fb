//! How a catalog was discovered.

#[cfg(feature = "index")]
use crate::root_cache::RootCache;
use crate::roots::SearchedRoot;
use crate::settings::Settings;
use crate::trust::{TrustRule, TrustedFolders};

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
    /// How each root's cache file was used when the host started.
    #[cfg(feature = "index")]
    pub root_caches: Vec<RootCache>,
}
