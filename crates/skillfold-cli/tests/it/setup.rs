//! `setup`

use serde_json::Value;

use crate::command::World;

fn world() -> World {
    World::new(
        "
        //- app/README.md
        //- person/.cursor/mcp.json
        {
          // mine
          \"mcpServers\": {
            \"github\": { \"command\": \"npx\" }
          }
        }
        ",
    )
}

/// Runs the command, with `PROGRAM` for the path of the command itself.
fn run(world: &World, arguments: &[&str]) -> String {
    let shown = world.run(arguments);
    shown.replace(env!("CARGO_BIN_EXE_skillfold"), "PROGRAM")
}

#[test]
fn setup_shows_the_change_and_writes_nothing_without_consent() {
    let world = world();
    let before = world.read("person/.cursor/mcp.json");
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--dry-run"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,6 +1,11 @@
     {
       …
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": … }
       }
     }
    ! Nothing was written; this is what would change
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "cursor"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,6 +1,11 @@
     {
       …
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": … }
       }
     }
    ! error: Refused to write `ROOT/person/.cursor/mcp.json`
    ! hint: There is no terminal to ask on; review what is shown, then pass `--yes`
    exit 4
    "#);
    assert_eq!(world.read("person/.cursor/mcp.json"), before);
    assert!(!world.path("person/.local").exists());
}

#[test]
fn setup_is_idempotent_and_can_be_undone() {
    let world = world();
    let before = world.read("person/.cursor/mcp.json");
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--yes"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,6 +1,11 @@
     {
       …
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": … }
       }
     }
    ! Written: ROOT/person/.cursor/mcp.json. Restart Cursor to use it; `skillfold setup cursor --undo` removes it again
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "cursor"]), @"
    ! Nothing to do: ROOT/person/.cursor/mcp.json has it already
    exit 0
    ");
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--undo", "--yes"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,11 +1,6 @@
     {
       …
       "mcpServers": {
    -    "skillfold": {
    -      "type": "stdio",
    -      "command": "PROGRAM",
    -      "args": ["serve"]
    -    },
         "github": { "command": … }
       }
     }
    ! Taken out: ROOT/person/.cursor/mcp.json
    exit 0
    "#);
    assert_eq!(world.read("person/.cursor/mcp.json"), before);
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--undo"]), @"
    ! Nothing to do: ROOT/person/.cursor/mcp.json has no `skillfold`
    exit 0
    ");
}

#[test]
fn foreign_entry_is_shown_and_needs_force() {
    let world = world();
    world.write("\n//- person/.codex/config.toml\n[mcp_servers.skillfold]\ncommand = \"mine\"\n");
    insta::assert_snapshot!(run(&world, &["setup", "codex", "--yes"]), @r#"
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1,2 +1,3 @@
     [mcp_servers.skillfold]
    -command = …
    +command = "PROGRAM"
    +args = ["serve"]
    ! error: Refused to write `ROOT/person/.codex/config.toml`
    ! hint: It already has a different `skillfold` entry; use `--force` to replace it as shown
    exit 4
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "codex", "--undo", "--yes"]), @"
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1,2 +0,0 @@
    -[mcp_servers.skillfold]
    -command = …
    ! error: Refused to write `ROOT/person/.codex/config.toml`
    ! hint: Its `skillfold` entry starts another program; use `--force` to remove it
    exit 4
    ");
    insta::assert_snapshot!(run(&world, &["setup", "codex", "--yes", "--force"]), @r#"
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1,2 +1,3 @@
     [mcp_servers.skillfold]
    -command = …
    +command = "PROGRAM"
    +args = ["serve"]
    ! Written: ROOT/person/.codex/config.toml. Restart Codex to use it; `skillfold setup codex --undo` removes it again
    exit 0
    "#);
}

#[test]
fn project_file_uses_the_command_name_not_its_path() {
    let world = world();
    insta::assert_snapshot!(run(&world, &["setup", "vscode", "--project", "--yes"]), @r#"
    --- /dev/null
    +++ ROOT/app/.vscode/mcp.json
    @@ -0,0 +1,9 @@
    +{
    +  "servers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "skillfold",
    +      "args": ["serve"]
    +    }
    +  }
    +}
    ! Written: ROOT/app/.vscode/mcp.json. Restart VS Code to use it; `skillfold setup vscode --project --undo` removes it again
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "vscode", "--project", "--undo", "--yes"]), @r#"
    --- ROOT/app/.vscode/mcp.json
    +++ /dev/null
    @@ -1,9 +0,0 @@
    -{
    -  "servers": {
    -    "skillfold": {
    -      "type": "stdio",
    -      "command": "skillfold",
    -      "args": ["serve"]
    -    }
    -  }
    -}
    ! Removed: ROOT/app/.vscode/mcp.json
    exit 0
    "#);
    assert!(!world.path("app/.vscode/mcp.json").exists());
    insta::assert_snapshot!(run(&world, &["setup", "goose", "--project"]), @"
    ! error: Invalid `--project`: Goose has no project configuration; leave the option out
    ! hint: Correct it and try again
    exit 2
    ");
}

#[test]
fn unparsable_file_is_reported_with_the_position() {
    let world = world();
    world.write("\n//- person/.gemini/settings.json\n{\n  \"ui\": {\n");
    insta::assert_snapshot!(run(&world, &["setup", "gemini", "--yes"]), @"
    ! error: Invalid `ROOT/person/.gemini/settings.json`: Unterminated object at 2:9
    ! hint: Correct it and try again
    exit 2
    ");
}

#[test]
fn json_has_the_diff_and_whether_it_was_written() {
    let world = world();
    insta::assert_snapshot!(run(&world, &["setup", "gemini", "--dry-run", "--json"]), @r#"
    {
      "view": 2,
      "kind": "setup",
      "files": [
        {
          "client": "gemini",
          "part": "server",
          "file": "ROOT/person/.gemini/settings.json",
          "change": "added",
          "written": false,
          "diff": "--- /dev/null\n+++ ROOT/person/.gemini/settings.json\n@@ -0,0 +1,8 @@\n+{\n+  \"mcpServers\": {\n+    \"skillfold\": {\n+      \"command\": \"PROGRAM\",\n+      \"args\": [\"serve\"]\n+    }\n+  }\n+}\n"
        }
      ]
    }
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "gemini", "--json"]), @r#"
    {
      "view": 2,
      "kind": "error",
      "error": "refused",
      "refusal": "write",
      "message": "Refused to write `ROOT/person/.gemini/settings.json`",
      "hint": "There is no terminal to ask on; review what is shown, then pass `--yes`"
    }
    ! --- /dev/null
    ! +++ ROOT/person/.gemini/settings.json
    ! @@ -0,0 +1,8 @@
    ! +{
    ! +  "mcpServers": {
    ! +    "skillfold": {
    ! +      "command": "PROGRAM",
    ! +      "args": ["serve"]
    ! +    }
    ! +  }
    ! +}
    exit 4
    "#);
    let written = run(&world, &["setup", "gemini", "--yes", "--json"]);
    assert!(written.contains("\"written\": true"), "{written}");
}

#[test]
fn configuration_lines_are_escaped_and_cut() {
    let world = world();
    let long = "x".repeat(1_000);
    world.write(&format!(
        "\n//- person/.gemini/settings.json\n{{\n  \"\u{202e}{long}\": 1\n}}\n"
    ));
    let shown = run(&world, &["setup", "gemini", "--dry-run"]);
    assert!(
        shown.contains("\\u{202e}") && !shown.contains('\u{202e}'),
        "{shown}"
    );
    assert!(
        shown.contains(" more bytes)") && !shown.contains(&long),
        "{shown}"
    );
}

#[test]
fn server_json_has_the_fields_and_limits_of_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../server.json");
    let server: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let keys = |value: &Value| {
        let keys = value.as_object().unwrap().keys().map(String::as_str);
        let mut keys: Vec<String> = keys.map(str::to_owned).collect();
        keys.sort();
        keys.join(" ")
    };
    let length = |key: &str| server[key].as_str().unwrap().chars().count();
    assert_eq!(
        keys(&server),
        "$schema description name packages title version"
    );
    assert!(
        server["$schema"]
            .as_str()
            .unwrap()
            .ends_with("/2025-12-11/server.schema.json")
    );
    let (space, name) = server["name"].as_str().unwrap().split_once('/').unwrap();
    let is_word = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
    };
    assert!(is_word(space) && is_word(name) && space.contains('.') && !name.is_empty());
    assert!((1..=100).contains(&length("title")) && (1..=100).contains(&length("description")));
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    let package = &server["packages"][0];
    assert_eq!(server["packages"].as_array().unwrap().len(), 1);
    assert_eq!(
        keys(package),
        "identifier packageArguments registryBaseUrl registryType transport version"
    );
    assert_eq!(package["registryType"], "cargo");
    assert_eq!(package["identifier"], env!("CARGO_PKG_NAME"));
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(package["transport"], serde_json::json!({ "type": "stdio" }));
    let arguments = serde_json::json!([{ "type": "positional", "value": "serve" }]);
    assert_eq!(package["packageArguments"], arguments);
}

/// A home with two clients, and secrets in their configurations.
fn home_with_clients() -> World {
    World::new(
        r#"
        //- app/README.md
        //- person/.claude.json
        {"mcpServers":{"github":{"env":{"TOKEN":"s3cret-1"}}}}
        //- person/.claude/settings.json
        {
          "env": { "KEY": "s3cret-2" },
          "hooks": {
            "UserPromptSubmit": [
              { "hooks": [{ "type": "command", "command": "mine s3cret-3" }] }
            ]
          }
        }
        //- person/.codex/config.toml
        model = "s3cret-4"
        "#,
    )
}

#[test]
fn every_installed_client_gets_the_server_and_the_hook() {
    let world = home_with_clients();
    let files = [
        "person/.claude.json",
        "person/.claude/settings.json",
        "person/.codex/config.toml",
    ];
    let before = files.map(|file| world.read(file));
    insta::assert_snapshot!(run(&world, &["setup", "--yes"]), @r#"
    --- ROOT/person/.claude.json
    +++ ROOT/person/.claude.json
    @@ -1 +1 @@
    -{"mcpServers":{"github":{"env":{"TOKEN":…}}}}
    +{"mcpServers":{"skillfold": {"type": "stdio", "command": "PROGRAM", "args": ["serve"]}, "github":{"env":{"TOKEN":…}}}}
    --- ROOT/person/.claude/settings.json
    +++ ROOT/person/.claude/settings.json
    @@ -1,8 +1,18 @@
     {
       "env": { "KEY": … },
       "hooks": {
    +    "SessionStart": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code","timeout":10,"type":…}],"matcher":"clear|compact"}
    +    ],
    +    "SubagentStart": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code","timeout":10,"type":…}]}
    +    ],
    +    "SubagentStop": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code","timeout":10,"type":…}]}
    +    ],
         "UserPromptSubmit": [
    -      { "hooks": [{ "type": …, "command": … }] }
    +      { "hooks": [{ "type": …, "command": … }] },
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code","timeout":10,"type":…}]}
         ]
       }
     }
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1 +1,5 @@
     model = …
    +
    +[mcp_servers.skillfold]
    +command = "PROGRAM"
    +args = ["serve"]
    --- /dev/null
    +++ ROOT/person/.codex/hooks.json
    @@ -0,0 +1,13 @@
    +{
    +  "hooks": {
    +    "UserPromptSubmit": [
    +      {"hooks":[{"command":"PROGRAM hook --client codex","timeout":10,"type":"command"}]}
    +    ],
    +    "SessionStart": [
    +      {"hooks":[{"command":"PROGRAM hook --client codex","timeout":10,"type":"command"}],"matcher":"clear|compact"}
    +    ],
    +    "PreCompact": [
    +      {"hooks":[{"command":"PROGRAM hook --client codex","timeout":10,"type":"command"}]}
    +    ]
    +  }
    +}
    ! Claude Code: server
    ! Written: ROOT/person/.claude.json. Restart Claude Code to use it; `skillfold setup claude-code --undo` removes it again
    ! Claude Code: hook
    ! Written: ROOT/person/.claude/settings.json. Restart Claude Code to use it; `skillfold setup claude-code --undo` removes it again
    ! Codex: server
    ! Written: ROOT/person/.codex/config.toml. Restart Codex to use it; `skillfold setup codex --undo` removes it again
    ! Codex: hook
    ! Written: ROOT/person/.codex/hooks.json. Restart Codex to use it; `skillfold setup codex --undo` removes it again
    ! Codex calls a new hook only after you approve it: type `/hooks` in Codex and review it
    exit 0
    "#);
    let again = run(&world, &["setup", "--yes"]);
    assert_eq!(again.matches("Nothing to do").count(), 4, "{again}");
    let undone = run(&world, &["setup", "--undo", "--yes"]);
    assert!(undone.ends_with("exit 0\n"), "{undone}");
    assert_eq!(files.map(|file| world.read(file)), before);
    assert!(!world.path("person/.codex/hooks.json").exists());
}

#[test]
fn nothing_is_written_if_the_hook_cannot_be_added() {
    let world = World::new(
        "
        //- app/README.md
        //- person/.codex/config.toml
        model = \"x\"
        //- person/.codex/hooks.json
        { broken
        ",
    );
    let refused = run(&world, &["setup", "codex", "--hook", "--yes"]);
    assert!(!refused.ends_with("exit 0\n"), "{refused}");
    assert!(
        !world
            .read("person/.codex/config.toml")
            .contains("skillfold")
    );
}

#[test]
fn shown_diff_contains_no_secrets() {
    let world = home_with_clients();
    for arguments in [&["setup", "--yes"][..], &["setup", "--undo", "--yes"]] {
        let shown = run(&world, arguments);
        assert!(
            shown.contains("skillfold") && !shown.contains("s3cret"),
            "{shown}"
        );
    }
    let shown = run(&world, &["setup", "--dry-run", "--json"]);
    assert!(
        shown.contains("diff") && !shown.contains("s3cret"),
        "{shown}"
    );
}

#[test]
fn multiline_strings_and_comments_are_not_shown_either() {
    let files = [
        (
            "goose",
            "person/.config/goose/config.yaml",
            "KEY: s3cret==\nPEM: |\n  s3cret==\n  s3cret: x\nlist: [a=s3cret=b]\nextensions: {}\n",
        ),
        (
            "goose",
            "person/.config/goose/config.yaml",
            "# s3cret: old\nquoted: \"a\n  s3cret: tail\"\nextensions: {}\n",
        ),
        (
            "codex",
            "person/.codex/config.toml",
            "key = \"\"\"\ns3cret==\n[s3cret]\ns3cret = 1\n\"\"\"\n# s3cret = old\nlist = [\n  [ \"s3cret\" ]\n]\n",
        ),
        (
            "gemini",
            "person/.gemini/settings.json",
            "{ // s3cret: old\n  /* s3cret= */ \"a\": \"s3cret\" }\n",
        ),
        (
            "gemini",
            "person/.gemini/settings.json",
            "{ \"mcpServers\": {}, \"hooks\": { \"Z\": [ {\"command\":\"s3cret\"} ], \"y\": {\n  \"PreCompress\": [\n  1] }, \"BeforeAgent\": [] } }\n",
        ),
    ];
    for (client, file, text) in files {
        let world = World::new(&format!("//- app/README.md\n//- {file}\n{text}"));
        let hook = (client == "gemini").then_some("--hook");
        let arguments = ["setup", client, "--dry-run"].into_iter().chain(hook);
        let shown = run(&world, &arguments.collect::<Vec<_>>());
        assert!(
            shown.contains("skillfold") && !shown.contains("s3cret"),
            "{text}\n{shown}"
        );
    }
}

#[test]
fn foreign_hook_in_the_same_group_is_left_alone() {
    let group = r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"/opt/audit.sh"},{"type":"command","command":"/old/skillfold hook --client claude-code"}]}]}}"#;
    let world = World::new(&format!(
        "//- app/README.md\n//- person/.claude/settings.json\n{group}\n"
    ));
    run(&world, &["setup", "claude-code", "--yes"]);
    let before = world.read("person/.claude/settings.json");
    for arguments in [
        &["setup", "claude-code", "--hook", "--yes"][..],
        &["setup", "claude-code", "--undo", "--yes"],
    ] {
        let shown = run(&world, arguments);
        assert!(
            shown.contains("our hook shares a group with another one")
                && shown.ends_with("exit 2\n"),
            "{shown}"
        );
        assert_eq!(world.read("person/.claude/settings.json"), before);
    }
}

#[test]
fn adding_the_hook_keeps_comments() {
    let world = World::new("//- app/README.md\n//- person/.cursor/hooks.json\n// mine\n");
    let shown = run(&world, &["setup", "cursor", "--hook", "--yes"]);
    assert!(shown.contains("The file has only comments"), "{shown}");
    world.write("//- person/.cursor/hooks.json\n{ // mine\n  \"version\": 1\n}\n");
    let before = world.read("person/.cursor/hooks.json");
    run(&world, &["setup", "cursor", "--hook", "--yes"]);
    assert!(
        world
            .read("person/.cursor/hooks.json")
            .contains("beforeSubmitPrompt")
    );
    run(&world, &["setup", "cursor", "--undo", "--yes"]);
    assert_eq!(world.read("person/.cursor/hooks.json"), before);
}

#[test]
fn hook_is_added_and_removed_with_the_server() {
    let world = world();
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--hook", "--yes"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,6 +1,11 @@
     {
       …
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": … }
       }
     }
    --- /dev/null
    +++ ROOT/person/.cursor/hooks.json
    @@ -0,0 +1,11 @@
    +{
    +  "hooks": {
    +    "beforeSubmitPrompt": [
    +      {"command":"PROGRAM hook --client cursor","timeout":10}
    +    ],
    +    "preCompact": [
    +      {"command":"PROGRAM hook --client cursor","timeout":10}
    +    ]
    +  },
    +  "version": 1
    +}
    ! Written: ROOT/person/.cursor/mcp.json. Restart Cursor to use it; `skillfold setup cursor --undo` removes it again
    ! Written: ROOT/person/.cursor/hooks.json. Restart Cursor to use it; `skillfold setup cursor --undo` removes it again
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--undo", "--yes"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,11 +1,6 @@
     {
       …
       "mcpServers": {
    -    "skillfold": {
    -      "type": "stdio",
    -      "command": "PROGRAM",
    -      "args": ["serve"]
    -    },
         "github": { "command": … }
       }
     }
    --- ROOT/person/.cursor/hooks.json
    +++ /dev/null
    @@ -1,11 +0,0 @@
    -{
    -  "hooks": {
    -    "beforeSubmitPrompt": [
    -      {"command":"PROGRAM hook --client cursor","timeout":10}
    -    ],
    -    "preCompact": [
    -      {"command":"PROGRAM hook --client cursor","timeout":10}
    -    ]
    -  },
    -  "version": …
    -}
    ! Taken out: ROOT/person/.cursor/mcp.json
    ! Removed: ROOT/person/.cursor/hooks.json
    exit 0
    "#);
    assert!(!world.path("person/.cursor/hooks.json").exists());
    insta::assert_snapshot!(run(&world, &["setup", "goose", "--hook", "--yes"]), @"
    ! error: Invalid `--hook`: Goose has no hooks that add to a prompt; leave the option out
    ! hint: Correct it and try again
    exit 2
    ");
}

#[test]
fn setup_without_a_client_lists_the_supported_ones() {
    let refused = run(&home_with_clients(), &["setup"]);
    assert!(refused.ends_with("exit 4\n"), "{refused}");
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(run(&world, &["setup"]), @"
    ! No client was found; name the one to set up: claude-code, claude-desktop, codex, cursor, gemini, goose, opencode, vscode, windsurf, zed
    exit 0
    ");
}

#[test]
fn doctor_reports_whether_a_hook_has_run() {
    let world = home_with_clients();
    let hooks = |world: &World| {
        let shown = run(world, &["doctor"]);
        let from = shown.find("Hooks").unwrap();
        shown[from..].to_owned()
    };
    insta::assert_snapshot!(hooks(&world), @"
    Hooks
      claude-code   not installed; `skillfold setup claude-code --hook` adds it
      codex         not installed; `skillfold setup codex --hook` adds it

    ! No skills found. `skillfold new NAME` creates one
    exit 0
    ");
    run(&world, &["setup", "--yes"]);
    insta::assert_snapshot!(hooks(&world), @"
    Hooks
      claude-code   installed, not called in 30 days
      codex         installed, not called in 30 days; type `/hooks` in Codex to approve it

    ! No skills found. `skillfold new NAME` creates one
    exit 0
    ");
    let mut command = crate::command::skillfold(&world.path("app"), &world.path("person"));
    command.args(["hook", "--client", "codex"]);
    command.stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let event = r#"{"hook_event_name":"UserPromptSubmit","session_id":"1","prompt":"hello"}"#;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.as_bytes()).unwrap();
    child.wait().unwrap();
    let heard = hooks(&world);
    assert!(heard.contains("codex         last heard 20"), "{heard}");
}
