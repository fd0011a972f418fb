//! Plain calls of tools over HTTP are answered without the SDK, and nobody can tell but by the time.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use skillfold::core::{FsSource, Root, Scope};
use skillfold::{Environment, Host, Skills};
use skillfold_mcp::{Access, HttpOptions, Options, Server};
use skillfold_testkit::{files, folder, write};

use crate::client::skills;
use crate::http::{INITIALIZE, ask, start};

const TREE: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    ---
    Fill in $ARGUMENTS, see `references/forms.md`.
    //- pdf/references/forms.md
    \"Forms\"
";

/// Who answers a call.
#[derive(Clone, Copy, Debug)]
enum By {
    /// The server itself.
    Itself,
    /// The SDK, as something about the call is not plain.
    Sdk,
}

fn serve(skills: Skills) -> SocketAddr {
    let options = HttpOptions::new((Ipv4Addr::LOCALHOST, 0).into(), Access::Open);
    start(Server::new(skills, Options::default()), options)
}

/// Posts a message and returns head and body of the answer.
fn post(address: SocketAddr, headers: &[&str], body: &Value) -> (String, String) {
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\n"
    );
    for header in headers {
        let _ = write!(request, "{header}\r\n");
    }
    let body = body.to_string();
    let length = body.len();
    let _ = write!(request, "Content-Length: {length}\r\n\r\n{body}");
    let answer = ask(address, &request);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

const PLAIN: &str = "Content-Type: application/json";
const NOT_PLAIN: &str = "Content-Type: application/json; charset=utf-8";

/// Calls a tool without a session, and returns the message.
fn call(address: SocketAddr, by: By, tool: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": "é\"1", "method": "tools/call", "params": params });
    let kind = match by {
        By::Itself => PLAIN,
        By::Sdk => NOT_PLAIN,
    };
    let name = format!("Mcp-Name: {tool}");
    let version = "MCP-Protocol-Version: 2026-07-28";
    let (head, body) = post(
        address,
        &[kind, version, "Mcp-Method: tools/call", &name],
        &body,
    );
    assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
    serde_json::from_str(&body).unwrap()
}

/// Begins a session and returns the header that names it.
fn session(address: SocketAddr) -> String {
    let body = serde_json::from_str(INITIALIZE).unwrap();
    let (head, _) = post(address, &[PLAIN], &body);
    let id = head.lines().find(|line| line.starts_with("mcp-session-id"));
    let id = id.unwrap().to_owned();
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    post(address, &[PLAIN, &id], &body);
    id
}

/// Calls a tool in a session, and returns the message; the SDK answers by a stream.
fn call_in(address: SocketAddr, session: &str, by: By, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let kind = match by {
        By::Itself => PLAIN,
        By::Sdk => NOT_PLAIN,
    };
    let version = "MCP-Protocol-Version: 2025-11-25";
    let (head, body) = post(address, &[kind, version, session], &body);
    match by {
        By::Itself => {
            assert!(head.contains("content-type: application/json"), "{head}");
            serde_json::from_str(&body).unwrap()
        }
        By::Sdk => {
            assert!(head.contains("content-type: text/event-stream"), "{head}");
            let mut data = body.lines().filter_map(|line| line.strip_prefix("data: "));
            serde_json::from_str(data.next_back().unwrap()).unwrap()
        }
    }
}

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("list_skills", json!({})),
        ("search_skills", json!({ "query": "forms" })),
        ("search_skills", json!({ "query": "nothing of it" })),
        ("search_skills", json!({ "query": 1 })),
        (
            "load_skill",
            json!({ "skill_id": "pdf", "arguments": "a\n\"é\"" }),
        ),
        ("load_skill", json!({ "skill_id": "pfd" })),
        ("read_skill", json!({ "skill_id": "pdf" })),
        (
            "read_skill_resource",
            json!({ "skill_id": "pdf", "path": "references/forms.md" }),
        ),
        (
            "read_skill_resource",
            json!({ "skill_id": "pdf", "path": "../x" }),
        ),
        ("no_tool", json!({})),
    ]
}

#[test]
fn plain_call_has_the_answer_of_the_sdk_the_first_time_and_again() {
    let address = serve(skills(TREE, &[]));
    for (tool, arguments) in calls() {
        let wanted = call(address, By::Sdk, tool, &arguments);
        for _ in 0..2 {
            assert_eq!(
                call(address, By::Itself, tool, &arguments),
                wanted,
                "{tool}"
            );
        }
    }
}

#[test]
fn plain_call_in_a_session_has_the_answer_of_the_sdk_as_json() {
    let address = serve(skills(TREE, &[]));
    let session = session(address);
    for (tool, arguments) in calls() {
        let wanted = call_in(address, &session, By::Sdk, tool, &arguments);
        // What is no tool is left to the SDK.
        if tool == "no_tool" {
            continue;
        }
        for _ in 0..2 {
            let answer = call_in(address, &session, By::Itself, tool, &arguments);
            assert_eq!(answer, wanted, "{tool}");
        }
    }
}

#[test]
fn session_that_is_not_there_or_was_ended_answers_nothing() {
    let address = serve(skills(TREE, &[]));
    let session = session(address);
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "list_skills" } });
    let version = "MCP-Protocol-Version: 2025-11-25";
    let status = |session: &str| {
        let (head, _) = post(address, &[PLAIN, version, session], &body);
        head[9..12].to_owned()
    };
    assert_eq!(status(&session), "200");
    assert_eq!(status("Mcp-Session-Id: other"), "404");
    let end = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{version}\r\n{session}\r\n\r\n"
    );
    let ended = ask(address, &end);
    assert!(ended.starts_with("HTTP/1.1 20"), "{ended}");
    assert_eq!(status(&session), "404");
}

#[test]
fn remembered_answer_is_never_given_for_a_changed_file() {
    let own = folder(TREE);
    let source = FsSource::open(own.path()).unwrap();
    let host = Host::new(Environment::new("/nowhere"));
    let host = host.root(Root::new(Scope::User, "mine", source));
    let skills = host.discover().unwrap();
    // Until then a change cannot be told by the state of the file, and nothing is remembered.
    std::thread::sleep(Duration::from_millis(2_100));
    skills.refresh().unwrap();
    let address = serve(skills.clone());
    let load = || {
        let message = call(
            address,
            By::Itself,
            "load_skill",
            &json!({ "skill_id": "pdf" }),
        );
        message["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let hits = || skills.cache_stats().hits;
    let first = load();
    let before = hits();
    assert_eq!(load(), first);
    assert_eq!(hits(), before + 1, "it is remembered");

    // Of the same size.
    write(own.path(), &files(&TREE.replace("Fill in", "Fold in")));
    assert!(load().contains("Fold in"));
    write(own.path(), &files(TREE));
    assert!(load().contains("Fill in"));

    std::thread::sleep(Duration::from_millis(2_100));
    skills.refresh().unwrap();
    load();
    load();
    let more = [("pdf/references/more.md".to_owned(), "x".to_owned())];
    write(own.path(), &more);
    assert!(load().contains("references/more.md"));
    std::fs::remove_file(own.path().join("pdf/references/more.md")).unwrap();
    assert!(!load().contains("references/more.md"));
    std::fs::remove_file(own.path().join("pdf/SKILL.md")).unwrap();
    let message = call(
        address,
        By::Itself,
        "load_skill",
        &json!({ "skill_id": "pdf" }),
    );
    assert_eq!(message["result"]["isError"], true, "{message}");
}

#[test]
fn answer_of_another_snapshot_is_not_given() {
    let own = folder(TREE);
    let source = FsSource::open(own.path()).unwrap();
    let host = Host::new(Environment::new("/nowhere"));
    let host = host.root(Root::new(Scope::User, "mine", source));
    let skills = host.discover().unwrap();
    let address = serve(skills.clone());
    let total = || {
        let message = call(address, By::Itself, "list_skills", &json!({}));
        message["result"]["structuredContent"]["total"].clone()
    };
    assert_eq!((total(), total()), (json!(1), json!(1)));
    let more = files(&TREE.replace("pdf", "doc"));
    write(own.path(), &more);
    skills.refresh().unwrap();
    assert_eq!(total(), 2);
}
