//! The hook in clients' configurations: which file, which events, and their entries.

use std::path::PathBuf;

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
            Self::ClaudeCode | Self::Codex | Self::Cursor | Self::Gemini | Self::VsCode => true,
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
        let base = match file {
            ClientFile::User => {
                let home = environment.home_dir();
                home.ok_or_else(|| Error::not_found("home"))?.to_owned()
            }
            ClientFile::Project => environment.project().to_owned(),
        };
        let is_user = file == ClientFile::User;
        let folder = |variable: &str, default: &str| {
            let named = environment.folder_variable(variable);
            named
                .filter(|_| is_user)
                .unwrap_or_else(|| base.join(default))
        };
        Ok(match self {
            Self::ClaudeCode => folder("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
            Self::Codex => folder("CODEX_HOME", ".codex").join("hooks.json"),
            Self::Cursor => base.join(".cursor/hooks.json"),
            Self::Gemini => base.join(".gemini/settings.json"),
            Self::VsCode if is_user => base.join(".copilot/hooks/skillfold.json"),
            Self::VsCode => base.join(".github/hooks/skillfold.json"),
            Self::ClaudeDesktop | Self::Goose | Self::OpenCode | Self::Windsurf | Self::Zed => {
                let why = format!("{self} has no hooks that add to a prompt");
                return Err(Error::invalid("--hook", why));
            }
        })
    }

    /// Returns the events to listen to, each with its entry.
    pub(crate) fn hook_entries(self, command: &str) -> Vec<(&'static str, Value)> {
        let command = format!("{}{COMMAND_MARK}{self}", shell_word(command));
        let plain =
            |timeout: u32| json!({ "type": "command", "command": command, "timeout": timeout });
        let group = |entry: Value| json!({ "hooks": [entry] });
        let on_start = |entry: Value| json!({ "matcher": "clear|compact", "hooks": [entry] });
        match self {
            Self::Codex => vec![
                ("UserPromptSubmit", group(plain(10))),
                ("SessionStart", on_start(plain(10))),
                ("PreCompact", group(plain(10))),
            ],
            Self::ClaudeCode => vec![
                ("UserPromptSubmit", group(plain(10))),
                ("SessionStart", on_start(plain(10))),
                ("SubagentStart", group(plain(10))),
                ("SubagentStop", group(plain(10))),
            ],
            Self::Gemini => {
                // Its timeouts are in milliseconds. It refuses every prompt if the command is missing.
                let entry = || {
                    let command = format!("{command}; exit 0");
                    group(json!({ "type": "command", "command": command, "timeout": 10_000 }))
                };
                vec![("BeforeAgent", entry()), ("PreCompress", entry())]
            }
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

    /// Returns the initial content of a hook file.
    pub(crate) fn hook_file_start(self) -> &'static str {
        match self {
            Self::Cursor => "{\n  \"version\": 1\n}\n",
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
