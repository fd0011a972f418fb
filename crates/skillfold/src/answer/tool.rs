//! The tools that a model has for skills.

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tool {
    /// Searches for skills.
    Search,
    /// Loads the instructions of a skill.
    Load,
    /// Loads the instructions of a skill by the name `read_skill`, in the envelope of that name.
    LoadAlias,
    /// Reads a file of a skill.
    Read,
    /// Lists all skills.
    List,
}
