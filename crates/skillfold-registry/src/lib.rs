//! Fetches skills for Skillfold: sources, versions and the lock.
//!
//! An [`Address`] says where skills are. A [`Fetcher`] resolves it to a [`Pin`], such as a commit, and opens that version as a
//! [`Snapshot`], whose skills are read into memory. Nothing is written but git's copies in the cache, and what is read is checked:
//! a commit id down to every byte, an archive by its digest.
//!
//! [`WantedSkills`] is `skills.toml`, [`Lockfile`] is `skills.lock`. The crate `skillfold` with its feature `registry` installs
//! skills with them.
#![forbid(unsafe_code)]

// Modules are listed in dependency order.

mod tree;

mod archive;

mod address;

mod find;

mod lock;

mod wanted;

mod policy;

pub mod foreign;

mod options;

mod http;

mod folder;

mod seen;

mod git;

mod age;

mod fetcher;

pub use address::{Address, SourceKind};
pub use age::{HeldBack, Resolved};
pub use fetcher::{Fetcher, Snapshot};
pub use find::{Found, LeftOut, ListedSkill};
pub use git::VARIABLES;
pub use lock::{LOCK_FILE, LockedSkill, Lockfile, Pin};
pub use options::{FetchOptions, FetchPolicy, Progress, Tokens, token_host};
pub use policy::{MinimumAge, POLICY_FILE, PolicyRule, SourcePolicy};
pub use tree::FileTree;
pub use wanted::{WANTED_FILE, WantedSkill, WantedSkills};
