//! The examples on the page for authors.

use serde_json::json;

use crate::skill::{load, refusal, show_call};

const PAGE: &str = include_str!("../../../../docs/toolsets.md");

/// Returns the page's files: a line with a path, an empty line, and a code block.
fn files() -> Vec<(&'static str, &'static str)> {
    let blocks = PAGE.split("`\n\n```").collect::<Vec<_>>();
    let file = |pair: &[&'static str]| {
        let (_, path) = pair[0].rsplit_once("\n`")?;
        let (_, code) = pair[1].split_once('\n')?;
        Some((path, code.split_once("```\n")?.0))
    };
    blocks.windows(2).filter_map(file).collect()
}

#[test]
fn toolset_page_examples_work() {
    needs_sandbox!();
    let files = files();
    let call = |reference: &str, tool: &str, arguments| {
        let mut toolset = load(&files, reference).unwrap();
        show_call(&mut *toolset, tool, &arguments)
    };
    insta::assert_snapshot!(call("toolsets/files:tools", "count-words", json!({ "text": "a b c" })), @r#"ok: "3 words", title "Counted", metadata {"first":"a"}"#);
    insta::assert_snapshot!(call("toolsets/files:tools", "repeat", json!({ "word": "a b" })), @r#"ok: "a b\na b\n", title "", metadata {}"#);
    insta::assert_snapshot!(call("toolsets/greeting:GreetingToolset", "greet", json!({ "name": "Ada" })), @r#"ok: "Hello Ada", title "Greeted", metadata {}"#);
    insta::assert_snapshot!(call("toolsets/greeting:GreetingToolset", "wait", json!({})), @r#"ok: "Waited", title "", metadata {}"#);
    insta::assert_snapshot!(call("toolsets/add:mcp", "add", json!({ "a": 1, "b": 2 })), @r#"ok: "3", title "", metadata {}"#);
}

#[test]
fn typescript_example_works_if_supported() {
    needs_sandbox!();
    let files = files();
    let Ok(mut toolset) = load(&files, "toolsets/index:HelloToolset") else {
        let refused = refusal(&files, "toolsets/index:HelloToolset");
        assert!(refused.starts_with("interpreter_missing"), "{refused}");
        return;
    };
    let answer = toolset.call("greet", &json!({ "name": "Ada" })).unwrap();
    assert_eq!(answer.output, "Hello Ada");
}
