//! Agents bound to skills: which skills an agent has from the start, which it sees, and the text it begins with.

pub(crate) mod agent;

pub(crate) mod agent_view;

pub(crate) mod compose;
