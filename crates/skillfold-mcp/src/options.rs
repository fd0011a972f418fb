//! Server options.

use std::path::PathBuf;

use skillfold::conversation::Conversations;
use skillfold::core::Error;
use skillfold::core::disclose::ToolNames;

/// Server options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) tools: ToolNames,
    pub(crate) structured: bool,
    pub(crate) agent: Option<String>,
    pub(crate) shared: Option<(Conversations, Option<String>)>,
    pub(crate) project: Option<PathBuf>,
}

impl Options {
    /// Renames a tool.
    ///
    /// ```
    /// let options = skillfold_mcp::Options::default().tool("load_skill", "use_skill")?;
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn tool(self, tool: &str, name: &str) -> Result<Self, Error> {
        Ok(Self {
            tools: self.tools.rename(tool, name)?,
            ..self
        })
    }

    /// Also returns each response as JSON, with its schema, for programs. Many clients show a model this JSON instead
    /// of the text.
    #[must_use]
    pub fn structured(self) -> Self {
        Self {
            structured: true,
            ..self
        }
    }

    /// Records what conversations are given in the user's hook records, so that nothing is given twice. The
    /// conversation is the one named in a request, or else `conversation`. Only for a server on stdio: anyone who may
    /// send requests can name any conversation.
    #[must_use]
    pub fn share(self, conversations: Conversations, conversation: Option<String>) -> Self {
        Self {
            shared: Some((conversations, conversation)),
            ..self
        }
    }

    /// Sets the folder that the user works in, which scripts of skills may work on if the user allows it. A client's root
    /// replaces it. Only for a server on stdio: one for many clients knows no project.
    #[must_use]
    pub fn project(self, folder: impl Into<PathBuf>) -> Self {
        Self {
            project: Some(folder.into()),
            ..self
        }
    }

    /// Serves an agent from the settings, or from a manifest given by its path. Only the skills it can see exist, and
    /// those it uses are listed first.
    #[must_use]
    pub fn agent(self, id: impl Into<String>) -> Self {
        Self {
            agent: Some(id.into()),
            ..self
        }
    }
}
