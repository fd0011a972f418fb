//! The configuration of clients: what is put in, and that everything else stays.

use std::path::PathBuf;

use skillfold::core::ErrorKind;
use skillfold::{Client, ClientFile, SetupChange, SetupPlan};

use crate::world::World;

const COMMAND: &str = "/opt/bin/skillfold";

/// Returns the person's file of a client, as it is called where tests run.
fn file(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "person/.claude.json",
        Client::Codex => "person/.codex/config.toml",
        Client::Cursor => "person/.cursor/mcp.json",
        Client::Gemini => "person/.gemini/settings.json",
        Client::Goose => "person/.config/goose/config.yaml",
        Client::OpenCode => "person/.config/opencode/opencode.json",
        _ => "person/.config/Code/User/mcp.json",
    }
}

fn world(client: Client, text: &str) -> World {
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

fn add(world: &World, client: Client) -> SetupPlan {
    let environment = world.environment("person/app");
    SetupPlan::add(&environment, client, ClientFile::User, COMMAND).unwrap()
}

fn undo(world: &World, client: Client) -> SetupPlan {
    SetupPlan::undo(&world.environment("person/app"), client, ClientFile::User).unwrap()
}

/// Puts the entry into a text, checks that once more does nothing and that undoing gives the bytes back, and returns the
/// text with the entry.
fn check(client: Client, text: &str) -> String {
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

/// Checks that the entry is taken out too where nobody remembers how it came in, and that what is left reads as before.
fn without_memory(client: Client, text: &str, after: &str) {
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

#[test]
fn claude_code_gets_a_server_beside_the_others() {
    insta::assert_snapshot!(check(Client::ClaudeCode, CLAUDE), @r#"
    {
      "numStartups": 42,
      "tipsHistory": { "shift-enter": 3 },
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        },
        "github": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-github"],
          "env": { "GITHUB_TOKEN": "ghp_secret" }
        }
      },
      "projects": { "/home/user/app": { "mcpServers": {} } }
    }
    "#);
}

#[test]
fn codex_gets_a_table_at_the_end() {
    insta::assert_snapshot!(check(Client::Codex, r#"# My model
model = "gpt-5"   # the good one

[mcp_servers.github]   # tokens are in the keyring
command = "npx"
args = [
  "-y",
  "@modelcontextprotocol/server-github", # pinned later
]

[mcp_servers.github.env]
X = "1"

[tui]
theme = 'dark'
"#), @r#"
    # My model
    model = "gpt-5"   # the good one

    [mcp_servers.github]   # tokens are in the keyring
    command = "npx"
    args = [
      "-y",
      "@modelcontextprotocol/server-github", # pinned later
    ]

    [mcp_servers.github.env]
    X = "1"

    [tui]
    theme = 'dark'

    [mcp_servers.skillfold]
    command = "/opt/bin/skillfold"
    args = ["serve"]
    "#);
    // A table on one line, and none at all, and no line end.
    insta::assert_snapshot!(check(Client::Codex, "mcp_servers = { github = { command = \"npx\" } } # all of them\nmodel = \"x\"\n"), @r#"
    mcp_servers = { github = { command = "npx" } , skillfold = { command = "/opt/bin/skillfold", args = ["serve"] } } # all of them
    model = "x"
    "#);
    insta::assert_snapshot!(check(Client::Codex, "model = \"x\""), @r#"
    model = "x"

    [mcp_servers.skillfold]
    command = "/opt/bin/skillfold"
    args = ["serve"]
    "#);
    insta::assert_snapshot!(check(Client::Codex, "mcp_servers.github.command = \"npx\"\n"), @r#"
    mcp_servers.github.command = "npx"

    [mcp_servers.skillfold]
    command = "/opt/bin/skillfold"
    args = ["serve"]
    "#);
    assert_eq!(
        check(Client::Codex, "a = 1\r\n[b]\r\nc = 2\r\n")
            .matches("\r\n")
            .count(),
        7
    );
}

#[test]
fn cursor_gets_a_server_whatever_the_form_of_the_file() {
    insta::assert_snapshot!(check(Client::Cursor, "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"url\": \"https://x\"}\n\t}\n}"), @r#"
    {
    	"mcpServers": {
    		"skillfold": {
    			"type": "stdio",
    			"command": "/opt/bin/skillfold",
    			"args": ["serve"]
    		},
    		"a": {"url": "https://x"}
    	}
    }
    "#);
    insta::assert_snapshot!(check(Client::Cursor, "{\"mcpServers\": {\"a\": {\"url\": \"https://x\"}}}"), @r#"{"mcpServers": {"skillfold": {"type": "stdio", "command": "/opt/bin/skillfold", "args": ["serve"]}, "a": {"url": "https://x"}}}"#);
    insta::assert_snapshot!(check(Client::Cursor, "{\n  \"mcpServers\": {}\n}\n"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(check(Client::Cursor, "{\n  \"mcpServers\": {\n  }\n}\n"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(check(Client::Cursor, "{}"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(check(Client::Cursor, ""), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    assert_eq!(
        check(
            Client::Cursor,
            "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n"
        )
        .matches('\n')
        .count(),
        10
    );
}

#[test]
fn vscode_keeps_its_comments_and_inputs() {
    insta::assert_snapshot!(check(Client::VsCode, r#"// Servers for all my projects
{
    "servers": { // keep these sorted
        /* remote */
        "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" }, // fine
        "zip": {
            "command": "zip-mcp", // "skillfold": not this one
        },
    },
    "inputs": [
        { "type": "promptString", "id": "key", "password": true },
    ],
}
"#), @r#"
    // Servers for all my projects
    {
        "servers": { // keep these sorted
            "skillfold": {
                "type": "stdio",
                "command": "/opt/bin/skillfold",
                "args": ["serve"]
            },
            /* remote */
            "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" }, // fine
            "zip": {
                "command": "zip-mcp", // "skillfold": not this one
            },
        },
        "inputs": [
            { "type": "promptString", "id": "key", "password": true },
        ],
    }
    "#);
}

#[test]
fn opencode_gets_a_local_server_in_either_form() {
    insta::assert_snapshot!(check(Client::OpenCode, r#"{
  "$schema": "https://opencode.ai/config.json",
  // models
  "model": "anthropic/claude",
  "mcp": {
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
  },
}
"#), @r#"
    {
      "$schema": "https://opencode.ai/config.json",
      // models
      "model": "anthropic/claude",
      "mcp": {
        "skillfold": {
          "type": "local",
          "command": ["/opt/bin/skillfold", "serve"]
        },
        "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
      },
    }
    "#);
    insta::assert_snapshot!(check(Client::OpenCode, r#"{
  "mcp": {
    "timeout": 5000,
    "servers": {
      "a": { "type": "local", "command": ["a"] }
    }
  }
}
"#), @r#"
    {
      "mcp": {
        "timeout": 5000,
        "servers": {
          "skillfold": {
            "type": "local",
            "command": ["/opt/bin/skillfold", "serve"]
          },
          "a": { "type": "local", "command": ["a"] }
        }
      }
    }
    "#);
    // A server that is called `servers` is a server.
    insta::assert_snapshot!(check(Client::OpenCode, "{\n  \"mcp\": {\n    \"servers\": { \"type\": \"local\", \"command\": [\"x\"] }\n  }\n}\n"), @r#"
    {
      "mcp": {
        "skillfold": {
          "type": "local",
          "command": ["/opt/bin/skillfold", "serve"]
        },
        "servers": { "type": "local", "command": ["x"] }
      }
    }
    "#);
}

#[test]
fn opencode_file_with_comments_is_taken_where_there_is_one() {
    let world = world(Client::OpenCode, "{}\n");
    write(
        &world,
        "person/.config/opencode/opencode.jsonc",
        "{ // mine\n}\n",
    );
    let plan = add(&world, Client::OpenCode);
    assert!(plan.file().ends_with("opencode.jsonc"), "{:?}", plan.file());
}

#[test]
fn gemini_gets_its_servers_where_it_had_none() {
    insta::assert_snapshot!(check(Client::Gemini, r#"{
  "ui": { "theme": "Default" },
  "security": { "auth": { "selectedType": "oauth-personal" } } // by Google
}"#), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      },
      "ui": { "theme": "Default" },
      "security": { "auth": { "selectedType": "oauth-personal" } } // by Google
    }
    "#);
}

#[test]
fn goose_gets_an_extension_among_the_others() {
    insta::assert_snapshot!(check(Client::Goose, r#"GOOSE_PROVIDER: anthropic   # the provider
GOOSE_MODEL: "claude-sonnet"

extensions:
  # built in
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin

  github:   # mine
    args:
    - -y
    - '@modelcontextprotocol/server-github'
    cmd: npx
    enabled: true
    envs: {}
    type: stdio
# the end
instructions: |
  Be kind.

  Be short.
"#), @r#"
    GOOSE_PROVIDER: anthropic   # the provider
    GOOSE_MODEL: "claude-sonnet"

    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
      # built in
      developer:
        bundled: true
        enabled: true
        name: developer
        timeout: 300
        type: builtin

      github:   # mine
        args:
        - -y
        - '@modelcontextprotocol/server-github'
        cmd: npx
        enabled: true
        envs: {}
        type: stdio
    # the end
    instructions: |
      Be kind.

      Be short.
    "#);
}

#[test]
fn goose_gets_an_extension_whatever_the_form_of_the_file() {
    insta::assert_snapshot!(check(Client::Goose, "GOOSE_MODEL: x"), @"
    GOOSE_MODEL: x
    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
    ");
    insta::assert_snapshot!(check(Client::Goose, "extensions:\nGOOSE_MODEL: größe\n"), @"
    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
    GOOSE_MODEL: größe
    ");
    insta::assert_snapshot!(check(Client::Goose, "größe: x\nextensions: {}\n"), @r#"
    größe: x
    extensions: {skillfold: {"enabled": true, "type": "stdio", "name": "skillfold", "description": "Agent skills", "cmd": "/opt/bin/skillfold", "args": ["serve"], "timeout": 300}}
    "#);
    insta::assert_snapshot!(check(Client::Goose, "extensions: {developer: {enabled: true}}\n"), @r#"extensions: {skillfold: {"enabled": true, "type": "stdio", "name": "skillfold", "description": "Agent skills", "cmd": "/opt/bin/skillfold", "args": ["serve"], "timeout": 300}, developer: {enabled: true}}"#);
    insta::assert_snapshot!(check(Client::Goose, "extensions:\n    developer:\n        enabled: true\n"), @"
    extensions:
        skillfold:
          enabled: true
          type: stdio
          name: skillfold
          description: Agent skills
          cmd: /opt/bin/skillfold
          args: [serve]
          timeout: 300
        developer:
            enabled: true
    ");
    insta::assert_snapshot!(check(Client::Goose, "# nothing yet\n"), @"
    # nothing yet
    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
    ");
}

#[test]
fn file_that_was_made_is_removed_again_and_one_that_was_there_is_not() {
    for client in Client::ALL {
        let world = World::new("//- person/app/README.md\n");
        let plan = add(&world, client);
        assert_eq!((plan.change(), plan.before()), (SetupChange::Added, None));
        plan.write().unwrap();
        assert_eq!(
            add(&world, client).change(),
            SetupChange::Nothing,
            "{client}"
        );
        let plan = undo(&world, client);
        assert_eq!(plan.after(), None, "{client}");
        plan.write().unwrap();
        assert_eq!(read(&world, file(client)), None, "{client}");
    }
    for client in [Client::Cursor, Client::ClaudeCode] {
        for blank in [
            "",
            "\n",
            "\n\n",
            " ",
            "\t",
            "\r\n",
            "\u{feff}",
            "\u{feff} \n",
        ] {
            check(client, blank);
        }
    }
}

#[test]
fn what_the_person_wrote_since_stays_when_it_is_undone() {
    let world = world(Client::Cursor, "{\n  \"mcpServers\": {}\n}\n");
    add(&world, Client::Cursor).write().unwrap();
    let text = read(&world, file(Client::Cursor)).unwrap();
    let text = text.replace(
        "    }\n  }\n",
        "    }, // ours\n    \"later\": { \"url\": \"https://x\" }\n  }\n",
    );
    write(&world, file(Client::Cursor), &text);
    undo(&world, Client::Cursor).write().unwrap();
    insta::assert_snapshot!(read(&world, file(Client::Cursor)).unwrap(), @r#"
    {
      "mcpServers": {
        // ours
        "later": { "url": "https://x" }
      }
    }
    "#);
}

#[test]
fn client_that_writes_its_file_anew_loses_nothing_when_it_is_undone() {
    let world = world(Client::ClaudeCode, CLAUDE);
    add(&world, Client::ClaudeCode).write().unwrap();
    let text = read(&world, file(Client::ClaudeCode)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    write(&world, file(Client::ClaudeCode), &value.to_string());
    undo(&world, Client::ClaudeCode).write().unwrap();
    let left = read(&world, file(Client::ClaudeCode)).unwrap();
    let left: serde_json::Value = serde_json::from_str(&left).unwrap();
    assert_eq!(
        left,
        serde_json::from_str::<serde_json::Value>(CLAUDE).unwrap()
    );
}

#[test]
fn entry_that_was_made_otherwise_needs_force() {
    for (client, text) in [
        (
            Client::Cursor,
            "{\n  \"mcpServers\": {\n    \"skillfold\": { \"command\": \"other\" }, // mine\n    \"b\": {}\n  }\n}\n",
        ),
        (
            Client::Codex,
            "[mcp_servers.skillfold]\ncommand = \"other\" # mine\n[mcp_servers.skillfold.env]\nA = \"1\"\n[x]\ny = 1\n",
        ),
        (
            Client::Codex,
            "mcp_servers = { skillfold = { command = \"other\" }, b = {} }\n",
        ),
        (
            Client::Goose,
            "extensions:\n  skillfold:\n    cmd: other\n  b:\n    cmd: b\n",
        ),
        (
            Client::Goose,
            "extensions: {skillfold: {cmd: other}, b: {cmd: b}}\n",
        ),
    ] {
        let world = world(client, text);
        let plan = add(&world, client);
        assert_eq!(
            (plan.change(), plan.needs_force()),
            (SetupChange::Replaced, true),
            "{text}"
        );
        let plan = undo(&world, client);
        assert_eq!(
            (plan.change(), plan.needs_force()),
            (SetupChange::RemovedOther, true),
            "{text}"
        );
        add(&world, client).write().unwrap();
        assert_eq!(add(&world, client).change(), SetupChange::Nothing, "{text}");
        let plan = undo(&world, client);
        assert_eq!(
            (plan.change(), plan.needs_force()),
            (SetupChange::Removed, false),
            "{text}"
        );
        plan.write().unwrap();
        let left = read(&world, file(client)).unwrap();
        assert!(
            !left.contains("skillfold") && (left.contains('b') || left.contains('x')),
            "{left}"
        );
    }
}

#[test]
fn file_that_cannot_be_understood_is_not_touched_and_the_place_is_said() {
    let said = |client: Client, text: &str| {
        let world = world(client, text);
        let environment = world.environment("person/app");
        let error = SetupPlan::add(&environment, client, ClientFile::User, COMMAND).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert_eq!(read(&world, file(client)).unwrap(), text);
        let real = world.path("").canonicalize().unwrap();
        error.to_string().replace(&*real.to_string_lossy(), "")
    };
    insta::assert_snapshot!(said(Client::Cursor, "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}"), @"Invalid `/person/.cursor/mcp.json`: Expected `,` or `}` at 4:5");
    insta::assert_snapshot!(said(Client::Cursor, "{ \"mcpServers\": [] }"), @"Invalid `/person/.cursor/mcp.json`: Expected an object at 1:17");
    insta::assert_snapshot!(said(Client::Cursor, "{ \"mcpServers\": {}, \"mcpServers\": {} }"), @r#"Invalid `/person/.cursor/mcp.json`: Key "mcpServers" is there twice at 1:21"#);
    insta::assert_snapshot!(said(Client::Cursor, "{ \"a\": nul }"), @"Invalid `/person/.cursor/mcp.json`: Expected a value at 1:8");
    insta::assert_snapshot!(said(Client::Cursor, "{ \"a"), @"Invalid `/person/.cursor/mcp.json`: Text has no end at 1:3");
    insta::assert_snapshot!(said(Client::Cursor, "{} x"), @"Invalid `/person/.cursor/mcp.json`: Something stands behind the end at 1:4");
    insta::assert_snapshot!(said(Client::Cursor, "// nothing"), @"Invalid `/person/.cursor/mcp.json`: There is nothing but comments at 1:1");
    insta::assert_snapshot!(said(Client::Cursor, "[]"), @"Invalid `/person/.cursor/mcp.json`: Expected names with values at 1:1");
    insta::assert_snapshot!(said(Client::Cursor, &"[".repeat(100_000)), @"Invalid `/person/.cursor/mcp.json`: Nested too deep at 1:129");
    insta::assert_snapshot!(said(Client::Codex, "a = 1\nb = \n"), @"Invalid `/person/.codex/config.toml`: string values must be quoted, expected literal string at 2:5");
    insta::assert_snapshot!(said(Client::Codex, "mcp_servers = 3\n"), @"Invalid `/person/.codex/config.toml`: Expected `mcp_servers` to be a table at 1:1");
    insta::assert_snapshot!(said(Client::Goose, "a: 1\n b: 2\n"), @"Invalid `/person/.config/goose/config.yaml`: mapping values are not allowed in this context at 2:3");
    insta::assert_snapshot!(said(Client::Goose, "extensions:\n- developer\n"), @"Invalid `/person/.config/goose/config.yaml`: Expected a mapping at 2:3");
    insta::assert_snapshot!(said(Client::Goose, "a: 1\n---\nb: 2\n"), @"Invalid `/person/.config/goose/config.yaml`: A second document starts here at 2:1");
    insta::assert_snapshot!(said(Client::Goose, "{a: 1}\n"), @"Invalid `/person/.config/goose/config.yaml`: Expected a mapping in blocks at 1:1");
    insta::assert_snapshot!(said(Client::Goose, "a: 1\n...\n"), @"Invalid `/person/.config/goose/config.yaml`: it cannot be changed without changing more; change it by hand");
}

#[cfg(unix)]
#[test]
fn mode_and_link_of_the_persons_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let world = world(Client::ClaudeCode, CLAUDE);
    let (path, real) = (
        world.path(file(Client::ClaudeCode)),
        world.path("person/dotfiles.json"),
    );
    std::fs::rename(&path, &real).unwrap();
    std::os::unix::fs::symlink(&real, &path).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    let plan = add(&world, Client::ClaudeCode);
    assert_eq!(plan.file(), real.canonicalize().unwrap());
    plan.write().unwrap();
    assert!(path.is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o400)).unwrap();
    let error = undo(&world, Client::ClaudeCode).write().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn file_that_changes_meanwhile_is_not_written() {
    let world = world(Client::ClaudeCode, CLAUDE);
    let plan = add(&world, Client::ClaudeCode);
    write(&world, file(Client::ClaudeCode), "{}");
    assert_eq!(plan.write().unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(read(&world, file(Client::ClaudeCode)).unwrap(), "{}");
}

fn in_project(world: &World, client: Client) -> Result<SetupPlan, skillfold::core::Error> {
    let environment = world.environment("person/app");
    SetupPlan::add(&environment, client, ClientFile::Project, "skillfold")
}

#[test]
fn project_has_a_file_of_its_own_where_the_client_has_one() {
    let world = World::new("//- person/app/README.md\n");
    let files: Vec<String> = Client::ALL
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
    codex .codex/config.toml
    [mcp_servers.skillfold]
    command = "skillfold"
    args = ["serve"]
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
    goose Invalid `--project`: Goose has no configuration of a project; leave the option out
    opencode opencode.json
    {
      "mcp": {
        "skillfold": {
          "type": "local",
          "command": ["skillfold", "serve"]
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
    "#);
}

#[cfg(unix)]
#[test]
fn link_of_a_project_does_not_turn_a_write_to_somewhere_else() {
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
    for client in [Client::VsCode, Client::ClaudeCode] {
        assert_eq!(
            in_project(&world, client).unwrap_err().kind(),
            ErrorKind::Refused,
            "{client}"
        );
    }
    assert_eq!(read(&world, "person/.bashrc").unwrap(), "{}\n");
}

#[test]
fn variables_of_clients_say_where_their_files_are() {
    let world = World::new("//- person/app/README.md\n");
    let environment = world.environment("person/app");
    let environment = environment
        .variable("CODEX_HOME", world.path("codex").to_string_lossy())
        .variable("CLAUDE_CONFIG_DIR", world.path("claude").to_string_lossy())
        .variable("XDG_CONFIG_HOME", world.path("config").to_string_lossy());
    let file = |client| {
        let plan = SetupPlan::add(&environment, client, ClientFile::User, COMMAND).unwrap();
        world.shown(&plan.file().to_string_lossy())
    };
    assert_eq!(file(Client::Codex), "/codex/config.toml");
    assert_eq!(file(Client::ClaudeCode), "/claude/.claude.json");
    assert_eq!(file(Client::Goose), "/config/goose/config.yaml");
    assert_eq!(file(Client::OpenCode), "/config/opencode/opencode.json");
}

#[test]
fn nothing_of_the_configuration_is_remembered_but_what_was_added() {
    let world = world(Client::ClaudeCode, CLAUDE);
    add(&world, Client::ClaudeCode).write().unwrap();
    let memory = read(&world, "person/.local/state/skillfold/setup.toml").unwrap();
    assert!(
        memory.contains(COMMAND) && !memory.contains("ghp_secret"),
        "{memory}"
    );
    undo(&world, Client::ClaudeCode).write().unwrap();
    let memory = read(&world, "person/.local/state/skillfold/setup.toml").unwrap();
    assert!(!memory.contains(COMMAND), "{memory}");
}

#[test]
fn file_that_is_cut_off_anywhere_is_refused_or_comes_back_byte_for_byte() {
    let goose = "a: größe\nextensions:\n  # one\n  b: {c: [1, 2], d: 'x: y'} # two\n  e:\n    f: |\n      g\n\n";
    let codex = "a = 1 # x\n[mcp_servers.b]\nc = [\n 1, # y\n]\n[[d]]\ne = \"\"\"f\n\"\"\"\n";
    let jsonc =
        "// ä\n{ // b\n\t\"servers\": { /* c */ \"d\": [1, { \"e\": \"}\\\"\" }, ], }, // f\n}\n";
    for (client, text) in [
        (Client::Goose, goose),
        (Client::Codex, codex),
        (Client::VsCode, jsonc),
    ] {
        let world = world(client, text);
        let environment = world.environment("person/app");
        let mut written = 0;
        for (end, _) in text.char_indices() {
            write(&world, file(client), &text[..end]);
            if let Ok(plan) = SetupPlan::add(&environment, client, ClientFile::User, COMMAND) {
                plan.write().unwrap();
                undo(&world, client).write().unwrap();
                assert_eq!(read(&world, file(client)).unwrap(), text[..end], "{client}");
                written += 1;
            }
        }
        assert!(written > 0, "{client}");
    }
}
