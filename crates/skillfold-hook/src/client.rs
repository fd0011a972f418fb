//! The clients with hooks: how each is recognized, and how much hook output each keeps.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use skillfold::Environment;
use skillfold::core::disclose::Style;
use skillfold::core::{Budget, Error};

/// A client that calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookClient {
    /// Amp, by a generated plugin.
    Amp,
    /// Claude Code.
    ClaudeCode,
    /// Cline.
    Cline,
    /// Codex.
    Codex,
    /// Copilot CLI.
    CopilotCli,
    /// Cursor.
    Cursor,
    /// Devin.
    Devin,
    /// Gemini CLI.
    Gemini,
    /// Kiro.
    Kiro,
    /// opencode, by a generated plugin.
    OpenCode,
    /// Qwen Code.
    Qwen,
    /// Visual Studio Code.
    VsCode,
}

impl HookClient {
    /// All clients, ordered by name.
    pub const ALL: [Self; 12] = [
        Self::Amp,
        Self::ClaudeCode,
        Self::Cline,
        Self::Codex,
        Self::CopilotCli,
        Self::Cursor,
        Self::Devin,
        Self::Gemini,
        Self::Kiro,
        Self::OpenCode,
        Self::Qwen,
        Self::VsCode,
    ];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amp => "amp",
            Self::ClaudeCode => "claude-code",
            Self::Cline => "cline",
            Self::Codex => "codex",
            Self::CopilotCli => "copilot-cli",
            Self::Cursor => "cursor",
            Self::Devin => "devin",
            Self::Gemini => "gemini",
            Self::Kiro => "kiro",
            Self::OpenCode => "opencode",
            Self::Qwen => "qwen",
            Self::VsCode => "vscode",
        }
    }

    /// Recognizes the client by an event's fields and the process's environment variables.
    pub(crate) fn recognise(fields: &Map<String, Value>, environment: &Environment) -> Self {
        let has_variable = |name: &str| environment.client_variable(name).is_some();
        let has = |field: &str| fields.contains_key(field);
        let event = ["hook_event_name", "hookEventName"];
        let event = event.iter().find_map(|name| fields.get(*name)?.as_str());
        if has("cursor_version") || has_variable("CURSOR_VERSION") {
            Self::Cursor
        } else if has("hookName") && has("taskId") {
            Self::Cline
        } else if has_variable("QWEN_PROJECT_DIR") {
            Self::Qwen
        } else if event == Some("BeforeAgent") || has_variable("GEMINI_SESSION_ID") {
            Self::Gemini
        } else if has("transformedPrompt") || has_variable("COPILOT_CLI") {
            Self::CopilotCli
        } else if has_variable("DEVIN_PROJECT_DIR") {
            Self::Devin
        } else if has("turn_id") && has("model") {
            Self::Codex
        } else if has("hookEventName") {
            Self::VsCode
        } else {
            Self::ClaudeCode
        }
    }

    /// Returns how much hook output the client keeps in full, with a reserve for differences in counting.
    pub(crate) fn budget(self) -> Budget {
        match self {
            // Moves the text to a file at 2,500 tokens by its own estimate.
            Self::Codex => Budget::tokens(2_200),
            // These move the text to a file at 10,000 characters.
            Self::ClaudeCode | Self::Cursor | Self::Devin => Budget::characters(9_800),
            // No known limit, or a far higher one.
            _ => Budget::characters(20_000),
        }
    }

    /// Returns how skills are formatted. Gemini and Qwen escape angle brackets, so tags would arrive broken.
    pub(crate) fn style(self) -> Style {
        match self {
            Self::Gemini | Self::Qwen => Style::Tiers,
            _ => Style::Lines,
        }
    }
}

impl fmt::Display for HookClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for HookClient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut clients = Self::ALL.into_iter();
        clients.find(|client| client.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(text, format!("it is not one of {names}"))
        })
    }
}
