//! The names of the tools for a model.

use crate::error::{Error, ErrorKind};

/// Maximum bytes of a tool name that clients accept.
const MAX_NAME_BYTES: usize = 64;

/// The names of the tools that a model has for skills. Texts for the model mention them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolNames {
    /// The tool that lists all skills.
    pub list: Box<str>,
    /// The tool that searches for skills.
    pub search: Box<str>,
    /// The tool that loads the instructions of a skill.
    pub load: Box<str>,
    /// The tool that reads a file of a skill.
    pub read: Box<str>,
}

impl ToolNames {
    /// The default name of the tool that lists all skills.
    pub const LIST: &str = "list_skills";
    /// The default name of the tool that searches for skills.
    pub const SEARCH: &str = "search_skills";
    /// The default name of the tool that loads a skill.
    pub const LOAD: &str = "load_skill";
    /// The default name of the tool that reads a file of a skill.
    pub const READ: &str = "read_skill_resource";
    /// The other name of the tool that loads a skill, which always works. It answers in an envelope of its own.
    pub const LOAD_ALIAS: &str = "read_skill";

    /// Renames the tool with a default name.
    ///
    /// ```
    /// use skillfold_core::disclose::ToolNames;
    ///
    /// let names = ToolNames::default().rename("load_skill", "use_skill")?;
    /// assert_eq!(&*names.load, "use_skill");
    /// # Ok::<(), skillfold_core::Error>(())
    /// ```
    pub fn rename(mut self, tool: &str, name: &str) -> Result<Self, Error> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_plain) {
            return Err(invalid(
                &format!("`{name}` cannot be the name of a tool"),
                "Use 1 to 64 letters, digits, `_` and `-`",
            ));
        }
        let slot = match tool {
            Self::LIST => &mut self.list,
            Self::SEARCH => &mut self.search,
            Self::LOAD => &mut self.load,
            Self::READ => &mut self.read,
            _ => {
                return Err(invalid(
                    &format!("There is no tool `{tool}`"),
                    "The tools are `list_skills`, `search_skills`, `load_skill` and `read_skill_resource`",
                ));
            }
        };
        *slot = name.into();
        let mut names = [&*self.list, &*self.search, &*self.load, &*self.read];
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(invalid(
                &format!("Two tools would have the name `{name}`"),
                "Give each tool a name of its own",
            ));
        }
        Ok(self)
    }
}

impl Default for ToolNames {
    fn default() -> Self {
        Self {
            list: Self::LIST.into(),
            search: Self::SEARCH.into(),
            load: Self::LOAD.into(),
            read: Self::READ.into(),
        }
    }
}

fn invalid(message: &str, hint: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, message, hint)
}
