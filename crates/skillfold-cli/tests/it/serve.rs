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

/// A server over HTTP as a process, and where it listens.
#[cfg(unix)]
fn serve_http(world: &World, arguments: &[&str]) -> (std::process::Child, String) {
    use std::io::{BufRead as _, BufReader};
    let mut server = skillfold(&world.path("app"), &world.path("person"))
        .args(["serve", "--http", "0"])
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut heard = BufReader::new(server.stderr.as_mut().unwrap()).lines();
    let address = heard.find_map(|line| {
        let line = line.unwrap();
        let address = line.strip_prefix("Listening on http://")?;
        Some(address.trim_end_matches("/mcp").to_owned())
    });
    (server, address.unwrap())
}

/// Sends a request, and returns all that comes until the connection is closed.
#[cfg(unix)]
fn ask(address: &str, head: &str, body: &str) -> String {
    use std::io::Read as _;
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[cfg(unix)]
#[test]
fn server_that_is_told_to_stop_answers_what_was_asked_and_ends_streams() {
    use std::io::Read as _;
    use std::net::TcpStream;
    let world = world();
    let (mut server, address) = serve_http(&world, &["--no-token"]);
    let initialize = INITIALIZE.lines().next().unwrap();
    let begun = ask(&address, "POST /mcp", initialize);
    let id = begun
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let mut changes = TcpStream::connect(&address).unwrap();
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n"
    );
    changes.write_all(request.as_bytes()).unwrap();
    changes.read_exact(&mut [0; 12]).unwrap();
    // One connection that says nothing, and one that is in the middle of a request.
    let idle = TcpStream::connect(&address).unwrap();
    let mut asked = TcpStream::connect(&address).unwrap();
    let (length, (first, rest)) = (initialize.len(), initialize.split_at(20));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{first}"
    );
    asked.write_all(head.as_bytes()).unwrap();
    // The other is the request for this number.
    while !ask(&address, "GET /metrics", "").contains("\nskillfold_requests_in_flight 2\n") {
        std::thread::yield_now();
    }
    let pid = server.id().to_string();
    let told = std::process::Command::new("kill").arg(&pid).status();
    assert!(told.unwrap().success());
    while TcpStream::connect(&address).is_ok() {
        std::thread::yield_now();
    }
    asked.write_all(rest.as_bytes()).unwrap();
    let mut answer = String::new();
    asked.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\"serverInfo\""), "{answer}");
    let mut last = String::new();
    changes.read_to_string(&mut last).unwrap();
    assert!(server.wait().unwrap().success());
    drop(idle);
}
