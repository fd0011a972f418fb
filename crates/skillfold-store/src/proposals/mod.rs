//! Proposed changes to skills: written, decided, undone and logged.

mod contents;
pub(crate) mod log;

pub(crate) mod approval;
pub(crate) mod proposal;

pub(crate) mod store;

pub(crate) mod propose;

pub(crate) mod history;

pub(crate) mod decide;

pub(crate) mod versions;
