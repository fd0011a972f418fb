//! What a tool may not do in a folder that it can write is put right, and whoever called it is told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_run::toolset::{Toolset, ToolsetOptions};
use skillfold_run::{Permissions, Protected, RunError, RunOptions};
use tempfile::TempDir;

use crate::skill::load_with;

/// A server that runs the words of a call in a shell, and one line of them at its start.
const SERVER: &str = r#"#!/usr/bin/env python3
import json, subprocess, sys

subprocess.run(START, shell=True)
while line := sys.stdin.readline():
    message = json.loads(line)
    method, id = message["method"], message.get("id")
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        subprocess.run(message["params"]["arguments"]["words"], shell=True)
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"#;

const TOOLS: &str = r#"{"tools": [{"name": "do", "description": "d", "script": "do.sh", "arguments": ["{words}"],
 "parameters": {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}}]}"#;

struct Project {
    _folder: TempDir,
    path: PathBuf,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        // Root's sandbox writes to it too.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    fn load(&self, files: &[(&str, &str)], reference: &str) -> Result<Box<dyn Toolset>, RunError> {
        let names = [".git", ".claude"].map(str::to_owned);
        let permissions = Permissions::default()
            .with_write(&self.path)
            .with_protected(Protected::default().with_read_only_names(names));
        let run = RunOptions::default().with_permissions(permissions);
        let options = ToolsetOptions::default().with_run(run.with_directory(&self.path));
        load_with(files, reference, &options)
    }

    fn server(&self, start: &str) -> Result<Box<dyn Toolset>, RunError> {
        let text = SERVER.replace("START", &format!("{start:?}"));
        self.load(&[("server", &text)], "server")
    }

    fn hide(&self, text: &str) -> String {
        text.replace(&*self.path.to_string_lossy(), "PROJECT")
    }

    /// Returns what a call answered, and what was put right after it.
    fn told(&self, toolset: &mut dyn Toolset, words: &str) -> String {
        let output = toolset.call("do", &json!({ "words": words })).unwrap();
        let notes = output.corrections.notes().join("\n");
        self.hide(&format!("{}\n{notes}", output.output.trim_end()))
    }

    fn has(&self, name: &str) -> bool {
        Path::new(&self.path).join(name).exists()
    }
}

#[test]
fn tool_that_is_a_script_is_not_silent_about_what_was_put_right() {
    needs_sandbox!();
    let project = Project::new();
    let files = [("tools.json", TOOLS), ("do.sh", "eval \"$1\"")];
    let mut toolset = project.load(&files, "tools").unwrap();
    insta::assert_snapshot!(project.told(&mut *toolset, "mkdir .git .claude; echo done"), @"
    done
    The script created `PROJECT/.claude`, which no skill may; it is now `PROJECT/.claude.removed-by-skillfold`
    The script created `PROJECT/.git`, which no skill may; it is now `PROJECT/.git.removed-by-skillfold`
    ");
    insta::assert_snapshot!(project.told(&mut *toolset, "echo fine"), @"fine");
}

#[test]
fn process_of_a_tool_that_may_write_ends_before_its_answer_is_known() {
    needs_sandbox!();
    let project = Project::new();
    let mut toolset = project.server("true").unwrap();
    insta::assert_snapshot!(project.told(&mut *toolset, "mkdir .git .claude"), @"
    done
    The script created `PROJECT/.claude`, which no skill may; it is now `PROJECT/.claude.removed-by-skillfold`
    The script created `PROJECT/.git`, which no skill may; it is now `PROJECT/.git.removed-by-skillfold`
    ");
    // What it left running creates nothing afterwards.
    let told = project.told(
        &mut *toolset,
        "(while true; do mkdir .git; done) 2>/dev/null >&2 & while ! test -e .git; do :; done",
    );
    assert!(told.contains(".git.removed-by-skillfold"), "{told}");
    assert!(!project.has(".git"));
    assert_eq!(project.told(&mut *toolset, "true"), "done\n");
}

#[test]
fn what_a_toolset_did_when_it_was_started_is_said_too() {
    needs_sandbox!();
    let project = Project::new();
    let mut toolset = project.server("mkdir .git").unwrap();
    let corrections = toolset.end();
    assert!(!project.has(".git"));
    insta::assert_snapshot!(project.hide(&corrections.notes().join("\n")), @"The script created `PROJECT/.git`, which no skill may; it is now `PROJECT/.git.removed-by-skillfold`");
    assert!(toolset.end().is_empty());
    // If it does not start, that is part of the reason.
    let refused = project.server("mkdir .claude; kill -9 $PPID").unwrap_err();
    insta::assert_snapshot!(project.hide(&refused.to_string()), @"Toolset `server` ended before it answered `initialize`. The script created `PROJECT/.claude`, which no skill may; it is now `PROJECT/.claude.removed-by-skillfold`");
    assert!(!project.has(".claude"));
}
