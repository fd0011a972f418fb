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
    /// Proposes a change of a skill.
    #[cfg(feature = "store")]
    ProposeUpdate,
    /// Proposes a new skill.
    #[cfg(feature = "store")]
    ProposeNew,
    /// Runs a skill's script.
    #[cfg(feature = "run")]
    RunScript,
    /// Calls a skill's tool.
    #[cfg(feature = "run")]
    CallTool,
}

impl Tool {
    /// The name of the tool that proposes a change of a skill.
    pub const PROPOSE_UPDATE: &str = "propose_skill_update";
    /// The name of the tool that proposes a new skill.
    pub const PROPOSE_NEW: &str = "propose_new_skill";

    /// The name of the tool that runs a script of a skill.
    #[cfg(feature = "run")]
    pub const RUN_SCRIPT: &str = "run_skill_script";
    /// The name of the tool that calls a tool of a skill.
    #[cfg(feature = "run")]
    pub const CALL_TOOL: &str = "call_skill_tool";

    /// Returns whether a call only reads.
    pub fn only_reads(self) -> bool {
        match self {
            Self::Search | Self::Load | Self::LoadAlias | Self::Read | Self::List => true,
            #[cfg(feature = "store")]
            Self::ProposeUpdate | Self::ProposeNew => false,
            #[cfg(feature = "run")]
            Self::RunScript | Self::CallTool => false,
        }
    }
}
