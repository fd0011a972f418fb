//! `setup`

use serde_json::Value;

use crate::command::World;

pub(crate) fn world() -> World {
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

/// Runs the command, with `PROGRAM` for the path of the command itself. The rest of a hook's line, which is cut by its
/// length, is left out: paths are not equally long everywhere.
pub(crate) fn run(world: &World, arguments: &[&str]) -> String {
    let shown = world.run(arguments);
    let shown = shown.replace(env!("CARGO_BIN_EXE_skillfold"), "PROGRAM");
    let mut parts = shown.split(" || [ -x ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // In JSON the end of a line is escaped.
        let end = ["\n", "\\n"]
            .into_iter()
            .filter_map(|end| part.find(end))
            .min();
        text += " || …";
        text += &part[end.unwrap_or(part.len())..];
    }
    text
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
    --- /dev/null
    +++ ROOT/person/.cursor/hooks.json
    @@ -0,0 +1,11 @@
    +{
    +  "hooks": {
    +    "beforeSubmitPrompt": [
    +      {"command":"PROGRAM hook --client cursor || …
    +    ],
    +    "preCompact": [
    +      {"command":"PROGRAM hook --client cursor || …
    +    ]
    +  },
    +  "version": 1
    +}
    ! Nothing was written; this is what would change
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
    --- /dev/null
    +++ ROOT/person/.cursor/hooks.json
    @@ -0,0 +1,11 @@
    +{
    +  "hooks": {
    +    "beforeSubmitPrompt": [
    +      {"command":"PROGRAM hook --client cursor || …
    +    ],
    +    "preCompact": [
    +      {"command":"PROGRAM hook --client cursor || …
    +    ]
    +  },
    +  "version": 1
    +}
    ! Written: ROOT/person/.cursor/mcp.json
    ! Written: ROOT/person/.cursor/hooks.json
    ! Restart Cursor to use it; `skillfold setup cursor --undo` removes it again
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "cursor"]), @"
    ! Nothing to do: ROOT/person/.cursor/mcp.json has it already
    ! Nothing to do: ROOT/person/.cursor/hooks.json has it already
    exit 0
    ");
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--undo", "--yes"]), @r#"
    --- ROOT/person/.cursor/hooks.json
    +++ /dev/null
    @@ -1,11 +0,0 @@
    -{
    -  "hooks": {
    -    "beforeSubmitPrompt": [
    -      {"command":"PROGRAM hook --client cursor || …
    -    ],
    -    "preCompact": [
    -      {"command":"PROGRAM hook --client cursor || …
    -    ]
    -  },
    -  "version": …
    -}
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
    ! Removed: ROOT/person/.cursor/hooks.json
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
    --- /dev/null
    +++ ROOT/person/.codex/hooks.json
    @@ -0,0 +1,13 @@
    +{
    +  "hooks": {
    +    "UserPromptSubmit": [
    +      {"hooks":[{"command":"PROGRAM hook --client codex || …
    +    ],
    +    "SessionStart": [
    +      {"hooks":[{"command":"PROGRAM hook --client codex || …
    +    ],
    +    "PreCompact": [
    +      {"hooks":[{"command":"PROGRAM hook --client codex || …
    +    ]
    +  }
    +}
    ! Written: ROOT/person/.codex/config.toml
    ! Written: ROOT/person/.codex/hooks.json
    ! Codex calls a new hook only after you approve it: type `/hooks` in Codex and review it
    ! Restart Codex to use it; `skillfold setup codex --undo` removes it again
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
    --- /dev/null
    +++ ROOT/app/.github/hooks/skillfold.json
    @@ -0,0 +1,10 @@
    +{
    +  "hooks": {
    +    "UserPromptSubmit": [
    +      {"command":"skillfold hook --client vscode","timeout":10,"type":"command"}
    +    ],
    +    "PreCompact": [
    +      {"command":"skillfold hook --client vscode","timeout":10,"type":"command"}
    +    ]
    +  }
    +}
    ! Written: ROOT/app/.vscode/mcp.json
    ! Written: ROOT/app/.github/hooks/skillfold.json
    ! Restart VS Code to use it; `skillfold setup vscode --project --undo` removes it again
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "vscode", "--project", "--undo", "--yes"]), @r#"
    --- ROOT/app/.github/hooks/skillfold.json
    +++ /dev/null
    @@ -1,10 +0,0 @@
    -{
    -  "hooks": {
    -    "UserPromptSubmit": [
    -      {"command":"skillfold hook --client vscode","timeout":10,"type":"command"}
    -    ],
    -    "PreCompact": [
    -      {"command":"skillfold hook --client vscode","timeout":10,"type":"command"}
    -    ]
    -  }
    -}
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
    ! Removed: ROOT/app/.github/hooks/skillfold.json
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
      "clients": [
        {
          "client": "gemini",
          "skills": 0,
          "own_tokens": 0,
          "ours_tokens": 0,
          "both_tokens": 0,
          "list": "both"
        }
      ],
      "files": [
        {
          "client": "gemini",
          "part": "server",
          "file": "ROOT/person/.gemini/settings.json",
          "change": "added",
          "written": false,
          "diff": "--- /dev/null\n+++ ROOT/person/.gemini/settings.json\n@@ -0,0 +1,8 @@\n+{\n+  \"mcpServers\": {\n+    \"skillfold\": {\n+      \"command\": \"PROGRAM\",\n+      \"args\": [\"serve\"]\n+    }\n+  }\n+}\n"
        },
        {
          "client": "gemini",
          "part": "hook",
          "file": "ROOT/person/.gemini/settings.json",
          "change": "added",
          "written": false,
          "diff": "--- /dev/null\n+++ ROOT/person/.gemini/settings.json\n@@ -0,0 +1,10 @@\n+{\n+  \"hooks\": {\n+    \"BeforeAgent\": [\n+      {\"hooks\":[{\"command\":\"PROGRAM hook --client gemini || …\n+    ],\n+    \"PreCompress\": [\n+      {\"hooks\":[{\"command\":\"PROGRAM hook --client gemini || …\n+    ]\n+  }\n+}\n"
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
    let path = skillfold_testkit::in_checkout("server.json");
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
