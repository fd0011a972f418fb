//! Tools written in Python, JavaScript or TypeScript.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use skillfold_run::RunOptions;
use skillfold_run::toolset::ToolsetOptions;

use crate::skill::{load, load_with, refusal, show_call, show_tools};

const PYTHON: &str = r#"
import asyncio
from .words import GREETING
import words

class Greet:
    name = "greet"
    description = "Greets someone"
    parameters = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

    def execute(self, args, ctx):
        print("this is no message")
        return {"title": "Greeted", "metadata": {"skill": ctx.skill}, "output": GREETING + args["name"]}

async def wait(args):
    await asyncio.sleep(0.001)
    return "waited"

def fail(args, ctx):
    raise ValueError("no such thing")

class HelloToolset:
    def __init__(self):
        self.count = 0

    @property
    def tools(self):
        return [
            Greet(),
            {"name": "wait", "execute": wait},
            {"name": "fail", "description": "Fails", "execute": fail},
            {"name": "count", "execute": self.add},
        ]

    def add(self, args, ctx):
        self.count += 1
        return self.count

class Lazy:
    async def tools(self):
        return {"wait": {"execute": wait}}

tools = [{"name": "plain", "execute": lambda args, ctx: None}]
"#;

const PYTHON_FILES: [(&str, &str); 2] = [
    ("toolsets/index.py", PYTHON),
    ("toolsets/words.py", "GREETING = 'Hello '\n"),
];

const JAVASCRIPT: &str = r#"
import { greeting } from "./words.mjs";

export const greet = {
  name: "greet",
  description: "Greets someone",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  execute: async (args, ctx) => {
    console.log("this is no message");
    process.stdout.write("nor this\n");
    return { title: "Greeted", metadata: { skill: ctx.skill }, output: greeting + args.name };
  },
};

const schema = {
  toJSONSchema: () => ({ type: "object", properties: { n: { type: "number" } } }),
  parse: (given) => ({ n: 1, ...given }),
};

export class HelloToolset {
  count = 0;
  tools() {
    return [
      greet,
      { name: "fail", execute() { throw new Error("no such thing"); } },
      { name: "count", parameters: schema, execute: ({ n }) => (this.count += n) },
    ];
  }
}

export const Keyed = { tools: { greet: { ...greet, name: undefined } } };
export default [greet];
"#;

const JAVASCRIPT_FILES: [(&str, &str); 2] = [
    ("toolsets/index.js", JAVASCRIPT),
    ("toolsets/words.mjs", "export const greeting = 'Hello ';\n"),
];

#[test]
fn python_class_provides_tools() {
    needs_sandbox!();
    let mut toolset = load(&PYTHON_FILES, "toolsets/index:HelloToolset").unwrap();
    let toolset = &mut *toolset;
    insta::assert_snapshot!(show_tools(toolset), @r#"
    greet: Greets someone
      {"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}
    wait: 
      {"properties":{},"type":"object"}
    fail: Fails
      {"properties":{},"type":"object"}
    count: 
      {"properties":{},"type":"object"}
    "#);
    insta::assert_snapshot!(show_call(toolset, "greet", &json!({ "name": "Ada ü\n\u{2028}" })), @r#"ok: "Hello Ada ü\n\u{2028}", title "Greeted", metadata {"skill":"/skill"}"#);
    insta::assert_snapshot!(show_call(toolset, "wait", &json!({})), @r#"ok: "waited", title "", metadata {}"#);
    insta::assert_snapshot!(show_call(toolset, "fail", &json!({})), @r#"failed: "ValueError: no such thing", title "", metadata {}"#);
    show_call(toolset, "count", &json!({}));
    insta::assert_snapshot!(show_call(toolset, "count", &json!({})), @r#"ok: "2", title "", metadata {}"#);
}

#[test]
fn python_tools_may_be_a_list_or_a_method() {
    needs_sandbox!();
    let mut toolset = load(&PYTHON_FILES, "toolsets/index").unwrap();
    insta::assert_snapshot!(show_call(&mut *toolset, "plain", &json!({})), @r#"ok: "", title "", metadata {}"#);
    let mut toolset = load(&PYTHON_FILES, "toolsets/index:Lazy").unwrap();
    insta::assert_snapshot!(show_call(&mut *toolset, "wait", &json!({})), @r#"ok: "waited", title "", metadata {}"#);
}

#[test]
fn model_json_schema_validates_the_arguments() {
    needs_sandbox!();
    let text = r#"
class Model:
    def __init__(self, n): self.n = n
    @classmethod
    def model_json_schema(cls): return {"type": "object", "properties": {"n": {}}}
    @classmethod
    def model_validate(cls, given):
        if not isinstance(given.get("n"), int): raise ValueError("n is no number")
        return cls(given["n"])
tools = [{"name": "double", "parameters": Model, "execute": lambda args, ctx: args.n * 2}]
"#;
    let mut toolset = load(&[("a.py", text)], "a").unwrap();
    insta::assert_snapshot!(show_tools(&*toolset), @r#"
    double: 
      {"properties":{"n":{}},"type":"object"}
    "#);
    insta::assert_snapshot!(show_call(&mut *toolset, "double", &json!({ "n": 4 })), @r#"ok: "8", title "", metadata {}"#);
    insta::assert_snapshot!(show_call(&mut *toolset, "double", &json!({ "n": "4" })), @r#"failed: "ValueError: n is no number", title "", metadata {}"#);
}

#[test]
fn python_import_failure_says_where() {
    needs_sandbox!();
    let refused = |text, name| refusal(&[("toolsets/index.py", text)], name);
    insta::assert_snapshot!(refused("x = 1\nimport not_installed\n", "toolsets/index"), @r#"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: File "/skill/toolsets/index.py", line 2, in <module> / import not_installed / ModuleNotFoundError: No module named 'not_installed'
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    "#);
    insta::assert_snapshot!(refused("def f(:\n", "toolsets/index"), @r#"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: File "/skill/toolsets/index.py", line 1 / def f(: / ^ / SyntaxError: invalid syntax
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    "#);
    insta::assert_snapshot!(refused("def f(): return 1 / 0\nf()\n", "toolsets/index"), @r#"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: File "/skill/toolsets/index.py", line 2, in <module> / f() / File "/skill/toolsets/index.py", line 1, in f / def f(): return 1 / 0 / ~~^~~ / ZeroDivisionError: division by zero
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    "#);
    insta::assert_snapshot!(refused("import sys\nsys.exit(3)\n", "toolsets/index"), @r#"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: File "/skill/toolsets/index.py", line 2, in <module> / sys.exit(3) / SystemExit: 3
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    "#);
    insta::assert_snapshot!(refused("A = 1\nb = 2\n", "toolsets/index:Gone"), @r"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: AttributeError: the module has no `Gone`; it has: A, b
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(refused("tools = [{'name': 'a'}]", "toolsets/index"), @r"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: TypeError: a tool needs a `name` and a function `execute`: {'name': 'a'}
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    let function = refused("def add(args): return 1\ntools = [add]", "toolsets/index");
    assert!(
        function.contains("a function alone is no tool: write {'name': 'add'"),
        "{function}"
    );
    insta::assert_snapshot!(refused("tools = 3", "toolsets/index"), @r"
    invalid_toolset: Toolset `toolsets/index.py` cannot be loaded: TypeError: the export is no list of tools, and has no `tools`
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(refused("import os\nos._exit(3)\n", "toolsets/index"), @r"
    toolset_failed: Toolset `toolsets/index.py` ended with code 3 before it answered `initialize`
    hint: Try again, which restarts it; its last output may say why
    ");
}

#[test]
fn javascript_class_provides_tools() {
    needs_sandbox!();
    let mut toolset = load(&JAVASCRIPT_FILES, "toolsets/index:HelloToolset").unwrap();
    let toolset = &mut *toolset;
    insta::assert_snapshot!(show_tools(toolset), @r#"
    greet: Greets someone
      {"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}
    fail: 
      {"properties":{},"type":"object"}
    count: 
      {"properties":{"n":{"type":"number"}},"type":"object"}
    "#);
    insta::assert_snapshot!(show_call(toolset, "greet", &json!({ "name": "Ada ü\n\u{2028}" })), @r#"ok: "Hello Ada ü\n\u{2028}", title "Greeted", metadata {"skill":"/skill"}"#);
    insta::assert_snapshot!(show_call(toolset, "fail", &json!({})), @r#"failed: "Error: no such thing", title "", metadata {}"#);
    show_call(toolset, "count", &json!({ "n": 4 }));
    insta::assert_snapshot!(show_call(toolset, "count", &json!({})), @r#"ok: "5", title "", metadata {}"#);
}

#[test]
fn javascript_tools_may_be_a_list_or_an_object() {
    needs_sandbox!();
    for reference in [
        "toolsets/index",
        "toolsets/index:Keyed",
        "toolsets/index:greet",
    ] {
        let mut toolset = load(&JAVASCRIPT_FILES, reference).unwrap();
        let answer = toolset.call("greet", &json!({ "name": "you" })).unwrap();
        assert_eq!(answer.output, "Hello you", "{reference}");
    }
}

#[test]
fn javascript_import_failure_says_where() {
    needs_sandbox!();
    let refused = |text, name| refusal(&[("toolsets/index.mjs", text)], name);
    insta::assert_snapshot!(refused("import 'not-installed';\n", "toolsets/index"), @r"
    invalid_toolset: Toolset `toolsets/index.mjs` cannot be loaded: Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'not-installed' imported from /skill/toolsets/index.mjs
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(refused("export const a = ;\n", "toolsets/index"), @r"
    invalid_toolset: Toolset `toolsets/index.mjs` cannot be loaded: /skill/toolsets/index.mjs:1 / export const a = ; / ^ / SyntaxError: Unexpected token ';'
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(refused("export const A = 1, b = 2;\n", "toolsets/index:Gone"), @r"
    invalid_toolset: Toolset `toolsets/index.mjs` cannot be loaded: Error: the module has no export `Gone`; it has: A, b
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(refused("export default 3;\n", "toolsets/index"), @r"
    invalid_toolset: Toolset `toolsets/index.mjs` cannot be loaded: TypeError: the export is no list of tools, and has no `tools`
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
    insta::assert_snapshot!(refused("export default [{name: 'a', parameters: {_def: 1}, execute() {}}];\n", "toolsets/index"), @r"
    invalid_toolset: Toolset `toolsets/index.mjs` cannot be loaded: TypeError: `parameters` of `a` is neither a JSON schema nor has `toJSONSchema`
    hint: Correct the file; `skillfold new NAME --toolset` writes one to compare it with
    ");
}

const AGENT_TOOLS: &str = r#"
import { Tool } from "@agent/tools";
export default [Tool.define("greet", { description: "Greets", execute: () => "Hello" })];
"#;

#[test]
fn every_javascript_toolset_can_import_agent_tools() {
    needs_sandbox!();
    for package in ["{}", r#"{"type": "module"}"#] {
        let files = [
            ("package.json", package),
            ("toolsets/index.mjs", AGENT_TOOLS),
        ];
        let mut toolset = load(&files, "toolsets/index").unwrap();
        let call = show_call(&mut *toolset, "greet", &json!({}));
        assert_eq!(call, r#"ok: "Hello", title "", metadata {}"#);
    }
}

#[test]
fn agent_tools_in_the_skill_take_precedence_over_ours() {
    needs_sandbox!();
    let index = ("toolsets/index.mjs", AGENT_TOOLS);
    let own = "exports.Tool = { define: () => ({ name: 'own', execute: () => 'Own' }) };";
    let files = [index, ("node_modules/@agent/tools/index.js", own)];
    let mut toolset = load(&files, "toolsets/index").unwrap();
    let call = show_call(&mut *toolset, "own", &json!({}));
    assert_eq!(call, r#"ok: "Own", title "", metadata {}"#);
    for taken in [
        "node_modules",
        "node_modules/@agent",
        "node_modules/@agent/tools/other.js",
    ] {
        let refused = refusal(&[index, (taken, "")], "toolsets/index");
        assert!(refused.contains("Cannot find package '"), "{refused}");
    }
}

/// A typical TypeScript toolset, with types that are stripped when it runs.
const TYPESCRIPT: &str = r#"
interface Args { input: string }
const myTool = {
  name: "my-tool",
  description: "Does something useful",
  parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
  execute: async (args: Args, ctx: unknown) => ({ title: "Completed", metadata: {}, output: `Processed: ${args.input}` }),
};
export const MyToolset = [myTool];
"#;

#[test]
fn typescript_module_provides_tools_or_says_how_to_run_it() {
    needs_sandbox!();
    let files = [("toolsets/index.ts", TYPESCRIPT)];
    let node = Command::new("/usr/bin/node")
        .args(["--experimental-strip-types", "-e", ""])
        .output();
    if node.is_ok_and(|output| output.status.success()) {
        let mut toolset = load(&files, "toolsets/index:MyToolset").unwrap();
        let answer = toolset.call("my-tool", &json!({ "input": "x" })).unwrap();
        assert_eq!(
            (&*answer.title, &*answer.output),
            ("Completed", "Processed: x")
        );
    } else {
        let refused = refusal(&files, "toolsets/index:MyToolset");
        assert!(refused.contains("Bun, Deno, or Node 22.6"), "{refused}");
    }
}

/// Set `TYPESCRIPT_FOLDER` to the folder of Node 22.6 or newer, Deno or Bun.
#[test]
#[ignore = "needs programs that some systems do not have"]
fn node_deno_and_bun_run_typescript_and_javascript() {
    let folder = env::var_os("TYPESCRIPT_FOLDER").unwrap();
    let options = ToolsetOptions::default()
        .with_run(RunOptions::default().with_search_path([PathBuf::from(folder)]));
    let files = [("toolsets/index.ts", TYPESCRIPT)];
    let mut toolset = load_with(&files, "toolsets/index:MyToolset", &options).unwrap();
    insta::assert_snapshot!(show_call(&mut *toolset, "my-tool", &json!({ "input": "x" })), @r#"ok: "Processed: x", title "Completed", metadata {}"#);
    let mut toolset =
        load_with(&JAVASCRIPT_FILES, "toolsets/index:HelloToolset", &options).unwrap();
    for _ in 0..2 {
        insta::allow_duplicates! {
            insta::assert_snapshot!(show_call(&mut *toolset, "greet", &json!({ "name": "Ada" })), @r#"ok: "Hello Ada", title "Greeted", metadata {"skill":"/skill"}"#);
        }
    }
    insta::assert_snapshot!(show_call(&mut *toolset, "fail", &json!({})), @r#"failed: "Error: no such thing", title "", metadata {}"#);
    let files = [("a.mjs", "export const a = ;\n")];
    let error = load_with(&files, "a", &options).unwrap_err();
    assert_eq!(error.code(), "invalid_toolset", "{error}");
    println!("{error}");
}
