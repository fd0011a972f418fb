//! Options of the server.

use skillfold::core::Error;
use skillfold::core::disclose::ToolNames;

/// Options of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) tools: ToolNames,
    pub(crate) structured: bool,
    pub(crate) agent: Option<String>,
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

    /// Serves an agent of the settings: only skills that it sees exist, and those that it uses are listed first.
    #[must_use]
    pub fn agent(self, id: impl Into<String>) -> Self {
        Self {
            agent: Some(id.into()),
            ..self
        }
    }
}
