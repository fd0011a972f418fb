//! The protocol besides tools: prompts, resources, and skills through its extension.

pub(crate) mod page;
pub(crate) mod uri;

pub(crate) mod prompts;
pub(crate) mod resources;

pub(crate) mod sep2640;
