//! Tools defined in a JSON file.

use std::time::Duration;

use serde_json::{Value, json};

use crate::skill::{load, load_with, refusal, show_call, show_tools, within};

const TOOLS: &str = r#"{"tools": [
  {
    "name": "add",
    "description": "Adds two numbers",
    "parameters": {
      "type": "object",
      "properties": {"a": {"type": "integer"}, "b": {"type": ["number", "null"], "default": 1}},
      "required": ["a"],
      "additionalProperties": false
    },
    "script": "scripts/add.py"
  },
  {
    "name": "echo",
    "description": "Prints its arguments",
    "parameters": {
      "type": "object",
      "properties": {"text": {"type": "string"}, "more": {"default": [1, "x"]}},
      "required": ["text"]
    },
    "script": "scripts/echo.sh",
    "arguments": ["--", "{text}", "{more}", "{}x", "$HOME"]
  }
]}"#;

const FILES: [(&str, &str); 3] = [
    ("tools.json", TOOLS),
    (
        "scripts/add.py",
        "import json, sys\n\
         args = json.load(sys.stdin)\n\
         if args['a'] == 0: sys.exit('nothing to add')\n\
         print(json.dumps({'output': args['a'] + (args.get('b') or 1), 'title': 'Added', 'metadata': {'n': 2}}))\n",
    ),
    ("scripts/echo.sh", "for word; do echo \"<$word>\"; done\n"),
];

fn call(tool: &str, arguments: &Value) -> String {
    let mut toolset = load(&FILES, "tools.json:tools").unwrap();
    show_call(&mut *toolset, tool, arguments)
}

#[test]
fn file_defines_tools_that_run_scripts() {
    let toolset = load(&FILES, "tools").unwrap();
    insta::assert_snapshot!(show_tools(&*toolset), @r#"
    add: Adds two numbers
      {"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"default":1,"type":["number","null"]}},"required":["a"],"type":"object"}
    echo: Prints its arguments
      {"properties":{"more":{"default":[1,"x"]},"text":{"type":"string"}},"required":["text"],"type":"object"}
    "#);
}

#[test]
fn script_gets_json_arguments_and_its_output_is_parsed() {
    needs_sandbox!();
    insta::assert_snapshot!(call("add", &json!({ "a": 2, "b": 3.5 })), @r#"ok: "5.5", title "Added", metadata {"n":2}"#);
}

#[test]
fn placeholder_is_one_argument_whatever_its_content() {
    needs_sandbox!();
    insta::assert_snapshot!(call("echo", &json!({ "text": "a b; $(id) '\" -x\n{more}" })), @r#"ok: "<-->\n<a b; $(id) '\" -x\n{more}>\n<[1,\"x\"]>\n<{}x>\n<$HOME>\n", title "", metadata {}"#);
}

#[test]
fn failing_script_is_an_answer_that_says_why() {
    needs_sandbox!();
    insta::assert_snapshot!(call("add", &json!({ "a": 0 })), @r#"failed: "nothing to add\nThe script ended with code 1", title "", metadata {"code":"exited"}"#);
    let files = [
        ("tools.json", TOOLS),
        FILES[1],
        ("scripts/echo.sh", "echo start; sleep 9"),
    ];
    let mut toolset = load_with(&files, "tools", &within(Duration::from_millis(500))).unwrap();
    insta::assert_snapshot!(show_call(&mut *toolset, "echo", &json!({ "text": "" })), @r#"failed: "start\nThe script ran longer than its time limit and was stopped", title "", metadata {"code":"timeout"}"#);
}

#[test]
fn arguments_that_do_not_fit_the_schema_are_refused() {
    needs_sandbox!();
    insta::assert_snapshot!(call("add", &json!({})), @r"
    invalid_arguments: Tool `add`: the argument `a` is missing
    hint: Call it again with arguments that fit its schema
    ");
    insta::assert_snapshot!(call("add", &json!({ "a": "2" })), @r"
    invalid_arguments: Tool `add`: the argument `a` is not of type integer
    hint: Call it again with arguments that fit its schema
    ");
    insta::assert_snapshot!(call("add", &json!({ "a": 2, "b": true })), @r"
    invalid_arguments: Tool `add`: the argument `b` is not of type number or null
    hint: Call it again with arguments that fit its schema
    ");
    insta::assert_snapshot!(call("add", &json!({ "a": 2, "c": 1 })), @r"
    invalid_arguments: Tool `add`: there is no argument `c`
    hint: Call it again with arguments that fit its schema
    ");
    insta::assert_snapshot!(call("add", &json!([2])), @r"
    invalid_arguments: Tool `add`: the arguments are not an object
    hint: Call it again with arguments that fit its schema
    ");
    insta::assert_snapshot!(call("subtract", &json!({})), @r"
    unknown_tool: The toolset has no tool `subtract`
    hint: It has: add, echo
    ");
    insta::assert_snapshot!(call("add", &json!({ "a": 2.0, "b": null })), @r#"ok: "3.0", title "Added", metadata {"n":2}"#);
}

fn refused(tools: &str) -> String {
    refusal(&[("tools.json", tools), FILES[1]], "tools")
}

#[test]
fn invalid_definitions_are_refused_with_the_position() {
    insta::assert_snapshot!(refused("{\"tools\": ["), @r"
    invalid_toolset: Tool definitions in `tools.json`: EOF while parsing a list at line 1 column 11
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(refused("{\"other\": []}"), @r"
    invalid_toolset: Tool definitions in `tools.json`: there is no key `tools` with a list of tools
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(refused(r#"{"tools": [{"name": "a", "description": "", "script": "scripts/gone.py"}]}"#), @r"
    invalid_toolset: Tool definitions in `tools.json`: tool `a`: The skill has no file `scripts/gone.py`
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(refused(r#"{"tools": [{"name": "a", "description": "", "script": "../x.py"}]}"#), @r"
    invalid_toolset: Tool definitions in `tools.json`: tool `a`: `../x.py` is not a path inside the skill
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(refused(r#"{"tools": [{"name": "a", "description": "", "script": "scripts/add.py", "arg": []}]}"#), @r"
    invalid_toolset: Tool definitions in `tools.json`: under `tools`: unknown field `arg`, expected one of `name`, `description`, `parameters`, `script`, `arguments`
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(
        refused(r#"{"tools": [{"name": "a", "description": "", "script": "scripts/add.py", "arguments": ["{b}"]}]}"#), @r"
    invalid_toolset: Tool definitions in `tools.json`: tool `a`: `{b}` is not one of its parameters
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(
        refused(r#"{"tools": [{"name": "a", "description": "", "script": "scripts/add.py", "arguments": ["{b}"], "parameters": {"properties": {"b": {}}}}]}"#), @r"
    invalid_toolset: Tool definitions in `tools.json`: tool `a`: `{b}` is neither required nor has a default, so it can be missing
    hint: Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`
    ");
    insta::assert_snapshot!(
        refused(r#"{"tools": [{"name": "a\u001b[2J", "description": "", "script": "scripts/add.py"}]}"#), @r"
    invalid_toolset: Toolset `tools.json`: a tool's name has 1 to 128 visible characters and no spaces: `a\u{1b}[2J`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    insta::assert_snapshot!(
        refused(r#"{"tools": [{"name": "a", "description": "", "script": "scripts/add.py", "parameters": {"type": "string"}}]}"#), @r"
    invalid_toolset: Toolset `tools.json`: the parameters of `a` are not a JSON schema of an object
    hint: Correct the toolset; none of its tools can be used before that
    ");
}
