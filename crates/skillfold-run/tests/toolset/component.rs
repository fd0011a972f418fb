//! WebAssembly components for tests, in text format.

use std::sync::Arc;

use serde_json::json;
use skillfold_run::toolset::{Toolset, ToolsetOptions, load_toolset};
use skillfold_run::{RunError, SkillCopy};

use crate::skill::{show_call, show_error};

/// A component with the tool `run`. Each part is core module text, and can be replaced with hostile text.
pub(crate) struct Parts<'a> {
    /// Imports besides the log.
    pub(crate) imports: &'a str,
    /// The size of the memory in pages.
    pub(crate) memory: &'a str,
    /// Handles the host's allocation requests.
    pub(crate) realloc: &'a str,
    /// Functions, globals and data besides the list.
    pub(crate) items: &'a str,
    /// Returns the address of the list of tools.
    pub(crate) list: &'a str,
    /// Returns the address of the result. The arguments are at local 2, their length is local 3.
    pub(crate) call: &'a str,
    /// The result type of `list`.
    pub(crate) listed: &'a str,
    /// The exported interface.
    pub(crate) exported: &'a str,
}

/// Returns the arguments.
pub(crate) const ECHO: &str = "(i32.store (i32.const 532) (local.get 2))
    (i32.store (i32.const 536) (local.get 3))
    (i32.const 512)";

impl Default for Parts<'_> {
    fn default() -> Self {
        Self {
            imports: "",
            memory: "1",
            realloc: "(if (i32.gt_u (i32.add (global.get $next) (local.get 3)) (i32.const 60000))
                (then (global.set $next (i32.const 32768))))
              (global.get $next)
              (global.set $next (i32.add (global.get $next) (local.get 3)))",
            items: "",
            list: "(i32.const 0)",
            call: ECHO,
            listed: "list $tool",
            exported: "skillfold:toolset/tools@0.1.0",
        }
    }
}

impl Parts<'_> {
    pub(crate) fn text(&self) -> String {
        let Self {
            imports,
            memory,
            realloc,
            items,
            list,
            call,
            listed,
            exported,
        } = self;
        format!(
            r#"(component
  (import "skillfold:toolset/logging@0.1.0" (instance $logging (export "log" (func (param "message" string)))))
  {imports}
  (core module $memory
    (memory (export "memory") {memory})
    (global $next (mut i32) (i32.const 32768))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) {realloc}))
  (core instance $memory (instantiate $memory))
  (core func $log (canon lower (func $logging "log") (memory $memory "memory")))
  (core module $main
    (import "memory" "memory" (memory 0))
    (import "logging" "log" (func $log (param i32 i32)))
    (data (i32.const 0) "\08\00\00\00\01\00\00\00")
    (data (i32.const 8) "\40\00\00\00\03\00\00\00" "\48\00\00\00\04\00\00\00" "\50\00\00\00\11\00\00\00")
    (data (i32.const 64) "run") (data (i32.const 72) "Runs") (data (i32.const 80) "{{\22type\22:\22object\22}}")
    {items}
    (func (export "list") (result i32) {list})
    (func (export "call") (param i32 i32 i32 i32) (result i32) {call}))
  (core instance $main (instantiate $main
    (with "memory" (instance $memory))
    (with "logging" (instance (export "log" (func $log))))))
  (type $tool (record (field "name" string) (field "description" string) (field "parameters" string)))
  (type $output (record (field "title" string) (field "metadata" string) (field "output" string)))
  (func $list (result ({listed})) (canon lift (core func $main "list") (memory $memory "memory")))
  (func $call (param "name" string) (param "arguments" string) (result (result $output (error string)))
    (canon lift (core func $main "call") (memory $memory "memory") (realloc (func $memory "realloc"))))
  (component $tools
    (type $tool' (record (field "name" string) (field "description" string) (field "parameters" string)))
    (type $output' (record (field "title" string) (field "metadata" string) (field "output" string)))
    (import "tool" (type $tool (eq $tool')))
    (import "output" (type $output (eq $output')))
    (import "list" (func $list (result ({listed}))))
    (import "call" (func $call (param "name" string) (param "arguments" string)
      (result (result $output (error string)))))
    (export $exported-tool "tool" (type $tool))
    (export $exported-output "output" (type $output))
    (export "list" (func $list) (func (result ({exported_list}))))
    (export "call" (func $call)
      (func (param "name" string) (param "arguments" string) (result (result $exported-output (error string))))))
  (instance $exported (instantiate $tools
    (with "tool" (type $tool)) (with "output" (type $output))
    (with "list" (func $list)) (with "call" (func $call))))
  (export "{exported}" (instance $exported)))"#,
            exported_list = listed.replace("$tool", "$exported-tool"),
        )
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        wat::parse_str(self.text()).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn load(&self, options: &ToolsetOptions) -> Result<Box<dyn Toolset>, RunError> {
        load_bytes(self.bytes(), "t", options)
    }

    /// Returns why it was not loaded.
    pub(crate) fn refusal(&self, options: &ToolsetOptions) -> String {
        show_error(&self.load(options).unwrap_err())
    }

    /// Calls the tool `run` twice.
    pub(crate) fn called_twice(&self, options: &ToolsetOptions) -> String {
        let mut toolset = self.load(options).unwrap();
        let mut call = |n| show_call(&mut *toolset, "run", &json!({ "n": n }));
        format!("{}\n{}", call(1), call(2))
    }
}

/// Loads a toolset from the file `t.wasm`.
pub(crate) fn load_bytes(
    bytes: Vec<u8>,
    reference: &str,
    options: &ToolsetOptions,
) -> Result<Box<dyn Toolset>, RunError> {
    let copy = SkillCopy::new([("t.wasm".parse().unwrap(), bytes)]).unwrap();
    load_toolset(&Arc::new(copy), &reference.parse()?, options)
}
