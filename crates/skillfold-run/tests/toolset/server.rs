//! Scripts and programs that speak MCP.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use skillfold_run::SkillCopy;
use skillfold_run::toolset::{ToolsetOptions, load_toolset};

use crate::skill::{load, refusal, show_call, show_tools};

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
    let toolset = load(&[("server.py", SERVER)], "server:mcp").unwrap();
    assert_eq!(toolset.tools().len(), 2);
}

#[test]
fn executable_in_the_skill_starts_without_an_interpreter() {
    let program = fs::read("/bin/cat").unwrap();
    let copy = SkillCopy::new([("bin/server".parse().unwrap(), program)]).unwrap();
    let reference = "bin/server:mcp".parse().unwrap();
    let error = load_toolset(&Arc::new(copy), &reference, &ToolsetOptions::default());
    // It echoes the request, which is answered, and then that answer too.
    insta::assert_snapshot!(error.unwrap_err(), @"Toolset `bin/server` cannot be loaded: Method not found");
}

#[test]
fn unknown_protocol_version_is_refused() {
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
