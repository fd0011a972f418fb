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
fn change_is_shown_and_nothing_is_written_without_a_word() {
    let world = world();
    let before = world.read("person/.cursor/mcp.json");
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--dry-run"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,6 +1,11 @@
     {
       // mine
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": "npx" }
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
       // mine
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": "npx" }
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
fn setup_is_written_once_and_undone() {
    let world = world();
    let before = world.read("person/.cursor/mcp.json");
    insta::assert_snapshot!(run(&world, &["setup", "cursor", "--yes"]), @r#"
    --- ROOT/person/.cursor/mcp.json
    +++ ROOT/person/.cursor/mcp.json
    @@ -1,6 +1,11 @@
     {
       // mine
       "mcpServers": {
    +    "skillfold": {
    +      "type": "stdio",
    +      "command": "PROGRAM",
    +      "args": ["serve"]
    +    },
         "github": { "command": "npx" }
       }
     }
    ! Written: ROOT/person/.cursor/mcp.json; `skillfold setup cursor --undo` removes it again
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
       // mine
       "mcpServers": {
    -    "skillfold": {
    -      "type": "stdio",
    -      "command": "PROGRAM",
    -      "args": ["serve"]
    -    },
         "github": { "command": "npx" }
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
fn entry_that_was_made_otherwise_is_shown_and_needs_force() {
    let world = world();
    world.write("\n//- person/.codex/config.toml\n[mcp_servers.skillfold]\ncommand = \"mine\"\n");
    insta::assert_snapshot!(run(&world, &["setup", "codex", "--yes"]), @r#"
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1,2 +1,3 @@
     [mcp_servers.skillfold]
    -command = "mine"
    +command = "PROGRAM"
    +args = ["serve"]
    ! error: Refused to write `ROOT/person/.codex/config.toml`
    ! hint: It already has a different `skillfold` entry; use `--force` to replace it as shown
    exit 4
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "codex", "--undo", "--yes"]), @r#"
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1,2 +0,0 @@
    -[mcp_servers.skillfold]
    -command = "mine"
    ! error: Refused to write `ROOT/person/.codex/config.toml`
    ! hint: Its `skillfold` entry starts another program; use `--force` to remove it
    exit 4
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "codex", "--yes", "--force"]), @r#"
    --- ROOT/person/.codex/config.toml
    +++ ROOT/person/.codex/config.toml
    @@ -1,2 +1,3 @@
     [mcp_servers.skillfold]
    -command = "mine"
    +command = "PROGRAM"
    +args = ["serve"]
    ! Written: ROOT/person/.codex/config.toml; `skillfold setup codex --undo` removes it again
    exit 0
    "#);
}

#[test]
fn file_of_a_project_names_the_command_and_not_its_place() {
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
    ! Written: ROOT/app/.vscode/mcp.json; `skillfold setup vscode --project --undo` removes it again
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
    ! error: Invalid `--project`: Goose has no configuration of a project; leave the option out
    ! hint: Correct it and try again
    exit 2
    ");
}

#[test]
fn file_that_cannot_be_understood_is_said_with_its_place() {
    let world = world();
    world.write("\n//- person/.gemini/settings.json\n{\n  \"ui\": {\n");
    insta::assert_snapshot!(run(&world, &["setup", "gemini", "--yes"]), @"
    ! error: Invalid `ROOT/person/.gemini/settings.json`: Unterminated object at 2:9
    ! hint: Correct it and try again
    exit 2
    ");
}

#[test]
fn json_has_the_difference_and_whether_it_was_written() {
    let world = world();
    insta::assert_snapshot!(run(&world, &["setup", "gemini", "--dry-run", "--json"]), @r#"
    {
      "view": 1,
      "kind": "setup",
      "client": "gemini",
      "file": "ROOT/person/.gemini/settings.json",
      "change": "added",
      "written": false,
      "diff": "--- /dev/null\n+++ ROOT/person/.gemini/settings.json\n@@ -0,0 +1,8 @@\n+{\n+  \"mcpServers\": {\n+    \"skillfold\": {\n+      \"command\": \"PROGRAM\",\n+      \"args\": [\"serve\"]\n+    }\n+  }\n+}\n"
    }
    exit 0
    "#);
    insta::assert_snapshot!(run(&world, &["setup", "gemini", "--json"]), @r#"
    {
      "view": 1,
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
fn line_of_a_configuration_cannot_act_on_a_terminal_and_is_cut() {
    let world = world();
    let long = "x".repeat(1_000);
    world.write(&format!(
        "\n//- person/.gemini/settings.json\n{{\n  \"a\": \"\u{202e}{long}\"\n}}\n"
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
fn description_for_the_registry_has_the_form_that_it_takes() {
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
