//! Loading: instructions with their arguments filled in, wrapped in an envelope, and the skill's files.

pub(crate) mod body;

pub(crate) mod arguments;

pub(crate) mod envelope;

pub(crate) mod instructions;

pub(crate) mod digest;
pub(crate) mod instruction_cache;

pub(crate) mod loader;

pub(crate) mod requires;

mod mentions;

pub(crate) mod file;

pub(crate) mod files;

pub(crate) mod publish;

pub(crate) mod render;
