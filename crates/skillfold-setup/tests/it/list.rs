//! A client's own list of skills is turned off and on again, and follows the skills.

use std::process::Command;

use skillfold_setup::{ListFile, SetupChange, SetupClient, SetupPlan};

use crate::{World, read, write};

/// The clients, their settings, and what these can look like before.
const SETTINGS: [(SetupClient, &str, &[&str]); 6] = [
    (
        SetupClient::ClaudeCode,
        "person/.claude/settings.json",
        &[
            "",
            "{}",
            "{\"model\": \"opus\"}",
            "{\n  \"model\": \"opus\" // mine\n}\n",
            "{\r\n\t\"skillOverrides\": {\r\n\t\t\"mine\": \"off\"\r\n\t}\r\n}\r\n",
            "\u{feff}{ \"skillOverrides\": {} }\n",
        ],
    ),
    (
        SetupClient::Codex,
        "person/.codex/config.toml",
        &[
            "",
            "model = \"x\"",
            "[skills]\nmax_context_tokens = 100\n\n[other]\na = 1\n",
            "[[skills.config]]\nname = \"a\"\nenabled = false\n",
            "[skills]\ninclude_instructions = true # mine\n",
        ],
    ),
    (
        SetupClient::CopilotCli,
        "person/.copilot/settings.json",
        &[
            "",
            "{\"disabledSkills\": [\"mine\"]}",
            "{\n  \"disabledSkills\": [\n    \"mine\"\n  ]\n}\n",
        ],
    ),
    (
        SetupClient::Gemini,
        "person/.gemini/settings.json",
        &[
            "",
            "{\"skills\": {\"enabled\": true}, \"tools\": {\"enabled\": false}}",
            "{\n    \"skills\": {\n        \"disabled\": []\n    }\n}",
        ],
    ),
    (
        SetupClient::OpenCode,
        "person/.config/opencode/opencode.json",
        &[
            "",
            "{\"permission\": {\"skill\": {\"*\": \"ask\"}}}",
            "{\n  \"permission\": {\"bash\": \"ask\"}\n}\n",
        ],
    ),
    (
        SetupClient::Qwen,
        "person/.qwen/settings.json",
        &["", "{\n  \"skills\": {\n    \"disabled\": []\n  }\n}\n"],
    ),
];

fn world() -> World {
    World::new("//- person/app/README.md\n")
}

fn turn_off(world: &World, client: SetupClient, names: &[&str]) -> SetupPlan {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    SetupPlan::turn_off_list(
        &world.environment("person/app"),
        client,
        ListFile::User,
        &names,
    )
    .unwrap()
}

fn turn_on(world: &World, client: SetupClient) {
    for file in SetupPlan::list_files(&world.environment("person/app"), client) {
        let plan = SetupPlan::undo_list(&world.environment("person/app"), client, &file).unwrap();
        plan.write().unwrap();
    }
}

#[test]
fn turning_a_list_on_again_restores_every_byte() {
    for (client, file, texts) in SETTINGS {
        for text in texts {
            let world = world();
            if !text.is_empty() {
                write(&world, file, text);
            }
            let before = read(&world, file);
            for names in [&["b"][..], &["a", "b", "c"], &["b", "c"], &[], &["a"]] {
                turn_off(&world, client, names).write().unwrap();
                assert_eq!(
                    turn_off(&world, client, names).change(),
                    SetupChange::Nothing
                );
            }
            assert_ne!(read(&world, file), before, "{client}: {text:?}");
            assert!(client.has_list_off(&world.environment("person/app")));
            turn_on(&world, client);
            assert_eq!(read(&world, file), before, "{client}");
            assert!(!client.has_list_off(&world.environment("person/app")));
        }
    }
}

#[test]
fn edits_beside_the_list_survive() {
    for (client, file, _) in SETTINGS {
        let (start, edited) = if client == SetupClient::Codex {
            ("a = 1\n", "# note\na = 2\n")
        } else {
            ("{\n  \"a\": 1\n}\n", "{\n  // note\n  \"a\": 2\n}\n")
        };
        let world = world();
        write(&world, file, start);
        turn_off(&world, client, &["x", "y"]).write().unwrap();
        let text = read(&world, file).unwrap();
        let (old, new) = match client {
            SetupClient::Codex => ("a = 1", "# note\na = 2"),
            _ => ("  \"a\": 1", "  // note\n  \"a\": 2"),
        };
        write(&world, file, &text.replace(old, new));
        turn_off(&world, client, &["y", "z"]).write().unwrap();
        turn_on(&world, client);
        assert_eq!(read(&world, file).unwrap(), edited, "{client}");
    }
}

#[test]
fn list_that_somebody_rewrote_is_turned_on_key_by_key() {
    let file = "person/.claude/settings.json";
    let world = world();
    write(&world, file, "{\"skillOverrides\": {\"mine\": \"off\"}}");
    turn_off(&world, SetupClient::ClaudeCode, &["a", "b", "mine"])
        .write()
        .unwrap();
    // A formatter sorted the keys, and the user turned one on.
    let text = "{\n\"skillOverrides\": {\n\"b\": \"user-invocable-only\",\n\"a\": \"on\",\n\"mine\": \"off\"\n}\n}\n";
    write(&world, file, text);
    turn_on(&world, SetupClient::ClaudeCode);
    let left: serde_json::Value = serde_json::from_str(&read(&world, file).unwrap()).unwrap();
    let expected = serde_json::json!({ "skillOverrides": { "a": "on", "mine": "off" } });
    assert_eq!(left, expected);
}

#[test]
fn names_that_somebody_moved_are_taken_out_of_a_list_together() {
    let client = SetupClient::CopilotCli;
    let file = "person/.copilot/settings.json";
    for (edited, left) in [
        (r#"["c", "mine", "a", "b"]"#, r#"["mine"]"#),
        (r#"["mine", "b", "its", "a", "c"]"#, r#"["mine", "its"]"#),
        (r#"["b", "b", "a"]"#, r#"["b"]"#),
        (
            "[\n  \"a\", \"c\", // note\n  \"mine\",\n  \"b\"\n]",
            "[\n  \"mine\"\n]",
        ),
    ] {
        let world = world();
        write(&world, file, r#"{"x": 1}"#);
        turn_off(&world, client, &["a", "b", "c"]).write().unwrap();
        write(
            &world,
            file,
            &format!("{{\"disabledSkills\": {edited}, \"x\": 1}}"),
        );
        turn_on(&world, client);
        let expected = format!("{{\"disabledSkills\": {left}, \"x\": 1}}");
        assert_eq!(read(&world, file).unwrap(), expected);
    }
}

#[test]
fn keys_on_one_line_are_taken_out_of_an_object_together() {
    let client = SetupClient::ClaudeCode;
    let file = "person/.claude/settings.json";
    let off = |name: &str| format!("\"{name}\": \"user-invocable-only\"");
    let [a, b, c, mine] = ["a", "b", "c", "mine"].map(off);
    for (edited, left) in [
        (format!("{{{c}, {mine}, {a}, {b}}}"), format!("{{{mine}}}")),
        (
            format!("{{ {a}, {b}, {mine}, {c} }}"),
            format!("{{ {mine} }}"),
        ),
        (
            format!("{{\n {a}, {b}, // note\n {mine},\n {c}\n}}"),
            format!("{{\n // note\n {mine}\n}}"),
        ),
    ] {
        let world = world();
        write(&world, file, r#"{"x": 1}"#);
        turn_off(&world, client, &["a", "b", "c"]).write().unwrap();
        write(
            &world,
            file,
            &format!("{{\"skillOverrides\": {edited}, \"x\": 1}}"),
        );
        turn_on(&world, client);
        let expected = format!("{{\"skillOverrides\": {left}, \"x\": 1}}");
        assert_eq!(read(&world, file).unwrap(), expected);
    }
}

#[test]
fn what_the_user_turned_off_stays_off() {
    for (client, file, off) in [
        (
            SetupClient::Gemini,
            "person/.gemini/settings.json",
            "{\"skills\": {\"enabled\": false}}",
        ),
        (
            SetupClient::CopilotCli,
            "person/.copilot/settings.json",
            "{\"disabledSkills\": [\"a\"]}",
        ),
        (
            SetupClient::Codex,
            "person/.codex/config.toml",
            "[skills]\ninclude_instructions = false\n",
        ),
    ] {
        let world = world();
        write(&world, file, off);
        let plan = turn_off(&world, client, &["a"]);
        assert_eq!(plan.change(), SetupChange::Nothing, "{client}");
        plan.write().unwrap();
        assert!(client.has_list_off(&world.environment("person/app")));
        turn_on(&world, client);
        assert_eq!(read(&world, file).as_deref(), Some(off));
    }
}

#[test]
fn skills_of_a_project_are_turned_off_in_its_local_settings() {
    let world = world();
    let client = SetupClient::ClaudeCode;
    let names = ["a".to_owned()];
    let plan = SetupPlan::turn_off_list(
        &world.environment("person/app"),
        client,
        ListFile::Local,
        &names,
    );
    plan.unwrap().write().unwrap();
    let file = "person/app/.claude/settings.local.json";
    assert!(
        read(&world, file)
            .unwrap()
            .contains("\"a\": \"user-invocable-only\"")
    );
    // It is undone from any other folder too.
    let elsewhere = world.environment("person");
    for file in SetupPlan::list_files(&elsewhere, client) {
        SetupPlan::undo_list(&elsewhere, client, &file)
            .unwrap()
            .write()
            .unwrap();
    }
    assert_eq!(read(&world, file), None);
    let gemini = SetupPlan::turn_off_list(
        &world.environment("person/app"),
        SetupClient::Gemini,
        ListFile::Local,
        &names,
    );
    gemini.unwrap_err();
}

#[test]
fn restore_file_says_what_to_undo_by_hand() {
    let world = world();
    write(
        &world,
        "person/.gemini/settings.json",
        "{\"skills\": {\"enabled\": true}}",
    );
    turn_off(&world, SetupClient::Gemini, &[]).write().unwrap();
    turn_off(&world, SetupClient::ClaudeCode, &["a"])
        .write()
        .unwrap();
    let file = "person/.local/state/skillfold/restore.txt";
    let text = read(&world, file).unwrap();
    insta::assert_snapshot!(world.shown(&text), @r#"
    What `skillfold setup` added. If Skillfold is gone, undo it by hand. In JSON, also remove a comma that is left over.

    == Gemini CLI: list
    In /person/.gemini/settings.json, set `skills.enabled` to true.

    == Claude Code: list
    In /person/.claude/settings.json, take out the following, and delete it if nothing else is in it:

      "skillOverrides": {
        "a": "user-invocable-only"
      }
    "#);
    turn_on(&world, SetupClient::Gemini);
    turn_on(&world, SetupClient::ClaudeCode);
    assert_eq!(read(&world, file), None);
}

/// Runs Git in a folder of the world, without the settings of whoever runs the test.
#[expect(clippy::disallowed_methods, reason = "the real Git writes the index")]
fn git(world: &World, folder: &str, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
    command.args(arguments).current_dir(world.path(folder));
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", world.path("person"));
    let done = command.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

#[test]
fn settings_under_version_control_are_never_written() {
    const LOCAL: &str = "app/.claude/settings.local.json";
    let adds: [&[&str]; 4] = [
        &["-c", "index.version=2", "add", "."],
        // Version 3: an entry has more flags.
        &["add", "--intent-to-add", "."],
        &["-c", "index.version=4", "add", "."],
        &["-c", "index.version=4", "add", ".claude/settings.json"],
    ];
    for (number, add) in adds.iter().enumerate() {
        let world = World::new(
            "
            //- app/.claude/settings.json
            {}
            //- app/.claude/settings.lo
            //- app/.claude/settings.local.json
            {}
            //- person/x
            ",
        );
        git(&world, "app", &["init", "--quiet"]);
        git(&world, "app", add);
        let environment = world.environment("app");
        let refused = || {
            let names = ["of-project".to_owned()];
            let (client, file) = (SetupClient::ClaudeCode, ListFile::Local);
            SetupPlan::turn_off_list(&environment, client, file, &names).is_err()
        };
        assert_eq!(refused(), number < 3, "{add:?}");
        if number == 3 {
            git(&world, "app", &["add", "."]);
            assert!(refused());
            git(
                &world,
                "app",
                &["rm", "--quiet", "--cached", ".claude/settings.local.json"],
            );
            assert!(!refused());
        }
        assert_eq!(read(&world, LOCAL).as_deref(), Some("{}\n"));
    }
}

#[test]
fn linked_work_tree_knows_what_is_under_version_control() {
    let world = World::new(
        "
        //- main/.claude/settings.local.json
        {}
        //- person/x
        ",
    );
    git(&world, "main", &["init", "--quiet"]);
    git(&world, "main", &["add", "."]);
    git(&world, "main", &["commit", "--quiet", "--message", "a"]);
    git(&world, "main", &["worktree", "add", "--quiet", "../app"]);
    let file = SetupClient::ClaudeCode.local_list_file(&world.environment("app"));
    assert!(file.is_err());
}

#[test]
fn restore_file_names_whole_entries() {
    let world = world();
    write(
        &world,
        "person/.claude/settings.json",
        "{ \"skillOverrides\": { \"mine\": \"off\" } }",
    );
    turn_off(&world, SetupClient::ClaudeCode, &["a", "b"])
        .write()
        .unwrap();
    let text = read(&world, "person/.local/state/skillfold/restore.txt").unwrap();
    insta::assert_snapshot!(world.shown(&text).replace(", \n", ",\n"), @r#"
    What `skillfold setup` added. If Skillfold is gone, undo it by hand. In JSON, also remove a comma that is left over.

    == Claude Code: list
    In /person/.claude/settings.json, take out the following:

    "a": "user-invocable-only", "b": "user-invocable-only",
    "#);
}

#[test]
fn names_that_an_editor_brings_back_are_taken_out() {
    for (client, file, texts) in SETTINGS {
        if !client.list_switch().unwrap().is_by_skill() {
            continue;
        }
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let world = world();
            write(&world, file, text);
            turn_off(&world, client, &["a", "b"]).write().unwrap();
            let open_in_editor = read(&world, file).unwrap();
            turn_off(&world, client, &["b"]).write().unwrap();
            write(&world, file, &open_in_editor);
            turn_off(&world, client, &["b"]).write().unwrap();
            assert!(
                !read(&world, file).unwrap().contains("\"a\""),
                "{client}: {text:?}"
            );
            turn_on(&world, client);
            assert_eq!(read(&world, file).as_deref(), Some(*text), "{client}");
        }
    }
}
