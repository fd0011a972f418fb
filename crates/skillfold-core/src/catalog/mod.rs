//! Builds a snapshot of all skills: which one wins a name, which are enabled, and how each is looked up.
//!
//! Modules are listed in dependency order.

pub(crate) mod canonical;
pub(crate) mod scope;
mod unescape;

pub(crate) mod root;

pub(crate) mod enablement;

pub(crate) mod tables;

pub(crate) mod entry;
pub(crate) mod fingerprint;
mod last_good;
mod log;
pub(crate) mod refresh;
mod refresh_folders;
pub(crate) mod scan_cache;
pub(crate) mod snapshot;

pub(crate) mod filter;
pub(crate) mod nearest;

pub(crate) mod resolve;
