//! Scripts and programs that speak MCP.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use skillfold_run::toolset::{ToolsetOptions, load_toolset};
use skillfold_run::{Permissions, Protected, RunOptions, SkillCopy};

use crate::skill::{load, load_with, refusal, show_call, show_tools};

/// A server with two pages of tools, which sends requests in between and reports the responses.
pub(crate) const SERVER: &str = r#"#!/usr/bin/env python3
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def receive():
    return json.loads(sys.stdin.readline())

said = []
while line := sys.stdin.readline():
    message = json.loads(line)
    method, id, params = message["method"], message.get("id"), message.get("params", {})
    send(method="notifications/message", params={"level": "info", "data": method})
    if method == "initialize":
        send(id=id, result={"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}})
    elif method == "tools/list" and "cursor" not in params:
        tool = {"name": "ask", "description": "Asks", "inputSchema": {"type": "object"}}
        send(id=id, result={"tools": [tool], "nextCursor": "2"})
    elif method == "tools/list":
        tool = {"name": "parts", "inputSchema": {"type": "object"}}
        send(id=id, result={"tools": [tool]})
    elif method == "tools/call" and params["name"] == "ask":
        send(id="q1", method="ping")
        send(id="q2", method="roots/list")
        send(id=99, result={"content": []})
        text = json.dumps([receive(), receive()])
        send(id=id, result={"content": [{"type": "text", "text": text}]})
    elif method == "tools/call":
        content = [
            {"type": "text", "text": "first"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
        ]
        send(id=id, result={"content": content, "isError": True, "structuredContent": {"n": 1}})
"#;

#[test]
fn mcp_script_provides_tools() {
    needs_sandbox!();
    let mut toolset = load(&[("server", SERVER)], "server").unwrap();
    let toolset = &mut *toolset;
    insta::assert_snapshot!(show_tools(toolset), @r#"
    ask: Asks
      {"type":"object"}
    parts: 
      {"type":"object"}
    "#);
    insta::assert_snapshot!(show_call(toolset, "ask", &json!({})), @r#"ok: "[{\"id\": \"q1\", \"jsonrpc\": \"2.0\", \"result\": {}}, {\"error\": {\"code\": -32601, \"message\": \"Method not found\"}, \"id\": \"q2\", \"jsonrpc\": \"2.0\"}]", title "", metadata {}"#);
    insta::assert_snapshot!(show_call(toolset, "parts", &json!({})), @r#"failed: "first\n[left out: content of type `image`]\ninside\nfile:///b", title "", metadata {"n":1}"#);
}

#[test]
fn name_mcp_starts_a_file_with_an_extension_as_a_server() {
    needs_sandbox!();
    let toolset = load(&[("server.py", SERVER)], "server:mcp").unwrap();
    assert_eq!(toolset.tools().len(), 2);
}

#[test]
fn executable_in_the_skill_starts_without_an_interpreter() {
    needs_sandbox!();
    let program = fs::read("/bin/cat").unwrap();
    let copy = SkillCopy::new([("bin/server".parse().unwrap(), program)]).unwrap();
    let reference = "bin/server:mcp".parse().unwrap();
    let error = load_toolset(&Arc::new(copy), &reference, &ToolsetOptions::default());
    // It echoes the request, which is answered, and then that answer too.
    insta::assert_snapshot!(error.unwrap_err(), @"Toolset `bin/server` cannot be loaded: Method not found");
}

#[test]
fn unknown_protocol_version_is_refused() {
    needs_sandbox!();
    let server = SERVER.replace("2024-11-05", "1999-01-01");
    insta::assert_snapshot!(refusal(&[("server", &server)], "server"), @"
    invalid_toolset: Toolset `server` cannot be loaded: it speaks version `1999-01-01` of the protocol; known are 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
}

#[test]
fn file_without_an_interpreter_is_refused() {
    insta::assert_snapshot!(refusal(&[("notes.txt", "hello")], "notes.txt"), @r"
    invalid_toolset: No loader is known for the toolset `notes.txt`
    hint: Write it as a `.json`, `.py`, `.js` or `.ts` file, or start a server's script with `#!`
    ");
}

#[test]
fn nothing_of_a_server_that_may_write_lives_when_its_folder_is_checked() {
    // It goes on after its answer, and creates what no skill may at each call but the first.
    const SERVER: &str = r#"#!/usr/bin/env python3
import json, os, sys, threading, time

os.chdir(os.environ["FOLDER"])

def beat():
    while True:
        with open("beat", "a") as file:
            file.write(".")
        time.sleep(0.005)

while line := sys.stdin.readline():
    message = json.loads(line)
    method, id = message["method"], message.get("id")
    if method == "initialize":
        result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        if os.path.exists("beat"):
            os.mkdir(".git")
        open("beat", "a").close()
        threading.Thread(target=beat, daemon=True).start()
        result = {"content": [{"type": "text", "text": "gone"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"#;

    needs_sandbox!();
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    fs::set_permissions(&project, fs::Permissions::from_mode(0o777)).unwrap();
    let protected = Protected::default().with_read_only_names([".git".to_owned()]);
    let permissions = Permissions::default()
        .with_write(&project)
        .with_variable("FOLDER", project.to_string_lossy())
        .with_protected(protected);
    let run = RunOptions::default().with_permissions(permissions);
    let options = ToolsetOptions::default().with_run(run);
    let mut toolset = load_with(&[("server", SERVER)], "server", &options).unwrap();
    let size = || fs::metadata(project.join("beat")).map_or(0, |beat| beat.len());
    let mut call = || {
        let answer = toolset.call("go", &json!({})).unwrap();
        let then = size();
        thread::sleep(Duration::from_millis(100));
        assert_eq!(size(), then, "it goes on");
        let notes = answer.corrections.notes().join("\n");
        notes.replace(&*project.to_string_lossy(), "PROJECT")
    };
    assert_eq!(call(), "");
    insta::assert_snapshot!(call(), @"The script created `PROJECT/.git`, which no skill may; it is now `PROJECT/.git.removed-by-skillfold`");
    assert!(!project.join(".git").exists());
}
