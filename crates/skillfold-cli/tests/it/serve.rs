//! `skillfold serve`: stdout is the protocol's, and people hear what is served and what is not.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, Stdio};

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
pub(crate) fn serve(
    world: &World,
    arguments: &[&str],
    said: &str,
) -> (Vec<serde_json::Value>, String) {
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
    let text = listed["result"]["content"][0]["text"].as_str().unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    lines.map(|line| line.split_once(':').unwrap().0).collect()
}

#[test]
fn stdout_carries_only_the_protocol_and_untrusted_skills_are_withheld() {
    let (answers, heard) = serve(&world(), &["--log", "debug"], INITIALIZE);
    assert_eq!(ids(&answers), ["pdf"]);
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"));
    assert!(
        heard.contains("1 skill is served\n1 skill is withheld: the project is not trusted"),
        "{heard}"
    );
    let (answers, heard) = serve(&world(), &["--trust-project"], INITIALIZE);
    assert_eq!(ids(&answers), ["own", "pdf"]);
    assert_eq!(heard, "2 skills are served\n");
}

#[test]
fn log_level_comes_from_the_variable_unless_an_option_is_given() {
    let world = world();
    let heard = |level: &str, options: &[&str]| {
        let mut command = skillfold(&world.path("app"), &world.path("person"));
        let serve = command.env("LOG_LEVEL", level).arg("serve").args(options);
        String::from_utf8(serve.output().unwrap().stderr).unwrap()
    };
    assert!(heard("INFO", &[]).contains(" INFO "));
    assert!(!heard("INFO", &["--log", "warn"]).contains(" INFO "));
    // Words of other programs.
    assert!(!heard("verbose", &[]).contains(" INFO "));
}

#[test]
fn client_that_sends_nothing_is_not_an_error() {
    let (answers, _) = serve(&world(), &[], "");
    assert!(answers.is_empty());
}

#[test]
fn agent_is_served_only_visible_skills_and_the_log_names_no_others() {
    let world = world();
    world.write(
        "
        //- person/.agents/skills/secret/SKILL.md
        ---
        name: secret
        description: Keeps zyzzyva
        ---
        Keep zyzzyva.
        //- person/.config/skillfold/config.toml
        [agents.clerk]
        uses_skills = ['pdf']
        sees = 'used'
        ",
    );
    let mut said = INITIALIZE.to_owned();
    for (number, query) in ["zyzzyva", "keep", "secre", "Secrets"].iter().enumerate() {
        for (tool, name) in [
            ("search_skills", "query"),
            ("list_skills", "query"),
            ("load_skill", "skill_id"),
        ] {
            let params = serde_json::json!({ "name": tool, "arguments": { name: query } });
            let call = serde_json::json!({ "jsonrpc": "2.0", "id": format!("{tool}{number}"), "method": "tools/call", "params": params });
            said.push_str(&call.to_string());
            said.push('\n');
        }
    }
    let options = ["--agent", "clerk", "--log", "info"];
    let (answers, heard) = serve(&world, &options, &said);
    assert_eq!(ids(&answers), ["pdf"]);
    assert_eq!(answers.len(), 14);
    assert!(heard.contains("\n1 skill is served\n"), "{heard}");
    for said in answers.iter().map(ToString::to_string).chain([heard]) {
        let asked = said.contains("There is no skill `") || said.contains("refused a skill");
        assert!(
            !said.contains("Keeps") && (asked || !said.contains("secret")),
            "{said}"
        );
    }
    let unknown = world.run(&["serve", "--agent", "clrk"]);
    insta::assert_snapshot!(unknown, @"
    ! error: There is no agent `clrk`
    ! hint: Did you mean `clerk`?
    exit 3
    ");
}

#[test]
fn settings_without_effect_on_a_server_are_reported() {
    let options = ["--set", "matching=keyword", "--set", "fallback=show_all"];
    let (_, heard) = serve(&world(), &options, INITIALIZE);
    insta::assert_snapshot!(heard, @"
    1 skill is served
    1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    The setting `matching` has no effect on a server, which never sees prompts
    The setting `fallback` has no effect on a server, which never sees prompts
    ");
}

#[test]
fn server_instructions_fit_the_client_and_omit_skills_it_lists_itself() {
    let mut tree = String::new();
    for number in 0..200 {
        let about = "Does one of many things, which takes some words to describe in a useful way";
        let skill = format!(
            "//- person/.skillfold/skills/made-{number:03}/SKILL.md\n---\nname: made-{number:03}\ndescription: {about}\n---\n"
        );
        tree.push_str(&skill);
    }
    tree += "//- person/.claude/skills/native/SKILL.md\n---\nname: native\ndescription: Listed by the client\n---\n";
    let world = World::new(&tree);
    let instructions = |name: &str, version: &str| {
        let said = INITIALIZE.replace(
            r#""name":"t","version":"1""#,
            &format!(r#""name":"{name}","version":"{version}""#),
        );
        let (answers, _) = serve(&world, &[], &said);
        answers[0]["result"]["instructions"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let characters = |text: &str| text.chars().count();
    let new = instructions("claude-code", "2.1.325");
    assert!(
        (3_400..=3_500).contains(&characters(&new)),
        "{}",
        characters(&new)
    );
    assert!(!new.contains("- native:"), "{new}");
    let old = instructions("claude-code", "2.1.197");
    assert!(
        (1_900..=2_000).contains(&characters(&old)),
        "{}",
        characters(&old)
    );
    let unknown = instructions("somebody", "1");
    assert!((1_900..=2_000).contains(&characters(&unknown)), "{unknown}");
    let codex = instructions("codex-mcp-client", "0.166.0");
    assert!(characters(&codex) > 4_200, "{}", characters(&codex));
    for text in [new, old, unknown, codex] {
        let start: String = text.chars().take(500).collect();
        assert!(
            start.contains("load_skill") && start.contains("search_skills"),
            "{start}"
        );
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("- made-"));
        assert!(
            lines.all(|line| line.split_once(": ").unwrap().1.len() >= 25),
            "{text}"
        );
    }
}

#[test]
fn client_that_lists_all_skills_itself_gets_two_tools_and_a_search_hint() {
    let world = World::new(
        "
        //- person/.claude/skills/native/SKILL.md
        ---
        name: native
        description: Listed by the client
        ---
        Do it.
        ",
    );
    let ask = |name: &str, options: &[&str]| {
        let said = INITIALIZE.replace(r#""name":"t""#, &format!(r#""name":"{name}""#));
        let list = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
        let (answers, _) = serve(&world, options, &format!("{said}{list}\n"));
        let instructions = answers[0]["result"]["instructions"].as_str().unwrap();
        let listed = answers.iter().find(|answer| answer["id"] == 3).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        let name = |tool: &serde_json::Value| {
            let at_once = tool["_meta"]["anthropic/alwaysLoad"] == true;
            format!(
                "{}{}",
                tool["name"].as_str().unwrap(),
                if at_once { "!" } else { "" }
            )
        };
        let tools: Vec<_> = tools.map(name).collect();
        format!("{instructions}{}", tools.join(" "))
    };
    insta::assert_snapshot!(ask("claude-code", &[]), @"
    Skills available: 1. A skill is a set of instructions for one kind of task. Before a complex task, describe it to `search_skills`; if a skill fits, call `load_skill` with its id and follow what it returns.
    search_skills load_skill
    ");
    assert_eq!(
        ask("other", &[]).lines().last().unwrap(),
        "search_skills! load_skill! read_skill_resource list_skills"
    );
    // The command shows what the server gives.
    let shown = world.run(&["prompt", "--client", "claude-code"]);
    assert!(
        shown.contains("\nload_skill: ") && !shown.contains("list_skills"),
        "{shown}"
    );
    insta::assert_snapshot!(ask("other", &["--set", "disclosure=triggered"]), @"
    Skills available: 1. A skill is a set of instructions for one kind of task. Before a complex task, describe it to `search_skills`; if a skill fits, call `load_skill` with its id and follow what it returns.
    search_skills! load_skill! read_skill_resource list_skills
    ");
}

#[test]
fn invalid_serve_options_are_reported_before_starting() {
    let world = world();
    let shown: Vec<String> = [
        &["serve", "--http", "0.0.0.0:0", "--no-token"][..],
        &["serve", "--http", "0", "--no-token", "--allow-host", "*"],
        &[
            "serve",
            "--http",
            "0",
            "--no-token",
            "--allow-origin",
            "app.example",
        ],
        &["serve", "--tool", "load=x"],
        &["serve", "--tool", "load_skill"],
    ]
    .map(|arguments| world.run(arguments))
    .into();
    insta::assert_snapshot!(shown.join("\n"), @"
    ! 1 skill is served
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    ! error: Without a token the server listens on a loopback address only
    exit 2

    ! 1 skill is served
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    ! error: `*` is not a host; name each host that clients use to reach the server, such as `skills.example.com`
    exit 2

    ! 1 skill is served
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    ! error: `app.example` is not an origin; write it as SCHEME://HOST:PORT, such as `https://app.example.com`
    exit 2

    ! error: There is no tool `load`; The tools are `list_skills`, `search_skills`, `load_skill` and `read_skill_resource`
    exit 2

    ! error: `--tool load_skill` is not written as TOOL=NAME
    exit 2
    ");
}

/// A server over HTTP as a process.
pub(crate) struct Serving {
    process: Child,
    pub(crate) address: String,
    heard: BufReader<ChildStderr>,
}

/// Starts a server, and waits until it listens.
pub(crate) fn serve_http(world: &World, arguments: &[&str]) -> Serving {
    let mut process = skillfold(&world.path("app"), &world.path("person"))
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut heard = BufReader::new(process.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert_ne!(heard.read_line(&mut line).unwrap(), 0, "it ended");
        if let Some(address) = line.strip_prefix("Listening on http://") {
            break address.trim_end().trim_end_matches("/mcp").to_owned();
        }
    };
    Serving {
        process,
        address,
        heard,
    }
}

impl Serving {
    /// Tells the server to stop.
    fn tell(&self) {
        let pid = self.process.id().to_string();
        let told = std::process::Command::new("kill").arg(&pid).status();
        assert!(told.unwrap().success());
    }

    /// Waits for the end, and returns what people heard since the server listened.
    fn ended(mut self) -> String {
        let mut heard = String::new();
        self.heard.read_to_string(&mut heard).unwrap();
        assert!(self.process.wait().unwrap().success());
        heard
    }

    pub(crate) fn stop(self) -> String {
        self.tell();
        self.ended()
    }
}

#[test]
fn unavailable_address_fails_with_a_hint() {
    let world = world();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let shown = world.run(&["serve", "--http", &port, "--no-token"]);
    insta::assert_snapshot!(shown.replace(&port, "PORT"), @"
    ! 1 skill is served
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    ! error: Could not listen on `127.0.0.1:PORT`: Address already in use (os error 98)
    ! hint: Another program uses the port: stop it, or choose another port; `--http 0` picks a free one
    exit 5
    ");
    let shown = world.run(&["serve", "--http", "192.0.2.1:7700"]);
    let shown: Vec<&str> = shown
        .lines()
        .filter(|line| !line.contains("Bearer"))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    ! 1 skill is served
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    ! error: Could not listen on `192.0.2.1:7700`: Cannot assign requested address (os error 99)
    ! hint: Name an address of this machine; `0.0.0.0` means all of them
    exit 5
    ");
}

#[test]
fn non_loopback_server_warns_until_allow_host_is_set() {
    let world = world();
    let heard = |arguments: &[&str]| serve_http(&world, arguments).stop();
    insta::assert_snapshot!(heard(&["--http", "0.0.0.0:0"]), @"Clients on other machines are refused until `--allow-host` names the host they connect to");
    assert_eq!(
        heard(&["--http", "0.0.0.0:0", "--allow-host", "skills.example"]),
        ""
    );
    assert_eq!(heard(&["--http", "0"]), "");
}

#[test]
fn client_without_a_token_is_told_where_to_find_it() {
    let world = world();
    let server = serve_http(&world, &["--http", "0"]);
    let answer = ask(&server.address, "POST /mcp", "{}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    insta::assert_snapshot!(body, @"The token is missing or wrong; send `Authorization: Bearer TOKEN` with the token from `SKILLFOLD_HTTP_TOKEN`, or the one that the server printed at its start if that was not set");
    server.stop();
}

#[test]
fn connections_without_a_token_log_one_warning() {
    let world = world();
    let server = serve_http(&world, &["--http", "0"]);
    let silent: Vec<_> = (0..600)
        .map(|_| std::net::TcpStream::connect(&server.address).unwrap())
        .collect();
    assert!(ask(&server.address, "GET /healthz", "").starts_with("HTTP/1.1 200"));
    drop(silent);
    let heard = server.stop();
    let warnings = heard.lines().filter(|line| line.contains("WARN"));
    assert_eq!(warnings.count(), 1, "{heard}");
}

#[test]
fn client_data_cannot_start_log_lines_or_move_the_cursor() {
    let world = world();
    let server = serve_http(&world, &["--http", "0", "--no-token", "--log", "debug"]);
    let begun = ask(
        &server.address,
        "POST /mcp",
        INITIALIZE.lines().next().unwrap(),
    );
    let id = begun
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let evil = r"\n2026-11-15T00:00:00Z ERROR forged: all is lost\u001b[2J\u009b2J\u202e";
    let session = format!("Mcp-Session-Id: {id}\r\n");
    for body in [
        format!(
            r#"{{"jsonrpc":"2.0","id":"{evil}","method":"tools/call","params":{{"name":"{evil}"}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{evil}","reason":"{evil}"}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":"{evil}","result":{{}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"{evil}","method":"{evil}"}}"#),
    ] {
        ask_with(&server.address, "POST /mcp", &session, &body);
    }
    let heard = server.stop();
    assert!(
        heard.contains("forged"),
        "nothing was logged of it: {heard}"
    );
    for line in heard.lines() {
        let is_ours = line.starts_with("20") && !line.contains("Z ERROR forged: all is lost")
            || line.contains("\\n");
        assert!(is_ours, "{line}");
        assert!(
            !line.chars().any(|c| c.is_control() || c == '\u{202e}'),
            "{line:?}"
        );
    }
}

/// Sends a request, and returns all that comes until the connection is closed.
pub(crate) fn ask(address: &str, line: &str, body: &str) -> String {
    ask_with(address, line, "", body)
}

/// The same, with more headers.
pub(crate) fn ask_with(address: &str, line: &str, headers: &str, body: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{headers}\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn stopping_server_answers_open_requests_and_ends_streams() {
    use std::net::TcpStream;
    let world = world();
    let server = serve_http(&world, &["--http", "0", "--no-token"]);
    let address = server.address.clone();
    let initialize = INITIALIZE.lines().next().unwrap();
    let begun = ask(&server.address, "POST /mcp", initialize);
    let id = begun
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let mut changes = TcpStream::connect(&server.address).unwrap();
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n"
    );
    changes.write_all(request.as_bytes()).unwrap();
    changes.read_exact(&mut [0; 12]).unwrap();
    // One connection that says nothing, and one that is in the middle of a request.
    let idle = TcpStream::connect(&server.address).unwrap();
    let mut asked = TcpStream::connect(&server.address).unwrap();
    let (length, (first, rest)) = (initialize.len(), initialize.split_at(20));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{first}"
    );
    asked.write_all(head.as_bytes()).unwrap();
    // The other is the request for this number.
    while !ask(&server.address, "GET /metrics", "").contains("\nskillfold_requests_in_flight 2\n") {
        std::thread::yield_now();
    }
    server.tell();
    while TcpStream::connect(&server.address).is_ok() {
        std::thread::yield_now();
    }
    asked.write_all(rest.as_bytes()).unwrap();
    let mut answer = String::new();
    asked.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\"serverInfo\""), "{answer}");
    let mut last = String::new();
    changes.read_to_string(&mut last).unwrap();
    server.ended();
    drop(idle);
}

/// A request to be told of changes.
const LISTEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[test]
fn stopping_server_does_not_wait_for_subscriptions() {
    let world = world();
    let server = serve_http(&world, &["--http", "0", "--no-token"]);
    let address = server.address.clone();
    let length = LISTEN.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {length}\r\n\r\n{LISTEN}"
    );
    let subscribed: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut start = [0; 15];
            stream.read_exact(&mut start).unwrap();
            assert_eq!(&start, b"HTTP/1.1 200 OK");
            stream
        })
        .collect();
    let start = std::time::Instant::now();
    let heard = server.stop();
    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    assert!(!heard.contains("cut"), "{heard}");
    drop(subscribed);
}

#[test]
fn overlong_message_is_answered_with_its_id() {
    let long = "a".repeat(17 * 1024 * 1024);
    let said = format!(
        "{INITIALIZE}{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"id\":5,\"x\":\"{long}\"}},\"id\":7}}\n\
         {{\"x\":\"{long}\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}}\n"
    );
    let (answers, _) = serve(&world(), &[], &said);
    let about = |id: serde_json::Value| {
        // The SDK leaves out an id that is not known.
        let answer = answers.iter().find(|answer| answer["id"] == id);
        answer.unwrap_or_else(|| panic!("{answers:?}"))
    };
    let error = &about(7.into())["error"];
    assert_eq!(error["code"], -32600);
    assert_eq!(error["message"], "The message is longer than 16 MiB");
    assert_eq!(about(serde_json::Value::Null)["error"]["code"], -32600);
    assert!(about(8.into())["result"].is_object());
    assert_eq!(ids(&answers), ["pdf"]);
}

#[test]
fn skills_that_a_client_no_longer_lists_are_in_our_list() {
    let world = World::new(
        "
        //- person/.claude/skills/folder/SKILL.md
        ---
        name: other-name
        description: Folds paper
        ---
        //- person/.qwen/skills/folder/SKILL.md
        ---
        name: for-qwen
        description: Folds paper
        ---
        //- person/.agents/skills/shared/SKILL.md
        ---
        name: shared
        description: Cuts paper
        ---
        ",
    );
    let instructions = |name: &str| {
        let said = INITIALIZE.replace(r#""name":"t""#, &format!(r#""name":"{name}""#));
        let (answers, _) = serve(&world, &[], &said);
        let text = answers[0]["result"]["instructions"].as_str().unwrap();
        text.to_owned()
    };
    let put = |file: &str, text: &str| {
        let path = world.path("person").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    // The client, its settings, a skill that they turn off, and settings that leave the list on.
    for (client, file, off, skill, on) in [
        (
            "claude-code",
            ".claude/settings.json",
            r#"{"skillOverrides": {"folder": "user-invocable-only"}} // why"#,
            "- other-name: Folds",
            r#"{"skillOverrides": {"other-name": "user-invocable-only", "folder": "on"}}"#,
        ),
        (
            "codex-mcp-client",
            ".codex/config.toml",
            "[skills]\ninclude_instructions = false\n",
            "- shared: Cuts",
            "include_instructions = false\n",
        ),
        (
            "gemini-cli-mcp-client",
            ".gemini/settings.json",
            r#"{"skills": {"enabled": false}}"#,
            "- shared: Cuts",
            r#"{"skills": {"enabled": true}}"#,
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            r#"{"permission": {"skill": {"*": "deny"}}}"#,
            "- shared: Cuts",
            r#"{"permission": {"skill": {"*": "ask"}}}"#,
        ),
        (
            "qwen-cli-mcp-client-x",
            ".qwen/settings.json",
            r#"{"skills": {"disabled": ["for-qwen"]}}"#,
            "- for-qwen: Folds",
            r#"{"skills": {"disabled": ["folder"]}}"#,
        ),
        (
            "copilot-cli",
            ".copilot/settings.json",
            r#"{"disabledSkills": ["shared"]}"#,
            "- shared: Cuts",
            "not JSON",
        ),
    ] {
        let listed = instructions(client);
        assert!(!listed.contains(skill), "{client}: {listed}");
        put(file, on);
        let listed = instructions(client);
        assert!(!listed.contains(skill), "{client}: {listed}");
        put(file, off);
        let listed = instructions(client);
        assert!(listed.contains(skill), "{client}: {listed}");
    }
}
