//! The supported clients: where each configures MCP servers, in which format, and with which fields.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;
use skillfold::core::Error;

use crate::entry::{Entry, Field};
use skillfold::Environment;

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

/// Which configuration file of a client to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFile {
    /// The user's, for all projects.
    User,
    /// The project's, for everyone who works on it.
    Project,
}

/// The file format of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Toml,
    Yaml,
}

/// How long Goose waits for an answer.
const GOOSE_TIMEOUT_SECONDS: i64 = 300;

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

    /// Returns its name on the command line.
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

    /// Returns its name as its maker writes it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Goose => "Goose",
            Self::OpenCode => "opencode",
            Self::Gemini => "Gemini CLI",
            Self::VsCode => "VS Code",
        }
    }

    /// Returns whether a project can have a configuration for the client.
    pub const fn has_project_file(self) -> bool {
        !matches!(self, Self::Goose)
    }

    /// Returns whether the user has the client, by its configuration.
    pub fn is_used(self, environment: &Environment) -> bool {
        let home = environment.home_dir();
        let has_folder = |file: &Path| {
            let folder = file.parent().filter(|folder| Some(*folder) != home);
            file.exists() || folder.is_some_and(Path::exists)
        };
        let server = self.file(environment, ClientFile::User);
        let hook = self.hook_file(environment, ClientFile::User);
        match self {
            // Others also have a folder of this name for hooks.
            Self::VsCode => server.is_ok_and(|file| has_folder(&file)),
            _ => [server, hook]
                .into_iter()
                .flatten()
                .any(|file| has_folder(&file)),
        }
    }

    pub(crate) const fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            Self::Goose => Format::Yaml,
            Self::ClaudeCode | Self::Cursor | Self::OpenCode | Self::Gemini | Self::VsCode => {
                Format::Json
            }
        }
    }

    /// Returns the path of keys to the servers in the configuration `value`.
    pub(crate) fn server_keys(self, value: &Value) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode | Self::Cursor | Self::Gemini => &["mcpServers"],
            Self::Codex => &["mcp_servers"],
            Self::Goose => &["extensions"],
            Self::VsCode => &["servers"],
            Self::OpenCode => match value.pointer("/mcp/servers") {
                // Version 2 nests servers one level deeper. In version 1, an entry with a `type` is a server that is
                // itself named `servers`.
                Some(servers) if servers.get("type").is_none() => &["mcp", "servers"],
                _ => &["mcp"],
            },
        }
    }

    /// Returns the client's configuration entry for the server.
    pub(crate) fn entry(self, file: ClientFile, command: &str) -> Entry {
        let text = |text: &str| Field::text(text);
        let mut serve = vec!["serve".to_owned()];
        if self == Self::Cursor && file == ClientFile::Project {
            // Cursor starts servers in its own working directory, and passes the project's folder by this variable.
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
                ("timeout", Field::Number(GOOSE_TIMEOUT_SECONDS)),
            ],
        })
    }

    /// Returns the path of the client's configuration file.
    pub(crate) fn file(
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
        let folder = |variable: &str, default: &str| {
            let folder = environment.folder_variable(variable);
            folder.or_else(|| below(default))
        };
        let config = || folder("XDG_CONFIG_HOME", ".config");
        Some(match self {
            Self::ClaudeCode => folder("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            Self::Codex => folder("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Cursor => below(".cursor/mcp.json")?,
            Self::Gemini => below(".gemini/settings.json")?,
            Self::Goose if cfg!(windows) => environment
                .folder_variable("APPDATA")?
                .join("Block/goose/config/config.yaml"),
            Self::Goose => config()?.join("goose/config.yaml"),
            Self::OpenCode => opencode_file(&config()?.join("opencode")),
            Self::VsCode if cfg!(windows) => environment
                .folder_variable("APPDATA")?
                .join("Code/User/mcp.json"),
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
            Self::OpenCode => opencode_file(project),
            Self::VsCode => project.join(".vscode/mcp.json"),
            Self::Goose => {
                let why = "Goose has no configuration of a project; leave the option out";
                return Err(Error::invalid("--project", why));
            }
        })
    }
}

/// Returns opencode's configuration file in a folder: the `.jsonc` file if it exists.
fn opencode_file(folder: &Path) -> PathBuf {
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
