//! A project's configuration.

use std::path::PathBuf;

use skillfold::core::{Error, ErrorKind};
use skillfold_setup::{ClientFile, SetupClient, SetupPlan};

use crate::{World, read};

fn in_project(world: &World, client: SetupClient) -> Result<SetupPlan, Error> {
    let environment = world.environment("person/app");
    SetupPlan::add(&environment, client, ClientFile::Project, "skillfold")
}

#[test]
#[expect(clippy::too_many_lines, reason = "one snapshot of all clients")]
fn project_file_is_used_for_clients_that_support_one() {
    let world = World::new("//- person/app/README.md\n");
    let files: Vec<String> = SetupClient::ALL
        .into_iter()
        .map(|client| match in_project(&world, client) {
            Ok(plan) => {
                let file: PathBuf = plan
                    .file()
                    .strip_prefix(world.path("person/app"))
                    .unwrap()
                    .into();
                format!("{client} {}\n{}", file.display(), plan.after().unwrap())
            }
            Err(error) => format!("{client} {error}\n"),
        })
        .collect();
    insta::assert_snapshot!(files.concat(), @r#"
    claude-code .mcp.json
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "skillfold",
          "args": ["serve"]
        }
      }
    }
    claude-desktop Invalid `--project`: Claude Desktop has no project configuration; leave the option out
    codex .codex/config.toml
    [mcp_servers.skillfold]
    command = "skillfold"
    args = ["serve"]
    copilot-cli Invalid `--project`: Copilot CLI has no project configuration; leave the option out
    cursor .cursor/mcp.json
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "skillfold",
          "args": ["serve", "-C", "${workspaceFolder}"]
        }
      }
    }
    gemini .gemini/settings.json
    {
      "mcpServers": {
        "skillfold": {
          "command": "skillfold",
          "args": ["serve"]
        }
      }
    }
    goose Invalid `--project`: Goose has no project configuration; leave the option out
    opencode opencode.json
    {
      "mcp": {
        "skillfold": {
          "type": "local",
          "command": ["skillfold", "serve"]
        }
      }
    }
    qwen .qwen/settings.json
    {
      "mcpServers": {
        "skillfold": {
          "command": "skillfold",
          "args": ["serve"]
        }
      }
    }
    vscode .vscode/mcp.json
    {
      "servers": {
        "skillfold": {
          "type": "stdio",
          "command": "skillfold",
          "args": ["serve"]
        }
      }
    }
    windsurf Invalid `--project`: Windsurf has no project configuration; leave the option out
    zed .zed/settings.json
    {
      "context_servers": {
        "skillfold": {
          "command": "skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
}

#[cfg(unix)]
#[test]
fn link_in_a_project_does_not_redirect_a_write() {
    let world =
        World::new("//- person/app/README.md\n//- person/.vscode/keep\n//- person/.bashrc\n{}\n");
    std::os::unix::fs::symlink(
        world.path("person/.vscode"),
        world.path("person/app/.vscode"),
    )
    .unwrap();
    std::os::unix::fs::symlink(
        world.path("person/.bashrc"),
        world.path("person/app/.mcp.json"),
    )
    .unwrap();
    for client in [SetupClient::VsCode, SetupClient::ClaudeCode] {
        assert_eq!(
            in_project(&world, client).unwrap_err().kind(),
            ErrorKind::Refused,
            "{client}"
        );
    }
    assert_eq!(read(&world, "person/.bashrc").unwrap(), "{}\n");
}
