//! Options of the server.

use std::fmt;

/// The default names of the tools.
const DEFAULT_NAMES: [&str; 4] = [
    "list_skills",
    "search_skills",
    "load_skill",
    "read_skill_resource",
];

/// Maximum bytes of a tool name that clients accept.
const MAX_NAME_BYTES: usize = 64;

/// Options of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    list: Option<String>,
    search: Option<String>,
    load: Option<String>,
    read: Option<String>,
}

impl Options {
    /// Renames a tool.
    ///
    /// ```
    /// let options = skillfold_mcp::Options::default().tool("load_skill", "use_skill")?;
    /// # Ok::<(), skillfold_mcp::InvalidTools>(())
    /// ```
    pub fn tool(mut self, tool: &str, name: &str) -> Result<Self, InvalidTools> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_plain) {
            return Err(InvalidTools(format!(
                "A tool's name has 1 to {MAX_NAME_BYTES} letters, digits, `_` and `-`, and `{name}` has not"
            )));
        }
        let slot = match tool {
            "list_skills" => &mut self.list,
            "search_skills" => &mut self.search,
            "load_skill" => &mut self.load,
            "read_skill_resource" => &mut self.read,
            _ => {
                let tools = DEFAULT_NAMES.join("`, `");
                return Err(InvalidTools(format!(
                    "There is no tool `{tool}`; there are `{tools}`"
                )));
            }
        };
        *slot = Some(name.to_owned());
        let mut names = self.names();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(InvalidTools(format!("Two tools have the name `{name}`")));
        }
        Ok(self)
    }

    /// Returns the names of the tools: list, search, load, read.
    pub(crate) fn names(&self) -> [&str; 4] {
        let chosen = [&self.list, &self.search, &self.load, &self.read];
        std::array::from_fn(|index| chosen[index].as_deref().unwrap_or(DEFAULT_NAMES[index]))
    }

    /// Returns whether the load tool was renamed.
    pub(crate) fn has_custom_load_name(&self) -> bool {
        self.load.is_some()
    }
}

/// Why tools cannot have these names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTools(String);

impl fmt::Display for InvalidTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for InvalidTools {}
