//! The clients: where each keeps its servers, in which format, and how it describes one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;
use skillfold_core::Error;

use crate::environment::Environment;
use crate::setup::entry::{Entry, Field};

/// A program that can use skills over MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Goose.
    Goose,
    /// opencode.
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// Visual Studio Code.
    VsCode,
}

/// Whose configuration is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFile {
    /// The person's, for all projects.
    User,
    /// The project's, for everybody who works on it.
    Project,
}

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
    Yaml,
}

/// Seconds that Goose waits for an answer.
const GOOSE_SECONDS: i64 = 300;

impl Client {
    /// All clients, in the order of their names.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::Gemini,
        Self::Goose,
        Self::OpenCode,
        Self::VsCode,
    ];

    /// Returns the name by which a person calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Goose => "goose",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
            Self::VsCode => "vscode",
        }
    }

    pub(super) const fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            Self::Goose => Format::Yaml,
            Self::ClaudeCode | Self::Cursor | Self::OpenCode | Self::Gemini | Self::VsCode => {
                Format::Json
            }
        }
    }

    /// Returns the keys below which servers stand, in a configuration that holds `value`.
    pub(super) fn keys(self, value: &Value) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode | Self::Cursor | Self::Gemini => &["mcpServers"],
            Self::Codex => &["mcp_servers"],
            Self::Goose => &["extensions"],
            Self::VsCode => &["servers"],
            Self::OpenCode => match value.pointer("/mcp/servers") {
                // The second version has a level more; in the first one, what has a type is a server of this name.
                Some(servers) if servers.get("type").is_none() => &["mcp", "servers"],
                _ => &["mcp"],
            },
        }
    }

    /// Returns the server as the client describes it.
    pub(super) fn entry(self, file: ClientFile, command: &str) -> Entry {
        let text = |text: &str| Field::text(text);
        let mut serve = vec!["serve".to_owned()];
        if self == Self::Cursor && file == ClientFile::Project {
            // It starts servers where it was started itself, and says here which folder is meant.
            serve.extend(["-C".to_owned(), "${workspaceFolder}".to_owned()]);
        }
        let args = Field::List(serve.clone());
        Entry(match self {
            Self::ClaudeCode | Self::Cursor | Self::VsCode => vec![
                ("type", text("stdio")),
                ("command", text(command)),
                ("args", args),
            ],
            Self::Gemini | Self::Codex => vec![("command", text(command)), ("args", args)],
            Self::OpenCode => {
                serve.insert(0, command.to_owned());
                vec![("type", text("local")), ("command", Field::List(serve))]
            }
            Self::Goose => vec![
                ("enabled", Field::Flag(true)),
                ("type", text("stdio")),
                ("name", text("skillfold")),
                ("description", text("Agent skills")),
                ("cmd", text(command)),
                ("args", args),
                ("timeout", Field::Number(GOOSE_SECONDS)),
            ],
        })
    }

    /// Returns the file that the client reads.
    pub(super) fn file(
        self,
        environment: &Environment,
        file: ClientFile,
    ) -> Result<PathBuf, Error> {
        match file {
            ClientFile::User => self
                .user_file(environment)
                .ok_or_else(|| Error::not_found("home")),
            ClientFile::Project => self.project_file(environment),
        }
    }

    fn user_file(self, environment: &Environment) -> Option<PathBuf> {
        let home = environment.home_dir();
        let below = |path: &str| Some(home?.join(path));
        let named = |variable: &str, otherwise: &str| {
            let named = environment.folder_in(variable);
            named.or_else(|| below(otherwise))
        };
        let config = || named("XDG_CONFIG_HOME", ".config");
        Some(match self {
            Self::ClaudeCode => named("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            Self::Codex => named("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Cursor => below(".cursor/mcp.json")?,
            Self::Gemini => below(".gemini/settings.json")?,
            Self::Goose if cfg!(windows) => environment
                .folder_in("APPDATA")?
                .join("Block/goose/config/config.yaml"),
            Self::Goose => config()?.join("goose/config.yaml"),
            Self::OpenCode => either(&config()?.join("opencode")),
            Self::VsCode if cfg!(windows) => {
                environment.folder_in("APPDATA")?.join("Code/User/mcp.json")
            }
            Self::VsCode if cfg!(target_os = "macos") => {
                below("Library/Application Support/Code/User/mcp.json")?
            }
            Self::VsCode => config()?.join("Code/User/mcp.json"),
        })
    }

    fn project_file(self, environment: &Environment) -> Result<PathBuf, Error> {
        let project = environment.project();
        if environment.home_dir() == Some(project) {
            let why = "The project is your home; leave the option out";
            return Err(Error::invalid("--project", why));
        }
        Ok(match self {
            Self::ClaudeCode => project.join(".mcp.json"),
            Self::Codex => project.join(".codex/config.toml"),
            Self::Cursor => project.join(".cursor/mcp.json"),
            Self::Gemini => project.join(".gemini/settings.json"),
            Self::OpenCode => either(project),
            Self::VsCode => project.join(".vscode/mcp.json"),
            Self::Goose => {
                let why = "Goose has no configuration of a project; leave the option out";
                return Err(Error::invalid("--project", why));
            }
        })
    }
}

/// Returns the configuration of opencode in a folder: the one with comments where there is one.
fn either(folder: &Path) -> PathBuf {
    let commented = folder.join("opencode.jsonc");
    if commented.exists() {
        commented
    } else {
        folder.join("opencode.json")
    }
}

impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Client {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut clients = Self::ALL.into_iter();
        clients.find(|client| client.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(text, format!("it is not one of {names}"))
        })
    }
}
