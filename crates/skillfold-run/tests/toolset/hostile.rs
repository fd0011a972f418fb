//! Toolsets that break the rules.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use skillfold_run::toolset::ToolsetOptions;
use skillfold_run::{Cancel, RunOptions};

use crate::skill::{load, load_with, refusal, show_call, show_error, within};

/// A server that answers with the lines of `on_list` and `on_call`.
fn server(on_list: &str, on_call: &str) -> String {
    let one = "[{'name': 'a', 'inputSchema': {'type': 'object'}}]";
    let on_list = on_list.replace("ONE", one);
    format!(
        "#!/usr/bin/env python3
import json, os, sys, time
def send(id, result): print(json.dumps({{'jsonrpc': '2.0', 'id': id, 'result': result}}), flush=True)
def text(id, text): send(id, {{'content': [{{'type': 'text', 'text': text}}]}})
for line in sys.stdin:
    message = json.loads(line)
    id, params = message.get('id'), message.get('params', {{}})
    if message['method'] == 'initialize': send(id, {{'protocolVersion': '2025-06-18'}})
    elif message['method'] == 'tools/list': {on_list}
    elif message['method'] == 'tools/call': {on_call}
"
    )
}

const ONE: &str = "send(id, {'tools': ONE})";

fn listed(on_list: &str) -> String {
    refusal(&[("server", &server(on_list, "pass"))], "server")
}

/// Calls the tool `a` twice, with one second per call.
fn called_twice(on_call: &str) -> String {
    let text = server(ONE, on_call);
    let mut toolset = load_with(
        &[("server", &text)],
        "server",
        &within(Duration::from_secs(1)),
    )
    .unwrap();
    let mut call = |n| show_call(&mut *toolset, "a", &json!({ "n": n }));
    format!("{}\n{}", call(1), call(2))
}

#[test]
fn unresponsive_toolset_is_ended_in_time() {
    needs_sandbox!();
    let started = Instant::now();
    insta::assert_snapshot!(called_twice("print('thinking', file=sys.stderr, flush=True); time.sleep(60)"), @r"
    timeout: Toolset `server` did not answer `tools/call` within 1 s and was stopped. It said: thinking
    hint: Try again with less to do, or raise the time limit
    timeout: Toolset `server` did not answer `tools/call` within 1 s and was stopped. It said: thinking
    hint: Try again with less to do, or raise the time limit
    ");
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn silent_toolset_is_not_loaded() {
    needs_sandbox!();
    let options = within(Duration::from_secs(1));
    let error = load_with(
        &[("server", "#!/bin/sh\nexec sleep 60\n")],
        "server",
        &options,
    )
    .unwrap_err();
    insta::assert_snapshot!(show_error(&error), @r"
    timeout: Toolset `server` did not answer `initialize` within 1 s and was stopped
    hint: Try again with less to do, or raise the time limit
    ");
}

#[test]
fn endless_notifications_do_not_block_a_call() {
    needs_sandbox!();
    let text = server(
        ONE,
        "\n        while True: print('{\"method\": \"x\"}', flush=True)",
    );
    let mut toolset = load_with(
        &[("server", &text)],
        "server",
        &within(Duration::from_secs(1)),
    )
    .unwrap();
    assert_eq!(toolset.call("a", &json!({})).unwrap_err().code(), "timeout");
}

#[test]
fn invalid_message_is_shown_and_ends_the_toolset() {
    needs_sandbox!();
    insta::assert_snapshot!(called_twice("print('Loading\\x1b[31m...', flush=True)"), @r"
    toolset_failed: Toolset `server` wrote a line that is not a message: `Loading\u{1b}[31m...`
    hint: Write only messages to stdout, and everything else to stderr
    toolset_failed: Toolset `server` wrote a line that is not a message: `Loading\u{1b}[31m...`
    hint: Write only messages to stdout, and everything else to stderr
    ");
    insta::assert_snapshot!(called_twice("print('[' * 100000, flush=True)"), @r"
    toolset_failed: Toolset `server` wrote a line that is not a message: `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…`
    hint: Write only messages to stdout, and everything else to stderr
    toolset_failed: Toolset `server` wrote a line that is not a message: `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…`
    hint: Write only messages to stdout, and everything else to stderr
    ");
    insta::assert_snapshot!(called_twice("os.write(1, b'\\xff\\xfe\\n')"), @r"
    toolset_failed: Toolset `server` wrote a line that is not a message: `��`
    hint: Write only messages to stdout, and everything else to stderr
    toolset_failed: Toolset `server` wrote a line that is not a message: `��`
    hint: Write only messages to stdout, and everything else to stderr
    ");
}

#[test]
fn ten_megabyte_line_is_refused() {
    needs_sandbox!();
    insta::assert_snapshot!(called_twice("text(id, 'x' * 10_000_000)"), @r"
    toolset_failed: Toolset `server` wrote a line of more than 4194304 bytes
    hint: Return less in one answer
    toolset_failed: Toolset `server` wrote a line of more than 4194304 bytes
    hint: Return less in one answer
    ");
}

#[test]
fn long_answer_within_the_limit_is_accepted() {
    needs_sandbox!();
    let text = server(ONE, "text(id, 'x' * 4_000_000)");
    let mut toolset = load(&[("server", &text)], "server").unwrap();
    assert_eq!(
        toolset.call("a", &json!({})).unwrap().output.len(),
        4_000_000
    );
}

#[test]
fn toolset_that_does_not_read_does_not_block_a_call() {
    needs_sandbox!();
    let text = server(ONE, "time.sleep(60)");
    let mut toolset = load_with(
        &[("server", &text)],
        "server",
        &within(Duration::from_secs(1)),
    )
    .unwrap();
    let error = toolset
        .call("a", &json!({ "text": "x".repeat(3_000_000) }))
        .unwrap_err();
    assert_eq!(error.code(), "timeout");
    let error = toolset
        .call("a", &json!({ "text": "x".repeat(5_000_000) }))
        .unwrap_err();
    assert_eq!(error.code(), "input_too_large");
}

#[test]
#[expect(unsafe_code, reason = "the standard library has no call for it")]
fn toolset_that_closes_stdin_does_not_end_the_host() {
    needs_sandbox!();
    // SAFETY: no other thread in this process handles the signal.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    insta::assert_snapshot!(called_twice("os.close(0); text(id, 'closed'); time.sleep(60)"), @r#"
    ok: "closed", title "", metadata {}
    timeout: Toolset `server` did not answer `tools/call` within 1 s and was stopped
    hint: Try again with less to do, or raise the time limit
    "#);
}

#[test]
fn crash_is_reported_and_the_next_call_restarts_the_toolset() {
    needs_sandbox!();
    let crash_once = "(print('out of luck', file=sys.stderr, flush=True), os._exit(7)) if params['arguments']['n'] == 1 else text(id, 'ok')";
    insta::assert_snapshot!(called_twice(crash_once), @r#"
    toolset_failed: Toolset `server` ended with code 7 before it answered `tools/call`. It said: out of luck
    hint: Try again, which restarts it; its last output may say why
    ok: "ok", title "", metadata {}
    "#);
}

#[test]
fn python_or_javascript_crash_is_reported_and_the_next_call_restarts_it() {
    needs_sandbox!();
    let python = "import os\ntools = [{'name': 'a', 'execute': lambda args, ctx: os._exit(7) if args else 'ok'}]";
    let javascript =
        "export default [{name: 'a', execute: (args) => args.n ? process.exit(7) : 'ok'}]";
    for (file, text) in [("t.py", python), ("t.mjs", javascript)] {
        let mut toolset = load(&[(file, text)], file).unwrap();
        let error = toolset.call("a", &json!({ "n": 1 })).unwrap_err();
        assert!(error.to_string().contains("ended with code 7"), "{error}");
        assert_eq!(toolset.call("a", &json!({})).unwrap().output, "ok");
    }
}

#[test]
fn toolset_that_changes_its_tools_is_not_called() {
    needs_sandbox!();
    // The scratch folder is new for each process, so the clock distinguishes the processes.
    let text = server(
        "send(id, {'tools': [{'name': 'a', 'description': str(time.monotonic_ns()), 'inputSchema': {}}]})",
        "os._exit(1)",
    );
    let mut toolset = load(&[("server", &text)], "server").unwrap();
    toolset.call("a", &json!({})).unwrap_err();
    insta::assert_snapshot!(show_call(&mut *toolset, "a", &json!({})), @r"
    invalid_toolset: Toolset `server` lists different tools than before
    hint: Reload it, and review its tools again
    ");
}

#[test]
fn invalid_tool_list_is_refused() {
    needs_sandbox!();
    let tools = |count| {
        format!(
            "send(id, {{'tools': [{{'name': f't{{i}}', 'inputSchema': {{}}}} for i in range({count})]}})"
        )
    };
    insta::assert_snapshot!(listed(&tools(10_000)), @r"
    invalid_toolset: Toolset `server`: it has more than 256 tools
    hint: Correct the toolset; none of its tools can be used before that
    ");
    assert_eq!(
        load(&[("server", &server(&tools(256), "pass"))], "server")
            .unwrap()
            .tools()
            .len(),
        256
    );
    insta::assert_snapshot!(listed("send(id, {'tools': [], 'nextCursor': 'x'})"), @"
    invalid_toolset: Toolset `server` cannot be loaded: its list of tools has more than 100 pages
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': ONE + ONE})"), @r"
    invalid_toolset: Toolset `server`: two tools have the name `a`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': ONE, 'nextCursor': 'x'})"), @r"
    invalid_toolset: Toolset `server`: two tools have the name `a`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed(r"send(id, {'tools': [{'name': 'a\x1b[2Jb', 'inputSchema': {}}]})"), @r"
    invalid_toolset: Toolset `server`: a tool's name has 1 to 128 visible characters and no spaces: `a\u{1b}[2Jb`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed(r"send(id, {'tools': [{'name': 'a\u202eb', 'inputSchema': {}}]})"), @r"
    invalid_toolset: Toolset `server`: a tool's name has 1 to 128 visible characters and no spaces: `a\u{202e}b`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': [{'name': 'x' * 129, 'inputSchema': {}}]})"), @r"
    invalid_toolset: Toolset `server`: a tool's name has 1 to 128 visible characters and no spaces: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed(r"send(id, {'tools': [{'name': 'a', 'description': 'safe\u200b', 'inputSchema': {}}]})"), @r"
    invalid_toolset: Toolset `server`: the description of `a` has more than 4096 bytes, or control or invisible characters
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': [{'name': 'a', 'inputSchema': {'x': 'x' * 70_000}}]})"), @r"
    invalid_toolset: Toolset `server`: the parameters of `a` have more than 65536 bytes
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': [{'name': 'a', 'inputSchema': []}]})"), @r"
    invalid_toolset: Toolset `server`: the parameters of `a` are not a JSON schema of an object
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': [{'name': 'a'}]})"), @"
    invalid_toolset: Toolset `server` cannot be loaded: the tool `a` has no `inputSchema`
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(listed("send(id, {'tools': [7]})"), @"
    invalid_toolset: Toolset `server` cannot be loaded: a tool has no name
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(listed("send(id, 7)"), @"
    invalid_toolset: Toolset `server` cannot be loaded: its answer to `tools/list` has no list `tools`
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(
        listed("print(json.dumps({'id': id, 'error': {'code': 1, 'message': 'not today'}}), flush=True)"), @"
        invalid_toolset: Toolset `server` cannot be loaded: not today
        hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
        ");
}

#[test]
fn oddly_shaped_answer_is_accepted() {
    needs_sandbox!();
    insta::assert_snapshot!(called_twice("send(id, 7)"), @r#"
    ok: "", title "", metadata {}
    ok: "", title "", metadata {}
    "#);
    insta::assert_snapshot!(called_twice("send(id, {'content': [7, {'type': 'text'}], '_meta': 3})"), @r#"
    ok: "[left out: content of type ``]\n[left out: content of type `text`]", title "", metadata {}
    ok: "[left out: content of type ``]\n[left out: content of type `text`]", title "", metadata {}
    "#);
}

#[test]
fn cancelled_toolset_ends_soon() {
    needs_sandbox!();
    let cancel = Cancel::default();
    let options =
        ToolsetOptions::default().with_run(RunOptions::default().with_cancel(cancel.clone()));
    let text = server(ONE, "time.sleep(60)");
    let mut toolset = load_with(&[("server", &text)], "server", &options).unwrap();
    let started = Instant::now();
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        cancel.cancel();
    });
    insta::assert_snapshot!(show_call(&mut *toolset, "a", &json!({})), @r"
    cancelled: Toolset `server` was cancelled
    hint: Call it again if you still need it
    ");
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    other.join().unwrap();
}
