//! Builds a snapshot of all skills: which one wins a name, which are enabled, and how each is looked up.

// Modules are listed in dependency order.

pub(crate) mod canonical;
pub(crate) mod scope;
mod unescape;

pub(crate) mod root;

pub(crate) mod enablement;
pub(crate) mod skill_trust;
pub(crate) mod versions;

pub(crate) mod tables;

pub(crate) mod fingerprint;
mod unavailable;

pub(crate) mod snapshot;

pub(crate) mod entry;

pub(crate) mod difference;

mod discover;

mod previous_scan;

mod last_good;

pub(crate) mod refresh;

mod refresh_folders;

pub(crate) mod scan_cache;

pub(crate) mod layers;

pub(crate) mod filter;

pub(crate) mod nearest;

pub(crate) mod resolve;

pub use canonical::canonical;
pub use enablement::{Enablement, Toggle};
pub use entry::{Entry, Lookup, SkillHandle, Status};
pub use filter::{Filter, Page};
pub use nearest::nearest;
pub use refresh::{Changes, Refreshed};
pub use root::{PluginName, Root, Trust};
pub use scan_cache::{CacheReport, CachedDiscovery, CachedScan};
pub use scope::{InvalidScope, Precedence, Scope};
pub use skill_trust::TrustedSkills;
pub use snapshot::{Catalog, CatalogOptions};
pub use versions::{MismatchPolicy, VersionMismatch, Versions};
