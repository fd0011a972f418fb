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
pub enum SetupClient {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
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
    /// Windsurf, now called Devin Desktop.
    Windsurf,
    /// Zed.
    Zed,
}

/// Which of a client's configuration files to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFile {
    /// The user's, for all projects.
    User,
    /// The project's, for everyone who works on it.
    Project,
}

/// A configuration's file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Toml,
    Yaml,
}

/// How long Goose waits for a response.
const GOOSE_TIMEOUT_SECONDS: i64 = 300;

/// Where the Windows package of Claude Desktop has its configuration, below `LOCALAPPDATA`. Windows redirects the
/// package's `APPDATA` to this folder.
const CLAUDE_DESKTOP_PACKAGE: &str = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";

impl SetupClient {
    /// All clients, ordered by name.
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Cursor,
        Self::Gemini,
        Self::Goose,
        Self::OpenCode,
        Self::VsCode,
        Self::Windsurf,
        Self::Zed,
    ];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Goose => "goose",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
        }
    }

    /// Returns its name as its maker writes it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Goose => "Goose",
            Self::OpenCode => "opencode",
            Self::Gemini => "Gemini CLI",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    /// Returns whether the client supports a project configuration.
    pub const fn has_project_file(self) -> bool {
        !matches!(self, Self::ClaudeDesktop | Self::Goose | Self::Windsurf)
    }

    /// Returns whether the user has the client, judging by its configuration.
    pub fn is_used(self, environment: &Environment) -> bool {
        let home = environment.home_dir();
        let has_folder = |file: &Path| {
            let folder = file.parent().filter(|folder| Some(*folder) != home);
            file.exists() || folder.is_some_and(Path::exists)
        };
        let server = self.file(environment, ClientFile::User);
        let hook = self.hook_file(environment, ClientFile::User);
        match self {
            // Other programs also have a folder with this name, for hooks.
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
            Self::ClaudeCode
            | Self::ClaudeDesktop
            | Self::Cursor
            | Self::OpenCode
            | Self::Gemini
            | Self::VsCode
            | Self::Windsurf
            | Self::Zed => Format::Json,
        }
    }

    /// Returns the key path to the servers in the configuration `value`.
    pub(crate) fn server_keys(self, value: &Value) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode
            | Self::ClaudeDesktop
            | Self::Cursor
            | Self::Gemini
            | Self::Windsurf => &["mcpServers"],
            Self::Codex => &["mcp_servers"],
            Self::Goose => &["extensions"],
            Self::VsCode => &["servers"],
            Self::Zed => &["context_servers"],
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
            // Cursor starts servers in its own working directory, and passes the project's folder in this variable.
            serve.extend(["-C".to_owned(), "${workspaceFolder}".to_owned()]);
        }
        let args = Field::List(serve.clone());
        Entry(match self {
            Self::ClaudeCode | Self::Cursor | Self::VsCode => vec![
                ("type", text("stdio")),
                ("command", text(command)),
                ("args", args),
            ],
            Self::ClaudeDesktop | Self::Codex | Self::Gemini | Self::Windsurf | Self::Zed => {
                vec![("command", text(command)), ("args", args)]
            }
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
        // Where desktop programs have their folders.
        let application = |name: &str| {
            Some(if cfg!(windows) {
                environment.folder_variable("APPDATA")?.join(name)
            } else if cfg!(target_os = "macos") {
                below("Library/Application Support")?.join(name)
            } else {
                config()?.join(name)
            })
        };
        Some(match self {
            Self::ClaudeCode => folder("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            Self::ClaudeDesktop => {
                let package = environment.folder_variable("LOCALAPPDATA");
                let package = package.map(|folder| folder.join(CLAUDE_DESKTOP_PACKAGE));
                let folder = package.filter(|folder| folder.exists());
                let folder = folder.or_else(|| application("Claude"))?;
                folder.join("claude_desktop_config.json")
            }
            Self::Codex => folder("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Cursor => below(".cursor/mcp.json")?,
            Self::Gemini => below(".gemini/settings.json")?,
            Self::Goose if cfg!(windows) => environment
                .folder_variable("APPDATA")?
                .join("Block/goose/config/config.yaml"),
            Self::Goose => config()?.join("goose/config.yaml"),
            Self::OpenCode => opencode_file(&config()?.join("opencode")),
            Self::VsCode => application("Code")?.join("User/mcp.json"),
            Self::Windsurf => below(".codeium/windsurf/mcp_config.json")?,
            Self::Zed if cfg!(windows) => application("Zed")?.join("settings.json"),
            Self::Zed if cfg!(target_os = "macos") => below(".config/zed/settings.json")?,
            Self::Zed => config()?.join("zed/settings.json"),
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
            Self::Zed => project.join(".zed/settings.json"),
            Self::ClaudeDesktop | Self::Goose | Self::Windsurf => {
                let title = self.title();
                let why =
                    format!("{title} has no configuration of a project; leave the option out");
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

impl fmt::Display for SetupClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for SetupClient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut clients = Self::ALL.into_iter();
        clients.find(|client| client.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(text, format!("it is not one of {names}"))
        })
    }
}
