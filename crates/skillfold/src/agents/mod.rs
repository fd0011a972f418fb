//! Agents: which skills each may see, and the text that it starts with.

pub(crate) mod manifest;

pub(crate) mod agent;

pub use agent::AgentSkills;
pub use manifest::AgentManifest;
pub use skillfold_core::Agent;
