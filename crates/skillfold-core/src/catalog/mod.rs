//! Skills into a snapshot: who wins a name, what is on, and how each is found.
//!
//! Reading order is dependency order.

pub(crate) mod key;
mod printed;
pub(crate) mod scope;

pub(crate) mod root;

pub(crate) mod enablement;

pub(crate) mod tables;

pub(crate) mod entry;
mod folders;
mod hold;
mod log;
pub(crate) mod marks;
pub(crate) mod refresh;
pub(crate) mod remembered;
pub(crate) mod snapshot;

pub(crate) mod filter;
pub(crate) mod nearest;

pub(crate) mod look_up;
