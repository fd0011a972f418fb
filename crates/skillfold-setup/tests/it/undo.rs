//! What `undo` removes, and what it restores.

use skillfold_setup::{ClientFile, SetupChange, SetupClient, SetupPlan};

use crate::{CLAUDE, COMMAND, World, add, check, file, read, undo, world, write};

#[test]
fn undo_removes_only_files_that_setup_created() {
    for client in SetupClient::ALL {
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
    for client in [SetupClient::Cursor, SetupClient::ClaudeCode] {
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
fn undo_keeps_later_user_edits() {
    let world = world(SetupClient::Cursor, "{\n  \"mcpServers\": {}\n}\n");
    add(&world, SetupClient::Cursor).write().unwrap();
    let text = read(&world, file(SetupClient::Cursor)).unwrap();
    let text = text.replace(
        "    }\n  }\n",
        "    }, // ours\n    \"later\": { \"url\": \"https://x\" }\n  }\n",
    );
    write(&world, file(SetupClient::Cursor), &text);
    undo(&world, SetupClient::Cursor).write().unwrap();
    insta::assert_snapshot!(read(&world, file(SetupClient::Cursor)).unwrap(), @r#"
    {
      "mcpServers": {
        // ours
        "later": { "url": "https://x" }
      }
    }
    "#);
}

#[test]
fn undo_works_after_the_client_rewrote_its_file() {
    let world = world(SetupClient::ClaudeCode, CLAUDE);
    add(&world, SetupClient::ClaudeCode).write().unwrap();
    let text = read(&world, file(SetupClient::ClaudeCode)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    write(&world, file(SetupClient::ClaudeCode), &value.to_string());
    undo(&world, SetupClient::ClaudeCode).write().unwrap();
    let left = read(&world, file(SetupClient::ClaudeCode)).unwrap();
    let left: serde_json::Value = serde_json::from_str(&left).unwrap();
    assert_eq!(
        left,
        serde_json::from_str::<serde_json::Value>(CLAUDE).unwrap()
    );
}

#[test]
fn foreign_entry_is_replaced_only_with_force() {
    for (client, text) in [
        (
            SetupClient::Cursor,
            "{\n  \"mcpServers\": {\n    \"skillfold\": { \"command\": \"other\" }, // mine\n    \"b\": {}\n  }\n}\n",
        ),
        (
            SetupClient::Codex,
            "[mcp_servers.skillfold]\ncommand = \"other\" # mine\n[mcp_servers.skillfold.env]\nA = \"1\"\n[x]\ny = 1\n",
        ),
        (
            SetupClient::Codex,
            "mcp_servers = { skillfold = { command = \"other\" }, b = {} }\n",
        ),
        (
            SetupClient::Goose,
            "extensions:\n  skillfold:\n    cmd: other\n  b:\n    cmd: b\n",
        ),
        (
            SetupClient::Goose,
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
fn only_the_added_configuration_is_recorded() {
    let world = world(SetupClient::ClaudeCode, CLAUDE);
    add(&world, SetupClient::ClaudeCode).write().unwrap();
    let memory = read(&world, "person/.local/state/skillfold/setup.toml").unwrap();
    assert!(
        memory.contains(COMMAND) && !memory.contains("ghp_secret"),
        "{memory}"
    );
    undo(&world, SetupClient::ClaudeCode).write().unwrap();
    let memory = read(&world, "person/.local/state/skillfold/setup.toml").unwrap();
    assert!(!memory.contains(COMMAND), "{memory}");
}

/// Turns the records into those of the first version, which had servers alone.
fn make_records_old(world: &World) {
    let file = "person/.local/state/skillfold/setup.toml";
    let text = read(world, file).unwrap();
    let is_new = |line: &&str| line.starts_with("client =") || line.starts_with("part =");
    let lines: Vec<&str> = text.lines().filter(|line| !is_new(line)).collect();
    let old = lines.join("\n") + "\n";
    write(world, file, &old.replace("format = 2", "format = 1"));
}

#[test]
fn undo_restores_what_the_first_version_added() {
    let tabs = "{\n\t\"mcpServers\": {}, \"a\": [1,2]\n}";
    for text in [CLAUDE, tabs] {
        let world = world(SetupClient::ClaudeCode, text);
        add(&world, SetupClient::ClaudeCode).write().unwrap();
        make_records_old(&world);
        undo(&world, SetupClient::ClaudeCode).write().unwrap();
        assert_eq!(
            read(&world, file(SetupClient::ClaudeCode)).as_deref(),
            Some(text)
        );
        let records = read(&world, "person/.local/state/skillfold/setup.toml").unwrap();
        assert_eq!(records, "format = 2\n");
    }
    let world = World::new("//- person/app/README.md\n");
    add(&world, SetupClient::Codex).write().unwrap();
    make_records_old(&world);
    undo(&world, SetupClient::Codex).write().unwrap();
    assert_eq!(read(&world, file(SetupClient::Codex)), None);
}

#[test]
fn truncated_file_is_refused_or_restored_byte_for_byte() {
    let goose = "a: größe\nextensions:\n  # one\n  b: {c: [1, 2], d: 'x: y'} # two\n  e:\n    f: |\n      g\n\n";
    let codex = "a = 1 # x\n[mcp_servers.b]\nc = [\n 1, # y\n]\n[[d]]\ne = \"\"\"f\n\"\"\"\n";
    let jsonc =
        "// ä\n{ // b\n\t\"servers\": { /* c */ \"d\": [1, { \"e\": \"}\\\"\" }, ], }, // f\n}\n";
    for (client, text) in [
        (SetupClient::Goose, goose),
        (SetupClient::Codex, codex),
        (SetupClient::VsCode, jsonc),
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
