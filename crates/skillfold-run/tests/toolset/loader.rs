//! Loaders added by a host.

use std::sync::Arc;

use serde_json::{Value, json};
use skillfold_core::name::ResourcePath;
use skillfold_run::toolset::{
    ToolOutput, ToolSpec, Toolset, ToolsetLoader, ToolsetOptions, ToolsetRef,
};
use skillfold_run::{RunError, SkillCopy};

use crate::skill::{load_with, show_call, show_error};

/// Takes every file, and turns it into one tool with this name.
#[derive(Debug)]
struct OneTool(&'static str);

impl ToolsetLoader for OneTool {
    fn takes(&self, _: &SkillCopy, _: &ResourcePath, _: &ToolsetRef) -> bool {
        true
    }

    fn load(
        &self,
        copy: &Arc<SkillCopy>,
        file: &ResourcePath,
        _: &ToolsetRef,
        _: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError> {
        let length = copy.file(file).map_or(0, <[u8]>::len);
        let schema = json!({ "type": "object", "required": ["a"] });
        let tool = ToolSpec::new(self.0, format!("{file} has {length} bytes"), schema);
        Ok(Box::new(Echo(vec![tool])))
    }
}

#[derive(Debug)]
struct Echo(Vec<ToolSpec>);

impl Toolset for Echo {
    fn tools(&self) -> &[ToolSpec] {
        &self.0
    }

    fn call(&mut self, _: &str, arguments: &Value) -> Result<ToolOutput, RunError> {
        Ok(ToolOutput::new(arguments.to_string()))
    }
}

#[test]
fn host_loader_takes_precedence_and_its_calls_are_checked() {
    let options = ToolsetOptions::default().with_loader(Arc::new(OneTool("echo")));
    let mut toolset = load_with(&[("t.py", "pass")], "t:A", &options).unwrap();
    let toolset = &mut *toolset;
    assert_eq!(toolset.tools()[0].description, "t.py has 4 bytes");
    insta::assert_snapshot!(show_call(toolset, "echo", &json!({ "a": 1 })), @r#"ok: "{\"a\":1}", title "", metadata {}"#);
    insta::assert_snapshot!(show_call(toolset, "echo", &json!({})), @r"
    invalid_arguments: Tool `echo`: the argument `a` is missing
    hint: Call it again with arguments that fit its schema
    ");
    insta::assert_snapshot!(show_call(toolset, "other", &json!({})), @r"
    unknown_tool: The toolset has no tool `other`
    hint: It has: echo
    ");
}

#[test]
fn tools_of_a_host_loader_are_validated() {
    let options = ToolsetOptions::default().with_loader(Arc::new(OneTool("two words")));
    let error = load_with(&[("t.py", "pass")], "t:A", &options).unwrap_err();
    insta::assert_snapshot!(show_error(&error), @r"
    invalid_toolset: Toolset `t.py`: a tool's name has 1 to 128 visible characters and no spaces: `two words`
    hint: Correct the toolset; none of its tools can be used before that
    ");
}

#[cfg(not(feature = "wasm"))]
#[test]
fn build_without_webassembly_names_the_missing_feature() {
    insta::assert_snapshot!(crate::skill::refusal(&[("t.wasm", "")], "t"), @r"
    interpreter_missing: This build of Skillfold has no WebAssembly, which the toolset `t.wasm` needs
    hint: Build it with the feature `wasm`, such as `cargo install skillfold-cli --features wasm`; or add a loader of your own
    ");
}
