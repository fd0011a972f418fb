//! Which folders and skills the user trusts, and the checks of these lists.

pub(crate) mod folder_list;

pub(crate) mod accepted;
pub(crate) mod pinned_source;
pub(crate) mod pins;

pub(crate) mod trusted;

pub(crate) mod check;

pub use accepted::AcceptedFolders;
#[cfg(feature = "store")]
pub use accepted::{accept_skills, hold_skill};
pub use pins::Pins;
pub use trusted::{TrustRule, TrustedFolder, TrustedFolders, TrustedState};
#[cfg(feature = "store")]
pub use trusted::{check_trustable, distrust_folder, trust_folder, trust_pinned};
