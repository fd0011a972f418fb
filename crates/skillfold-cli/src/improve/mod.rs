//! The commands with which a person decides about changes of skills.

pub(crate) mod decision;
mod text_diff;

pub(crate) mod audit;
pub(crate) mod history;
pub(crate) mod passphrase;
pub(crate) mod proposals;

pub(crate) mod decide;

pub(crate) mod review;
