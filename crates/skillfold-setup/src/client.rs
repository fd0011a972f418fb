//! The supported clients: where each configures MCP servers, in which format, and with which fields.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;
use skillfold::core::Error;

use crate::entry::Entry;
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
    /// Copilot CLI.
    CopilotCli,
    /// Cursor.
    Cursor,
    /// Goose.
    Goose,
    /// opencode.
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf, now called Devin Desktop.
    Windsurf,
    /// Zed.
    Zed,
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

impl ClientFile {
    /// Returns the project that the file is in.
    pub(crate) fn project(self, environment: &Environment) -> Option<&Path> {
        match self {
            Self::User => None,
            Self::Project => Some(environment.project()),
        }
    }
}

/// How long Goose waits for a response.
const GOOSE_TIMEOUT_SECONDS: i64 = 300;

/// Where the Windows package of Claude Desktop has its configuration, below `LOCALAPPDATA`. Windows redirects the
/// package's `APPDATA` to this folder.
const CLAUDE_DESKTOP_PACKAGE: &str = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";

macro_rules! clients {
    ($($client:ident: $name:literal, $title:literal, $servers:literal;)*) => {
        impl SetupClient {
            /// All clients, in the order of their names.
            pub const ALL: [Self; 12] = [$(Self::$client,)*];

            /// Returns its name on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$client => $name,)*
                }
            }

            /// Returns its name as its maker writes it.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$client => $title,)*
                }
            }

            /// Returns the path of keys to the servers in the configuration `value`.
            pub(crate) fn server_keys(self, value: &Value) -> &'static [&'static str] {
                match self {
                    // Version 2 nests servers one level deeper. In version 1, an entry with a `type` is a server that is
                    // itself named `servers`.
                    Self::OpenCode if has_nested_servers(value) => &["mcp", "servers"],
                    $(Self::$client => &[$servers],)*
                }
            }
        }
    };
}

// The name, the title, and the key of the servers in the configuration.
clients! {
    ClaudeCode: "claude-code", "Claude Code", "mcpServers";
    ClaudeDesktop: "claude-desktop", "Claude Desktop", "mcpServers";
    Codex: "codex", "Codex", "mcp_servers";
    CopilotCli: "copilot-cli", "Copilot CLI", "mcpServers";
    Cursor: "cursor", "Cursor", "mcpServers";
    Gemini: "gemini", "Gemini CLI", "mcpServers";
    Goose: "goose", "Goose", "extensions";
    OpenCode: "opencode", "opencode", "mcp";
    Qwen: "qwen", "Qwen Code", "mcpServers";
    VsCode: "vscode", "VS Code", "servers";
    Windsurf: "windsurf", "Windsurf", "mcpServers";
    Zed: "zed", "Zed", "context_servers";
}

fn has_nested_servers(value: &Value) -> bool {
    let servers = value.pointer("/mcp/servers");
    servers.is_some_and(|servers| servers.get("type").is_none())
}

impl SetupClient {
    /// Returns whether a project can have a configuration for the client.
    pub const fn has_project_file(self) -> bool {
        !matches!(
            self,
            Self::ClaudeDesktop | Self::CopilotCli | Self::Goose | Self::Windsurf
        )
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
            // The folder of its hooks is Copilot CLI's.
            Self::VsCode => server.is_ok_and(|file| has_folder(&file)),
            _ => [server, hook]
                .into_iter()
                .flatten()
                .any(|file| has_folder(&file)),
        }
    }

    /// Returns the client's configuration entry for the server.
    pub(crate) fn entry(self, file: ClientFile, command: &str) -> Entry {
        let mut args = vec!["serve"];
        if self == Self::Cursor && file == ClientFile::Project {
            // Cursor starts servers in its own working directory, and passes the project's folder in this variable.
            args.extend(["-C", "${workspaceFolder}"]);
        }
        Entry(match self {
            Self::ClaudeCode | Self::Cursor | Self::VsCode => vec![
                ("type", "stdio".into()),
                ("command", command.into()),
                ("args", args.into()),
            ],
            Self::ClaudeDesktop
            | Self::Codex
            | Self::CopilotCli
            | Self::Gemini
            | Self::Qwen
            | Self::Windsurf
            | Self::Zed => {
                vec![("command", command.into()), ("args", args.into())]
            }
            Self::OpenCode => {
                args.insert(0, command);
                vec![("type", "local".into()), ("command", args.into())]
            }
            Self::Goose => vec![
                ("enabled", true.into()),
                ("type", "stdio".into()),
                ("name", "skillfold".into()),
                ("description", "Agent skills".into()),
                ("cmd", command.into()),
                ("args", args.into()),
                ("timeout", GOOSE_TIMEOUT_SECONDS.into()),
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
            Self::Codex => environment.user_path(".codex/config.toml")?,
            Self::CopilotCli => environment.user_path(".copilot/mcp-config.json")?,
            Self::Cursor => below(".cursor/mcp.json")?,
            Self::Gemini => below(".gemini/settings.json")?,
            Self::Goose if cfg!(windows) => environment
                .folder_variable("APPDATA")?
                .join("Block/goose/config/config.yaml"),
            Self::Goose => config()?.join("goose/config.yaml"),
            Self::OpenCode => opencode_file(&config()?.join("opencode")),
            Self::Qwen => below(".qwen/settings.json")?,
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
            Self::Qwen => project.join(".qwen/settings.json"),
            Self::VsCode => project.join(".vscode/mcp.json"),
            Self::Zed => project.join(".zed/settings.json"),
            Self::ClaudeDesktop | Self::CopilotCli | Self::Goose | Self::Windsurf => {
                let title = self.title();
                let why = format!("{title} has no project configuration; leave the option out");
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

/// Resolves links in a path, if it exists.
#[expect(
    clippy::disallowed_methods,
    reason = "dotfile managers link a user's own files; the store opens the result without following a link"
)]
pub(crate) fn follow_links(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
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
