//! What is known about clients: how much of a server's instructions each keeps, and which skills it lists itself.

mod native_list;
mod settings_file;
mod staying;

mod own_list;

use skillfold_core::Budget;
use skillfold_core::catalog::Versions;

use native_list::NativeList;
pub use own_list::{ListSwitch, OwnList, SkillNames, SwitchForm};
pub use staying::BundledSkills;

/// The budget of a listing over MCP for a client that is not known. Some keep only 2,048 characters.
const UNKNOWN_BUDGET: Budget = Budget::characters(2_000);

/// A client that is known.
#[derive(Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Client {
    /// Its id, such as `claude-code`.
    pub id: &'static str,
    /// Its name in the protocol, or how that begins.
    info_name: &'static str,
    /// How much of a server's instructions it keeps, by its version; the newest first.
    kept: &'static [(Version, Kept)],
    /// Whether it passes on no server's instructions, so that our list comes with the hook at the start of a conversation.
    pub takes_list_from_hook: bool,
    /// The folders whose skills it lists itself, inside a project or a home.
    folders: &'static [&'static str],
    /// Whether it also lists skills that only people may start (`disable-model-invocation`).
    lists_for_people: bool,
    /// How it writes its own list; `None` if that is not known.
    native_list: Option<NativeList>,
    /// The setting that turns off its own list; `None` if it has none.
    pub list_switch: Option<ListSwitch>,
}

/// A version of a client: its first three numbers.
type Version = [u32; 3];

/// How much of a server's instructions a client keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kept {
    All,
    Characters(u64),
}

impl Client {
    /// Every client that is known.
    pub const ALL: &[Self] = &[
        Self {
            id: "claude-code",
            info_name: "claude-code",
            // It cuts at 4,096 characters, and cut at 2,048 before. Beyond 3,500, ours costs more than 40 % of its own list.
            kept: &[
                ([2, 1, 325], Kept::Characters(3_500)),
                ([0; 3], Kept::Characters(2_000)),
            ],
            takes_list_from_hook: false,
            folders: &[".claude/skills", ".claude/commands"],
            lists_for_people: false,
            native_list: Some(NativeList::CLAUDE_CODE),
            list_switch: Some(ListSwitch::CLAUDE_CODE),
        },
        Self {
            id: "codex",
            info_name: "codex-mcp-client",
            kept: &[([0; 3], Kept::All)],
            takes_list_from_hook: false,
            folders: &[".agents/skills", ".codex/skills"],
            lists_for_people: true,
            native_list: Some(NativeList::CODEX),
            list_switch: Some(ListSwitch::CODEX),
        },
        Self {
            id: "gemini",
            info_name: "gemini-cli-mcp-client",
            kept: &[([0; 3], Kept::All)],
            takes_list_from_hook: false,
            folders: &[".agents/skills", ".gemini/skills"],
            lists_for_people: true,
            native_list: Some(NativeList::GEMINI),
            list_switch: Some(ListSwitch::GEMINI),
        },
        Self {
            id: "opencode",
            info_name: "opencode",
            kept: &[([0; 3], Kept::All)],
            takes_list_from_hook: false,
            folders: &[
                ".agents/skills",
                ".claude/skills",
                ".opencode/skill",
                ".opencode/skills",
                ".config/opencode/skills",
            ],
            lists_for_people: true,
            native_list: Some(NativeList::OPENCODE),
            list_switch: Some(ListSwitch::OPENCODE),
        },
        Self {
            id: "vscode",
            info_name: "Visual Studio Code",
            kept: &[([0; 3], Kept::All)],
            takes_list_from_hook: false,
            folders: &[
                ".agents/skills",
                ".claude/skills",
                ".copilot/skills",
                ".github/skills",
            ],
            lists_for_people: false,
            native_list: None,
            list_switch: None,
        },
        Self {
            id: "copilot-cli",
            info_name: "copilot-cli",
            // It passes on those of other servers than its own with `--allow-all-mcp-server-instructions`, and then all of them.
            kept: &[([0; 3], Kept::All)],
            takes_list_from_hook: true,
            folders: &[
                ".agents/skills",
                ".claude/skills",
                ".copilot/skills",
                ".github/skills",
            ],
            lists_for_people: false,
            native_list: Some(NativeList::COPILOT_CLI),
            list_switch: Some(ListSwitch::COPILOT_CLI),
        },
        Self {
            id: "cursor",
            info_name: "cursor-vscode",
            kept: &[([0; 3], Kept::Characters(2_000))],
            takes_list_from_hook: false,
            folders: &[
                ".agents/skills",
                ".claude/skills",
                ".codex/skills",
                ".cursor/skills",
            ],
            lists_for_people: false,
            native_list: None,
            list_switch: None,
        },
        Self {
            id: "qwen",
            info_name: "qwen-cli-mcp-client",
            kept: &[([0; 3], Kept::Characters(2_000))],
            takes_list_from_hook: false,
            folders: &[".qwen/skills"],
            lists_for_people: false,
            native_list: Some(NativeList::QWEN),
            list_switch: Some(ListSwitch::QWEN),
        },
    ];

    /// Returns the client with an id.
    pub fn find(id: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|client| client.id == id)
    }

    /// Returns the folder that a skill has to be in for the client; `None` if it looks into `.agents/skills` too.
    #[cfg(feature = "registry")]
    pub(crate) fn own_folder(&self) -> Option<&'static str> {
        let first = self.folders.first().copied();
        first.filter(|_| !self.folders.contains(&".agents/skills"))
    }

    /// Returns the client that introduces itself by a name, as `clientInfo` of the protocol has it.
    pub fn from_info(name: &str) -> Option<&'static Self> {
        let is_named = |client: &&Self| {
            let rest = name.strip_prefix(client.info_name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        Self::ALL.iter().find(is_named)
    }

    /// Returns the version of the client that introduces itself by a name, under that name and under its id.
    pub(crate) fn versions(name: &str, version: &str) -> Versions {
        let versions = Versions::none().with(name, version);
        match Self::from_info(name) {
            Some(client) => versions.with(client.id, version),
            None => versions,
        }
    }

    /// Returns the budget of a listing that a version of the client keeps whole. Without a client or a version it is the
    /// smallest that is known.
    pub fn listing_budget(client: Option<&Self>, version: Option<&str>) -> Budget {
        let Some(client) = client else {
            return UNKNOWN_BUDGET;
        };
        let version = version.map_or([u32::MAX; 3], parse_version);
        let kept = client.kept.iter().find(|(from, _)| version >= *from);
        match kept.map(|(_, kept)| *kept) {
            Some(Kept::All) => Budget::catalog(skillfold_core::disclose::Window::Unknown),
            Some(Kept::Characters(limit)) => Budget::characters(limit),
            None => UNKNOWN_BUDGET,
        }
    }
}

/// Returns the first three numbers of a version; a part that is not a number is 0.
fn parse_version(text: &str) -> Version {
    let mut numbers = text
        .split(['.', '-', '+'])
        .map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use skillfold_core::Budget;

    use super::Client;

    fn budget(name: &str, version: &str) -> Budget {
        Client::listing_budget(Client::from_info(name), Some(version))
    }

    #[test]
    fn listing_budget_depends_on_the_client_version() {
        assert_eq!(budget("claude-code", "2.1.325"), Budget::characters(3_500));
        assert_eq!(budget("claude-code", "2.2.0"), Budget::characters(3_500));
        assert_eq!(budget("claude-code", "2.1.197"), Budget::characters(2_000));
        assert_eq!(budget("claude-code", "odd"), Budget::characters(2_000));
        assert_eq!(budget("codex-mcp-client", "0.1"), Budget::tokens(1_400));
        assert_eq!(
            budget("qwen-cli-mcp-client-x", "1"),
            Budget::characters(2_000)
        );
        assert_eq!(budget("codex-mcp-clients", "1"), Budget::characters(2_000));
        assert_eq!(budget("", ""), Budget::characters(2_000));
    }
}
