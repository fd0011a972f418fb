//! The hook in clients' configurations: which file, which events, and their entries.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillfold::Environment;
use skillfold::core::Error;

use crate::client::{ClientFile, SetupClient};

/// The key of the hooks in a configuration.
pub(crate) const HOOKS_KEY: &str = "hooks";

/// Identifies our command in an entry.
const COMMAND_MARK: &str = " hook --client ";

impl SetupClient {
    /// Returns whether the client has hooks that can add to a prompt.
    pub const fn has_hooks(self) -> bool {
        match self {
            Self::ClaudeCode
            | Self::Codex
            | Self::CopilotCli
            | Self::Cursor
            | Self::Gemini
            | Self::Qwen
            | Self::VsCode => true,
            Self::ClaudeDesktop | Self::Goose | Self::OpenCode | Self::Windsurf | Self::Zed => {
                false
            }
        }
    }

    /// Returns the file with the client's hooks.
    pub(crate) fn hook_file(
        self,
        environment: &Environment,
        file: ClientFile,
    ) -> Result<PathBuf, Error> {
        let is_user = file == ClientFile::User;
        let path = match self {
            Self::ClaudeCode => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            // The other one is the hook of VS Code.
            Self::CopilotCli if is_user => ".copilot/hooks/skillfold-cli.json",
            Self::CopilotCli => ".github/hooks/skillfold-cli.json",
            Self::Cursor => ".cursor/hooks.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Qwen => ".qwen/settings.json",
            Self::VsCode if is_user => ".copilot/hooks/skillfold.json",
            Self::VsCode => ".github/hooks/skillfold.json",
            Self::ClaudeDesktop | Self::Goose | Self::OpenCode | Self::Windsurf | Self::Zed => {
                let why = format!("{self} has no hooks that add to a prompt");
                return Err(Error::invalid("hook", why));
            }
        };
        match file {
            ClientFile::User => environment
                .user_path(path)
                .ok_or_else(|| Error::not_found("home")),
            ClientFile::Project => Ok(environment.project().join(path)),
        }
    }

    /// Returns the events to listen to, each with its entry. `restore` is the file that the entry names if the program is
    /// gone.
    pub(crate) fn hook_entries(
        self,
        command: &str,
        restore: Option<&Path>,
    ) -> Vec<(&'static str, Value)> {
        let command = self.hook_line(command, restore);
        let plain =
            |timeout: u32| json!({ "type": "command", "command": command, "timeout": timeout });
        let group = |timeout: u32| json!({ "hooks": [plain(timeout)] });
        // The client's own way to load a skill.
        let skill_tool = || json!({ "matcher": "Skill", "hooks": [plain(10)] });
        match self {
            Self::Codex => vec![
                ("UserPromptSubmit", group(10)),
                ("SessionStart", group(10)),
                ("PreCompact", group(10)),
            ],
            Self::ClaudeCode => vec![
                ("UserPromptSubmit", group(10)),
                ("SessionStart", group(10)),
                ("SubagentStart", group(10)),
                ("SubagentStop", group(10)),
                ("PostToolUse", skill_tool()),
            ],
            Self::CopilotCli => {
                let entry = || json!({ "type": "command", "command": command, "timeoutSec": 10 });
                let events = ["userPromptTransformed", "sessionStart", "preCompact"];
                events.map(|event| (event, entry())).into()
            }
            // These two give milliseconds.
            Self::Gemini => vec![
                ("BeforeAgent", group(10_000)),
                ("PreCompress", group(10_000)),
            ],
            Self::Qwen => vec![
                ("UserPromptSubmit", group(10_000)),
                ("SessionStart", group(10_000)),
            ],
            Self::VsCode => vec![("UserPromptSubmit", plain(10)), ("PreCompact", plain(10))],
            Self::Cursor => {
                let entry = || json!({ "command": command, "timeout": 10 });
                vec![("beforeSubmitPrompt", entry()), ("preCompact", entry())]
            }
            Self::ClaudeDesktop | Self::Goose | Self::OpenCode | Self::Windsurf | Self::Zed => {
                Vec::new()
            }
        }
    }

    /// Returns the command line of the hook. If the program is gone, it names a file and succeeds: some clients refuse a
    /// prompt if a hook fails.
    fn hook_line(self, command: &str, restore: Option<&Path>) -> String {
        let program = shell_word(command);
        let line = format!("{program}{COMMAND_MARK}{self}");
        match restore {
            Some(file) if !cfg!(windows) => {
                let said = format!(
                    "Skillfold is gone. How to undo its changes: {}",
                    file.display()
                );
                // It shows its model no plain text.
                let said = match self {
                    Self::CopilotCli => json!({ "additionalContext": said }).to_string(),
                    _ => said,
                };
                format!("{line} || [ -x {program} ] || echo {}", shell_word(&said))
            }
            _ if self == Self::Gemini => format!("{line}; exit 0"),
            _ => line,
        }
    }

    /// Returns the initial content of a hook file.
    pub(crate) fn hook_file_start(self) -> &'static str {
        match self {
            Self::CopilotCli | Self::Cursor => "{\n  \"version\": 1\n}\n",
            _ => "",
        }
    }
}

/// Returns whether an entry, or one in a group, calls our hook.
pub(crate) fn is_our_hook(entry: &Value) -> bool {
    commands(entry).into_iter().any(is_our_command)
}

/// Returns whether an entry, or one in a group, calls another hook.
pub(crate) fn has_other_hook(entry: &Value) -> bool {
    !commands(entry).into_iter().all(is_our_command)
}

/// Returns our hook's program in an entry, if it is a plain path: variables set before it may be secret.
pub(crate) fn hook_command(entry: &Value) -> Option<String> {
    let ours = commands(entry).into_iter().find(|it| is_our_command(it))?;
    let (word, _) = ours.split_once(COMMAND_MARK)?;
    let path = match word.strip_prefix(['\'', '"']) {
        Some(rest) => rest.strip_suffix(['\'', '"'])?.replace(r"'\''", "'"),
        None => word.to_owned(),
    };
    (shell_word(&path) == word).then_some(path)
}

fn is_our_command(command: &str) -> bool {
    command.contains("skillfold") && command.contains(COMMAND_MARK)
}

/// Returns an entry's command, or those of a group; empty for any other kind of entry.
fn commands(entry: &Value) -> Vec<&str> {
    match entry.get("hooks").and_then(Value::as_array) {
        Some(group) => group.iter().flat_map(commands).collect(),
        None => vec![entry.get("command").and_then(Value::as_str).unwrap_or("")],
    }
}

/// Returns a path as a shell word.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/\\._-:".contains(c);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
