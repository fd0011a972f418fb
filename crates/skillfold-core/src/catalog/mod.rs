//! Skills into a snapshot: who wins a name, what is on, and how each is found.
//!
//! Reading order is dependency order.

pub(crate) mod key;
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
