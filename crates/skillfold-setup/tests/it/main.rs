//! Clients' configurations: what is added; everything else stays.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod files;
mod hooks;
mod json;
mod list;
mod project;
mod toml;
mod undo;
mod yaml;

use std::path::PathBuf;

use skillfold::Environment;
use skillfold_setup::{ClientFile, SetupChange, SetupClient, SetupPlan};
use skillfold_testkit::folder;
use tempfile::TempDir;

const COMMAND: &str = "/opt/bin/skillfold";

const CLAUDE: &str = r#"{
  "numStartups": 42,
  "tipsHistory": { "shift-enter": 3 },
  "mcpServers": {
    "github": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_TOKEN": "ghp_secret" }
    }
  },
  "projects": { "/home/user/app": { "mcpServers": {} } }
}
"#;

/// A temporary folder that holds `person`, a home, and `person/app`, a project.
struct World {
    folder: TempDir,
}

impl World {
    fn new(tree: &str) -> Self {
        Self {
            folder: folder(&format!("{tree}//- person/app/.git/HEAD\n")),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn environment(&self, directory: &str) -> Environment {
        Environment::new(self.path(directory)).home(self.path("person"))
    }

    /// Returns text without the temporary folder's path.
    fn shown(&self, text: &str) -> String {
        text.replace(&*self.folder.path().to_string_lossy(), "")
    }
}

/// Returns a client's user file on the test system.
fn file(client: SetupClient) -> &'static str {
    match client {
        SetupClient::ClaudeCode => "person/.claude.json",
        SetupClient::Codex => "person/.codex/config.toml",
        SetupClient::CopilotCli => "person/.copilot/mcp-config.json",
        SetupClient::Cursor => "person/.cursor/mcp.json",
        SetupClient::Gemini => "person/.gemini/settings.json",
        SetupClient::Goose => "person/.config/goose/config.yaml",
        SetupClient::OpenCode => "person/.config/opencode/opencode.json",
        SetupClient::Qwen => "person/.qwen/settings.json",
        SetupClient::ClaudeDesktop => "person/.config/Claude/claude_desktop_config.json",
        SetupClient::Windsurf => "person/.codeium/windsurf/mcp_config.json",
        SetupClient::Zed => "person/.config/zed/settings.json",
        _ => "person/.config/Code/User/mcp.json",
    }
}

fn world(client: SetupClient, text: &str) -> World {
    let world = World::new("//- person/app/README.md\n");
    write(&world, file(client), text);
    world
}

#[expect(clippy::disallowed_methods, reason = "byte for byte")]
fn write(world: &World, path: &str, text: &str) {
    let path = world.path(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "byte for byte")]
fn read(world: &World, path: &str) -> Option<String> {
    std::fs::read_to_string(world.path(path)).ok()
}

fn add(world: &World, client: SetupClient) -> SetupPlan {
    let environment = world.environment("person/app");
    SetupPlan::add(&environment, client, ClientFile::User, COMMAND).unwrap()
}

fn undo(world: &World, client: SetupClient) -> SetupPlan {
    SetupPlan::undo(&world.environment("person/app"), client, ClientFile::User).unwrap()
}

/// Adds the entry to a text, checks that repeating it does nothing and that undoing it restores the bytes, and returns
/// the text with the entry.
fn check(client: SetupClient, text: &str) -> String {
    let world = world(client, text);
    let plan = add(&world, client);
    assert_eq!(plan.change(), SetupChange::Added, "{text}");
    assert_eq!(
        read(&world, file(client)).unwrap(),
        text,
        "a plan writes nothing"
    );
    plan.write().unwrap();
    let after = read(&world, file(client)).unwrap();
    assert_eq!(plan.after(), Some(&*after));
    assert_eq!(
        add(&world, client).change(),
        SetupChange::Nothing,
        "{after}"
    );
    let plan = undo(&world, client);
    assert_eq!(plan.change(), SetupChange::Removed, "{after}");
    plan.write().unwrap();
    assert_eq!(read(&world, file(client)).unwrap(), text, "{after}");
    assert_eq!(undo(&world, client).change(), SetupChange::Nothing);
    without_memory(client, text, &after);
    after
}

/// Checks that the entry is also removed without a record, and that the rest parses as before.
fn without_memory(client: SetupClient, text: &str, after: &str) {
    let world = world(client, after);
    let plan = undo(&world, client);
    assert_eq!(plan.change(), SetupChange::Removed);
    plan.write().unwrap();
    let left = read(&world, file(client)).unwrap();
    for line in text.lines().filter(|line| line.contains(['#', '/'])) {
        assert!(left.contains(line.trim_end()), "{line}\n{left}");
    }
    let again = add(&world, client);
    assert_eq!(again.change(), SetupChange::Added, "{left}");
}
