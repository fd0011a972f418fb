//! How clients write their own list of skills, and what that costs.

use skillfold_core::Entry;
use skillfold_core::disclose::TokenCounter;

/// How a client writes its own list of skills. Taken from requests of the real clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NativeList {
    /// What is written for a skill; `{name}`, `{description}` and `{path}` stand for its own.
    pub(super) skill: &'static str,
    /// What is written for a skill in any case, even if the list is longer than the limit.
    pub(super) name: &'static str,
    /// Maximum characters of the list.
    pub(super) limit: Option<u64>,
}

impl NativeList {
    pub(super) const CLAUDE_CODE: Self = Self {
        skill: "- {name}: {description}\n",
        name: "- {name}\n",
        limit: Some(22_000),
    };
    pub(super) const CODEX: Self = Self {
        skill: "- {name}: {description} (file: r0/{name}/SKILL.md)\n",
        name: "",
        limit: Some(20_900),
    };
    pub(super) const COPILOT_CLI: Self = Self {
        skill: "<skill>\n  <name>{name}</name>\n  <description>{description}</description>\n  <location>project</location>\n</skill>\n",
        name: "",
        limit: Some(20_000),
    };
    /// The names are in the schema of a tool too.
    pub(super) const GEMINI: Self = Self {
        skill: "  <skill>\n    <name>{name}</name>\n    <description>{description}</description>\n    <location>{path}</location>\n  </skill>\n{name}\n",
        name: "",
        limit: None,
    };
    pub(super) const OPENCODE: Self = Self {
        skill: "  <skill>\n    <name>{name}</name>\n    <description>{description}</description>\n    <location>{path}</location>\n  </skill>\n",
        name: "",
        limit: None,
    };
    pub(super) const QWEN: Self = Self {
        skill: "<skill>\n<name>\n{name}\n</name>\n<description>\n{description} (user)\n</description>\n<location>\nuser\n</location>\n</skill>\n",
        name: "",
        limit: None,
    };

    /// Returns the tokens of the list, about as the client writes it.
    pub(super) fn tokens<'a>(
        &self,
        skills: impl Iterator<Item = Entry<'a>>,
        counter: &dyn TokenCounter,
    ) -> u64 {
        let (mut characters, mut tokens, mut names) = (0, 0, 0);
        for entry in skills {
            let text = fill(self.skill, &entry);
            characters += text.chars().count() as u64;
            tokens += counter.count(&text);
            names += counter.count(&fill(self.name, &entry));
        }
        match self.limit {
            // What is beyond the limit is cut or left out; each client does that differently.
            Some(limit) if characters > limit => (tokens * limit / characters).max(names),
            _ => tokens,
        }
    }
}

fn fill(template: &str, entry: &Entry<'_>) -> String {
    let path = entry.file().unwrap_or_default();
    let (name, description) = (entry.manifest().name(), entry.manifest().description());
    template
        .replace("{name}", name.as_str())
        .replace("{path}", &path.to_string_lossy())
        .replace("{description}", description)
}
