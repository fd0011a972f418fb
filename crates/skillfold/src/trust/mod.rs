//! Which folders and skills the user trusts, and the checks of these lists.

pub(crate) mod folder_list;

pub(crate) mod pinned_source;
pub(crate) mod pins;
pub(crate) mod trusted_skills;

pub(crate) mod trusted;

pub(crate) mod check;

pub use pins::Pins;
pub use trusted::{TrustRule, TrustedFolder, TrustedFolders, TrustedState};
#[cfg(feature = "store")]
pub use trusted::{check_trustable, distrust_folder, trust_folder, trust_pinned};
pub use trusted_skills::TrustedSkillList;
#[cfg(feature = "store")]
pub use trusted_skills::{distrust_skill, trust_skills};
