//! Checks tools against a skill's `allowed-tools`.

use crate::read::manifest::Manifest;

/// Whether a skill's list of allowed tools includes a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolCheck<'a> {
    /// The skill has no list, or an empty one: it asks for nothing and forbids nothing.
    Unlisted,
    /// The tool is on the list.
    Allowed,
    /// The tool is on the list for some uses, restricted by these rules: `git:*` for `Bash(git:*)`.
    Conditional(Vec<&'a str>),
    /// There is a list, and the tool is not on it.
    Refused,
}

impl<'a> ToolCheck<'a> {
    fn from_rules(rules: Vec<&'a str>) -> Self {
        if rules.is_empty() {
            Self::Refused
        } else {
            Self::Conditional(rules)
        }
    }
}

impl Manifest {
    /// Returns whether the skill's `allowed-tools` include a tool. The engine enforces nothing: a host that wants to
    /// calls this before each tool call.
    ///
    /// ```
    /// use skillfold_core::read::{ToolCheck, parse};
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
        let mut all = self.allowed_tools().iter().peekable();
        while let Some(allowed) = all.next() {
            let (name, rule) = match allowed.split_once('(') {
                Some((name, rule)) => (name.trim_end(), Some(rule)),
                // A rule may be separated from its tool by white space.
                None => match all.next_if(|next| next.starts_with('(')) {
                    Some(rule) => (&**allowed, rule.strip_prefix('(')),
                    None => (&**allowed, None),
                },
            };
            if !matches_tool(name, tool) {
                continue;
            }
            match rule {
                Some(rule) => rules.push(rule.strip_suffix(')').unwrap_or(rule)),
                None => return ToolCheck::Allowed,
            }
        }
        ToolCheck::from_rules(rules)
    }

    /// Returns whether the skill's `allowed-tools` include one use of a tool. `input` is what the tool is given: for a
    /// shell its command line.
    ///
    /// `Bash(git:*)` includes `git` with any arguments, `Bash(npm test)` that command line alone. A line that has more
    /// than one command, or redirects, is included only if it is listed as it stands; one whose quoted text looks so is
    /// refused too. What a command itself starts is not seen. Rules in other forms, such as `Read(src/**)`, are left to
    /// the host, which knows what they mean in its tools: they are returned as conditions.
    ///
    /// ```
    /// use skillfold_core::read::{ToolCheck, parse};
    ///
    /// let file = b"---\nname: a\ndescription: d\nallowed-tools: Bash(git:*)\n---\n";
    /// let manifest = parse(file, "a").manifest.unwrap();
    /// assert_eq!(manifest.check_tool_use("Bash", "git log -3"), ToolCheck::Allowed);
    /// assert_eq!(manifest.check_tool_use("Bash", "git log; rm -r ."), ToolCheck::Refused);
    /// ```
    pub fn check_tool_use(&self, tool: &str, input: &str) -> ToolCheck<'_> {
        let rules = match self.check_tool(tool) {
            ToolCheck::Conditional(rules) => rules,
            decided => return decided,
        };
        let mut undecided = Vec::new();
        for rule in rules {
            match rule_includes(rule.trim(), input.trim()) {
                Some(true) => return ToolCheck::Allowed,
                Some(false) => {}
                None => undecided.push(rule),
            }
        }
        ToolCheck::from_rules(undecided)
    }
}

/// Returns whether a rule includes what a tool is given; `None` if that depends on the tool.
fn rule_includes(rule: &str, input: &str) -> Option<bool> {
    if rule == input || rule == "*" {
        return Some(true);
    }
    let has_other_form = |rule: &str| rule.contains(['*', '?', '[', '{', '!', '~', ':']);
    match rule.strip_suffix(":*") {
        Some(command) if !command.is_empty() && !has_other_form(command) => {
            let arguments = input.strip_prefix(command);
            let is_command =
                arguments.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
            Some(is_command && is_single_command(input))
        }
        None if !has_other_form(rule) => Some(false),
        _ => None,
    }
}

/// Returns whether a shell certainly runs a line as one command, without redirection.
fn is_single_command(line: &str) -> bool {
    !line.contains([';', '|', '&', '<', '>', '`', '\n', '\r']) && !line.contains("$(")
}

/// Returns whether an entry names a tool: exactly, or as a prefix followed by `*`.
fn matches_tool(name: &str, tool: &str) -> bool {
    match name.strip_suffix('*') {
        Some(prefix) => tool.starts_with(prefix),
        None => name == tool,
    }
}

#[cfg(test)]
mod tests {
    use super::ToolCheck::{Allowed, Conditional, Refused, Unlisted};
    use crate::read::parse::parse;

    #[test]
    fn tools_are_checked_against_the_list() {
        let check = |list: &str, tool: &str| {
            let file = format!("---\nname: a\ndescription: d\n{list}\n---\n");
            let manifest = parse(file.as_bytes(), "a").manifest.unwrap();
            format!("{:?}", manifest.check_tool(tool))
        };
        let list = "allowed-tools: Read, Bash(git:*), Bash(npm test), mcp__x__*";
        for (list, tool, expected) in [
            ("", "Read", Unlisted),
            ("allowed-tools: []", "Read", Unlisted),
            (list, "Read", Allowed),
            (list, "read", Refused),
            (list, "Write", Refused),
            (list, "mcp__x__get", Allowed),
            (list, "mcp__y__get", Refused),
            (list, "Bash", Conditional(vec!["git:*", "npm test"])),
            (
                "allowed-tools: Bash (git:*)",
                "Bash",
                Conditional(vec!["git:*"]),
            ),
            ("allowed-tools: [Bash, 'Bash(x)']", "Bash", Allowed),
            ("allowed-tools: '*'", "Bash", Allowed),
        ] {
            assert_eq!(check(list, tool), format!("{expected:?}"), "{list}: {tool}");
        }
    }
    #[test]
    fn tool_call_is_checked_against_its_rules() {
        let file = "---\nname: a\ndescription: d\nallowed-tools: Read, Bash(git:*), Bash(npm test), Bash(npm run test:unit), Edit(src/**), Any(*)\n---\n";
        let manifest = parse(file.as_bytes(), "a").manifest.unwrap();
        for (tool, input, expected) in [
            ("Read", "/etc/passwd", Allowed),
            ("Write", "x", Refused),
            ("Any", "x", Allowed),
            ("Bash", "git", Allowed),
            ("Bash", " git log -3", Allowed),
            ("Bash", "npm test", Allowed),
            ("Bash", "npm run test:unit", Allowed),
            ("Bash", "gitk", Conditional(vec!["npm run test:unit"])),
            ("Edit", "src/lib.rs", Conditional(vec!["src/**"])),
        ] {
            assert_eq!(
                manifest.check_tool_use(tool, input),
                expected,
                "{tool}: {input}"
            );
        }
        let file =
            "---\nname: a\ndescription: d\nallowed-tools: Bash(git:*), Bash(npm test)\n---\n";
        let manifest = parse(file.as_bytes(), "a").manifest.unwrap();
        for input in [
            "gitk",
            "npm test -- x",
            "rm -r .",
            "git log; rm -r .",
            "git log && rm -r .",
            "git log | sh",
            "git log > x",
            "git log `rm x`",
            "git log $(rm x)",
            "git log\nrm x",
        ] {
            assert_eq!(manifest.check_tool_use("Bash", input), Refused, "{input}");
        }
    }
}
