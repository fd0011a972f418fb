//! Our hook beside the user's hooks.

use skillfold_setup::{ClientFile, SetupChange, SetupClient, SetupPlan};

use crate::{COMMAND, World, read, write};

/// Clients, their files, and what these can look like before.
const HOOKS: [(SetupClient, &str, &[&str]); 3] = [
    (
        SetupClient::ClaudeCode,
        "person/.claude/settings.json",
        &[
            "{}",
            "{\"hooks\": {}}",
            "{\n\t\"hooks\": {\n\t\t\"UserPromptSubmit\": [\n\t\t\t{ \"hooks\": [] }\n\t\t],\n\t\t\"Stop\": [ ]\n\t}\n}",
            "{\"hooks\": {\"SessionStart\": [], \"SubagentStop\": [{\"hooks\": []}], \"UserPromptSubmit\": [{\"hooks\": []}]}}",
        ],
    ),
    (
        SetupClient::Codex,
        "person/.codex/hooks.json",
        &[
            "{\"hooks\": {\"UserPromptSubmit\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}}\n",
        ],
    ),
    (
        SetupClient::Gemini,
        "person/.gemini/settings.json",
        &[
            "{\n    // mine\n    \"hooks\": {\"BeforeAgent\": [{\"hooks\": []}]},\n    \"ui\": {}\n}\n",
        ],
    ),
];

fn add(world: &World, client: SetupClient, command: &str) -> SetupPlan {
    let environment = world.environment("person/app");
    SetupPlan::add_hook(&environment, client, ClientFile::User, command).unwrap()
}

#[test]
fn undo_restores_every_byte_beside_other_hooks() {
    for (client, file, texts) in HOOKS {
        for text in texts {
            let world = World::new("//- person/app/README.md\n");
            write(&world, file, text);
            // The program moved.
            for command in ["/old/skillfold", COMMAND] {
                add(&world, client, command).write().unwrap();
                let again = add(&world, client, command);
                assert_eq!(again.change(), SetupChange::Nothing, "{client}: {text}");
            }
            let after = read(&world, file).unwrap();
            assert!(!after.contains("/old/"), "{after}");
            let environment = world.environment("person/app");
            let plan = SetupPlan::undo_hook(&environment, client, ClientFile::User).unwrap();
            plan.write().unwrap();
            assert_eq!(read(&world, file).as_deref(), Some(*text), "{after}");
        }
    }
}

#[test]
fn file_that_the_first_version_created_for_the_hook_is_removed() {
    let world = World::new("//- person/app/README.md\n");
    let file = "person/.claude/settings.json";
    add(&world, SetupClient::ClaudeCode, "/old/skillfold")
        .write()
        .unwrap();
    // It had no records of hooks.
    write(
        &world,
        "person/.local/state/skillfold/setup.toml",
        "format = 1\n",
    );
    add(&world, SetupClient::ClaudeCode, COMMAND)
        .write()
        .unwrap();
    let environment = world.environment("person/app");
    let plan = SetupPlan::undo_hook(&environment, SetupClient::ClaudeCode, ClientFile::User);
    plan.unwrap().write().unwrap();
    assert_eq!(read(&world, file), None);
}

#[test]
fn undo_restores_every_byte_without_a_record() {
    let file = "person/.gemini/settings.json";
    for text in [
        "{\"ui\": {\"theme\": \"dark\"}, \"a\": 1}\n",
        "{ \"ui\": {} }",
        "{\n  \"ui\": {}\n}\n",
    ] {
        let world = World::new("//- person/app/README.md\n");
        write(&world, file, text);
        add(&world, SetupClient::Gemini, COMMAND).write().unwrap();
        let records = "person/.local/state/skillfold/setup.toml";
        write(&world, records, "format = 1\n");
        let environment = world.environment("person/app");
        let plan = SetupPlan::undo_hook(&environment, SetupClient::Gemini, ClientFile::User);
        plan.unwrap().write().unwrap();
        assert_eq!(read(&world, file).as_deref(), Some(text));
    }
}

#[test]
fn restore_file_has_each_place_of_the_hook() {
    let world = World::new("//- person/app/README.md\n");
    let text = "{\n  \"hooks\": {\n    \"BeforeAgent\": [{\"hooks\": []}]\n  }\n}\n";
    write(&world, "person/.gemini/settings.json", text);
    add(&world, SetupClient::Gemini, COMMAND).write().unwrap();
    let text = read(&world, "person/.local/state/skillfold/restore.txt").unwrap();
    insta::assert_snapshot!(world.shown(&text), @r#"
    What `skillfold setup` added. If Skillfold is gone, undo it by hand. In JSON, also remove a comma that is left over.

    == Gemini CLI: hook
    In /person/.gemini/settings.json, take out the following:

        "PreCompress": [
          {"hooks":[{"command":"/opt/bin/skillfold hook --client gemini || [ -x /opt/bin/skillfold ] || echo 'Skillfold is gone. How to undo its changes: /person/.local/state/skillfold/restore.txt'","timeout":10000,"type":"command"}]}
        ],

    and:

    , {"hooks":[{"command":"/opt/bin/skillfold hook --client gemini || [ -x /opt/bin/skillfold ] || echo 'Skillfold is gone. How to undo its changes: /person/.local/state/skillfold/restore.txt'","timeout":10000,"type":"command"}]}
    "#);
}
