//! The tools that a skill asks to use.

use crate::read::manifest::Manifest;

/// Whether a skill's list of tools has a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolCheck<'a> {
    /// The skill has no list: it asks for nothing, and forbids nothing.
    Unlisted,
    /// The tool is on the list.
    Allowed,
    /// The tool is on the list for some uses, by these rules: `git:*` of `Bash(git:*)`.
    Conditional(Vec<&'a str>),
    /// There is a list, and the tool is not on it.
    Refused,
}

impl Manifest {
    /// Returns whether the skill's `allowed-tools` have a tool. Nothing is enforced by the engine: a host that wants to
    /// asks here before each call.
    ///
    /// ```
    /// use skillfold_core::{ToolCheck, parse};
    ///
    /// let file = b"---\nname: a\ndescription: d\nallowed-tools: Read Bash(git:*)\n---\n";
    /// let manifest = parse(file, "a").manifest.unwrap();
    /// assert_eq!(manifest.check_tool("Read"), ToolCheck::Allowed);
    /// assert_eq!(manifest.check_tool("Bash"), ToolCheck::Conditional(vec!["git:*"]));
    /// assert_eq!(manifest.check_tool("Write"), ToolCheck::Refused);
    /// ```
    pub fn check_tool(&self, tool: &str) -> ToolCheck<'_> {
        if self.allowed_tools().is_empty() {
            return ToolCheck::Unlisted;
        }
        let mut rules = Vec::new();
        for allowed in self.allowed_tools() {
            match allowed.split_once('(') {
                None if **allowed == *tool => return ToolCheck::Allowed,
                Some((name, rule)) if name.trim_end() == tool => {
                    rules.push(rule.strip_suffix(')').unwrap_or(rule));
                }
                _ => {}
            }
        }
        if rules.is_empty() {
            ToolCheck::Refused
        } else {
            ToolCheck::Conditional(rules)
        }
    }
}
