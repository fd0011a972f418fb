//! `skillfold serve`: stdout is the protocol's, and people hear what is served and what is not.

use std::io::Write as _;
use std::process::Stdio;

use crate::command::{World, skillfold};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_skills","arguments":{}}}
"#;

fn world() -> World {
    World::new(
        "
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in forms
        ---
        Fill in.
        //- app/.agents/skills/own/SKILL.md
        ---
        name: own
        description: Came with the project
        ---
        Do it.
        ",
    )
}

/// Serves one client by stdin, and returns what it got, the ids that it was listed, and what people heard.
fn serve(world: &World, arguments: &[&str], said: &str) -> (Vec<serde_json::Value>, String) {
    let mut command = skillfold(&world.path("app"), &world.path("person"))
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = command.stdin.take().unwrap();
    stdin.write_all(said.as_bytes()).unwrap();
    // Answers are given before the end of the stream ends the server.
    drop(stdin);
    let output = command.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let answers = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (answers.collect(), String::from_utf8(output.stderr).unwrap())
}

fn ids(answers: &[serde_json::Value]) -> Vec<&str> {
    let listed = answers.iter().find(|answer| answer["id"] == 2).unwrap();
    let skills = &listed["result"]["structuredContent"]["skills"];
    let skills = skills.as_array().unwrap().iter();
    skills.map(|skill| skill["id"].as_str().unwrap()).collect()
}

#[test]
fn stdout_is_the_protocols_and_skills_of_a_project_are_held_back() {
    let (answers, heard) = serve(&world(), &["--log", "debug"], INITIALIZE);
    assert_eq!(ids(&answers), ["pdf"]);
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"));
    assert!(
        heard.contains("1 skill is served\n1 skill is held back, as the project is not trusted"),
        "{heard}"
    );
    let (answers, heard) = serve(&world(), &["--trust-project"], INITIALIZE);
    assert_eq!(ids(&answers), ["own", "pdf"]);
    assert_eq!(heard, "2 skills are served\n");
}

#[test]
fn client_that_says_nothing_is_no_error() {
    let (answers, _) = serve(&world(), &[], "");
    assert!(answers.is_empty());
}

#[test]
fn what_cannot_be_served_is_said_before_it_is_tried() {
    let world = world();
    let shown: Vec<String> = [
        &["serve", "--http", "0.0.0.0:0", "--no-token"][..],
        &["serve", "--tool", "load=x"],
        &["serve", "--tool", "load_skill"],
    ]
    .map(|arguments| world.run(arguments))
    .into();
    insta::assert_snapshot!(shown.join("\n"), @"
    ! 1 skill is served
    ! 1 skill is held back, as the project is not trusted; `skillfold trust` trusts it, `--trust-project` for this run
    ! error: Could not serve: without a token the server listens on a loopback address only
    exit 2

    ! error: There is no tool `load`; there are `list_skills`, `search_skills`, `load_skill`, `read_skill_resource`
    exit 2

    ! error: `--tool load_skill` is not written as TOOL=NAME
    exit 2
    ");
}
