//! `setup` of all clients, and of the hook.

use crate::command::World;
use crate::setup::{run, world};

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
#[expect(clippy::too_many_lines, reason = "one snapshot of all clients")]
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
    @@ -1,8 +1,21 @@
     {
       "env": { "KEY": … },
       "hooks": {
    +    "SessionStart": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code || …
    +    ],
    +    "SubagentStart": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code || …
    +    ],
    +    "SubagentStop": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code || …
    +    ],
    +    "PostToolUse": [
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code || …
    +    ],
         "UserPromptSubmit": [
    -      { "hooks": [{ "type": …, "command": … }] }
    +      { "hooks": [{ "type": …, "command": … }] },
    +      {"hooks":[{"command":"PROGRAM hook --client claude-code || …
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
    ! Claude Code: server
    ! Written: ROOT/person/.claude.json
    ! Claude Code: hook
    ! Written: ROOT/person/.claude/settings.json
    ! Restart Claude Code to use it; `skillfold setup claude-code --undo` removes it again
    ! Codex: server
    ! Written: ROOT/person/.codex/config.toml
    ! Codex: hook
    ! Written: ROOT/person/.codex/hooks.json
    ! Codex calls a new hook only after you approve it: type `/hooks` in Codex and review it
    ! Restart Codex to use it; `skillfold setup codex --undo` removes it again
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
    let refused = run(&world, &["setup", "codex", "--yes"]);
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
        let shown = run(&world, &["setup", client, "--dry-run"]);
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
        &["setup", "claude-code", "--yes"][..],
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
    let shown = run(&world, &["setup", "cursor", "--yes"]);
    assert!(shown.contains("The file has only comments"), "{shown}");
    world.write("//- person/.cursor/hooks.json\n{ // mine\n  \"version\": 1\n}\n");
    let before = world.read("person/.cursor/hooks.json");
    run(&world, &["setup", "cursor", "--yes"]);
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
    assert!(!world.path("person/.cursor/hooks.json").exists());
}

#[test]
fn setup_without_a_client_lists_the_supported_ones() {
    let refused = run(&home_with_clients(), &["setup"]);
    assert!(refused.ends_with("exit 4\n"), "{refused}");
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(run(&world, &["setup"]), @"
    ! No client was found; name the one to set up: claude-code, claude-desktop, codex, copilot-cli, cursor, gemini, goose, opencode, qwen, vscode, windsurf, zed
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
      claude-code   not installed; `skillfold setup claude-code` adds it
      codex         not installed; `skillfold setup codex` adds it

    Program
      PROGRAM
          built by cargo and not installed; to update, build it again from the newer sources

    ! No skills found. `skillfold new NAME` creates one
    exit 0
    ");
    run(&world, &["setup", "--yes"]);
    insta::assert_snapshot!(hooks(&world), @"
    Hooks
      claude-code   installed, not called in 30 days
      codex         installed, not called in 30 days; type `/hooks` in Codex to approve it

    Clients
      claude-code   about 0 tokens in every request, 0 fewer than without Skillfold
      codex         about 0 tokens in every request, 0 fewer than without Skillfold

    Program
      PROGRAM
          built by cargo and not installed; to update, build it again from the newer sources

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
