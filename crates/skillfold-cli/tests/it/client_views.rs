//! What the commands say about a client is what that client's model gets.

use std::io::Write as _;
use std::process::Stdio;

use crate::command::World;
use crate::setup_list::{SKILLS, start_conversation};

#[test]
fn prompt_prints_what_the_hook_adds() {
    let world = World::new(SKILLS);
    let triggers = "triggers: [cut paper]";
    let skill =
        format!("---\nname: cutter\ndescription: Cuts paper\n{triggers}\n---\nUse scissors.\n");
    world.write(&format!(
        "//- person/.agents/skills/cutter/SKILL.md\n{skill}"
    ));
    for (request, is_added) in [("Please cut paper", true), ("Hello", false)] {
        let event = serde_json::json!({
            "hook_event_name": "UserPromptSubmit", "session_id": request, "prompt": request,
        });
        let mut command = crate::command::skillfold(&world.path("app"), &world.path("person"));
        command.args(["hook", "--client", "claude-code"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(event.to_string().as_bytes()).unwrap();
        drop(stdin);
        let answer = child.wait_with_output().unwrap().stdout;
        let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap_or_default();
        let added = answer.pointer("/hookSpecificOutput/additionalContext");
        let mut command = crate::command::skillfold(&world.path("app"), &world.path("person"));
        command.args(["prompt", request, "--client", "claude-code", "--json"]);
        let shown: serde_json::Value =
            serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        assert_eq!(added.is_some(), is_added);
        assert_eq!(shown.get("text"), added, "{shown}");
    }
}

#[test]
fn status_and_why_are_for_the_client_that_is_set_up() {
    let world = World::new(SKILLS);
    let why = world.run(&["why", "Cut paper"]);
    assert!(!why.contains("Claude Code"), "{why}");
    world.run(&["setup", "claude-code", "--list", "both", "--yes"]);
    let status = world.run(&[]);
    let cost = status
        .lines()
        .find(|line| line.starts_with("Cost"))
        .unwrap();
    insta::assert_snapshot!(cost, @"Cost     Claude Code: about 230 tokens in every request, 205 more than without Skillfold");
    let why = world.run(&["why", "Cut paper"]);
    for line in [
        "! for Claude Code's model; `--client` shows another's\n",
        "! Claude Code lists these itself: named\n",
    ] {
        assert!(why.contains(line), "{why}");
    }
    let refused = world.run(&["why", "Cut paper", "--client", "zed"]);
    assert!(refused.ends_with("exit 2\n"), "{refused}");
}

#[test]
fn list_says_where_a_clients_model_finds_each_skill() {
    let world = World::new(SKILLS);
    world.write(
        "//- person/.skillfold/skills/ours/SKILL.md\n---\nname: ours\ndescription: Ours\n---\n",
    );
    insta::assert_snapshot!(world.run(&["list", "--client", "claude-code"]), @"
    burn        user                own list  Burns paper
    for-people  user                nowhere   Burns paper
    named       user                own list  Cuts paper
    of-project  project, untrusted  own list  Folds paper for the project
    ours        user                our list  Ours
    ! 5 skills, 1 untrusted; `skillfold doctor` says why
    ! `own list` is Claude Code's; `--client` shows another's
    exit 0
    ");
    world.run(&["setup", "claude-code", "--list", "ours", "--yes"]);
    insta::assert_snapshot!(world.run(&["list"]), @"
    burn        user                our list  Burns paper
    for-people  user                nowhere   Burns paper
    named       user                our list  Cuts paper
    of-project  project, untrusted  nowhere   Folds paper for the project
    ours        user                our list  Ours
    ! 5 skills, 1 untrusted; `skillfold doctor` says why
    ! `own list` is Claude Code's; `--client` shows another's
    exit 0
    ");
}

#[test]
fn untrusted_skills_that_a_client_lists_itself_are_reported() {
    let world = World::new(SKILLS);
    let project = |world: &World| {
        let status = world.run(&[]);
        let line = status.lines().find(|line| line.starts_with("Project"));
        line.unwrap().to_owned()
    };
    assert!(
        project(&world)
            .ends_with("its 1 skill is withheld by Skillfold, but listed by Claude Code")
    );
    world.run(&["setup", "claude-code", "--list", "ours", "--yes"]);
    assert!(project(&world).ends_with("its 1 skill is not given to models"));
}

#[test]
fn missing_server_is_reported_by_doctor_and_hook() {
    let world = World::new(SKILLS);
    world.run(&["setup", "claude-code", "--list", "ours", "--yes"]);
    let doctor = world.run(&["doctor"]);
    assert!(
        doctor.contains("Clients\n  claude-code   about "),
        "{doctor}"
    );
    assert_eq!(world.run(&["doctor", "--client", "claude-code"]), doctor);
    let other = world.run(&["doctor", "--client", "codex"]);
    assert!(!other.contains("claude-code"), "{other}");
    let expected = "! Codex has no server of ours; `skillfold setup codex` adds it\n";
    assert!(other.contains(expected), "{other}");
    assert_eq!(start_conversation(&world), "");
    let file = world.path("person/.claude.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["mcpServers"]["skillfold"]["command"] = "/nowhere/skillfold".into();
    std::fs::write(&file, value.to_string()).unwrap();
    let doctor = world.run(&["doctor"]);
    let expected = "its server is missing: /nowhere/skillfold; `skillfold setup claude-code --force` repairs it";
    assert!(
        doctor.contains(expected) && doctor.ends_with("exit 1\n"),
        "{doctor}"
    );
    let said = start_conversation(&world);
    assert!(
        said.contains("run `skillfold setup claude-code --force`"),
        "{said}"
    );
}
