//! The commands with which changes of skills are proposed and decided.

pub(crate) mod decision;
mod digest;
mod text_diff;

mod audit_text;

pub(crate) mod audit;
pub(crate) mod history;
pub(crate) mod passphrase;
pub(crate) mod proposals;
pub(crate) mod propose;

pub(crate) mod decide;

pub(crate) mod review;
