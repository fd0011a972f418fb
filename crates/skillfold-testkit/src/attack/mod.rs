//! Paths that try to leave a skill, and a tree in which some of them could.

mod attack_path;

mod disguise;

mod paths;

#[cfg(unix)]
mod tree;

pub use attack_path::{
    ATTACKED_SKILL, AttackClass, AttackPath, ExpectedOutcome, SECRET, SHARED, contains_secret,
};
pub use paths::attack_paths;
#[cfg(unix)]
pub use tree::{HostileTree, hostile_tree};
