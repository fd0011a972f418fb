//! The commands that run scripts and tools of skills, and allow them.

pub(crate) mod allow;

pub(crate) mod script;
pub(crate) mod tools;
