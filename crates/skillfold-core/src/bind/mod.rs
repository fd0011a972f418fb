//! Agents and their skills: which skills an agent starts with, which it sees, and the text that it starts with.

pub(crate) mod agent;

pub(crate) mod agent_view;

pub(crate) mod compose;

pub use agent::{Agent, Visibility};
pub use agent_view::{AgentView, MissingSkill};
pub use compose::{ComposedInstructions, Section, SectionKind, compose_instructions};
