//! Options of the server.

use skillfold::conversation::Conversations;
use skillfold::core::Error;
use skillfold::core::disclose::ToolNames;

/// Options of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) tools: ToolNames,
    pub(crate) structured: bool,
    pub(crate) agent: Option<String>,
    pub(crate) shared: Option<(Conversations, Option<String>)>,
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

    /// Also returns each answer as JSON, with its schema: for programs. Many clients show a model this JSON instead of
    /// the text.
    #[must_use]
    pub fn structured(self) -> Self {
        Self {
            structured: true,
            ..self
        }
    }

    /// Records what conversations are given where the hooks of the same user record it, so that nothing is given twice. The
    /// conversation is the one that a request names, or else `conversation`. Only for a server on stdio: whoever may send
    /// requests can name any conversation.
    #[must_use]
    pub fn share(self, conversations: Conversations, conversation: Option<String>) -> Self {
        Self {
            shared: Some((conversations, conversation)),
            ..self
        }
    }

    /// Serves an agent of the settings, or of a manifest by its path: only skills that it sees exist, and those that it uses are listed first.
    #[must_use]
    pub fn agent(self, id: impl Into<String>) -> Self {
        Self {
            agent: Some(id.into()),
            ..self
        }
    }
}
