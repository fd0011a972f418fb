//! What a skill did in the project and may not do is put right, and everybody hears of it.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use skillfold::core::name::ResourcePath;
use skillfold::core::{ContextLifetime, Policy};
use skillfold::scripts::ScriptError;
use skillfold::store::Approval;
use skillfold::view::RunView;
use skillfold::{Environment, Host, Skills};
use tempfile::TempDir;

const TOOLS: &str = r#"{"tools": [{"name": "do", "description": "d", "script": "run.sh", "arguments": ["{words}"],
 "parameters": {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}}]}"#;

/// A server that does at its start what it may not.
const SERVER: &str = r#"import json, os, sys
os.mkdir(".git")
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

struct User {
    _folder: TempDir,
    home: PathBuf,
}

impl User {
    /// A user with a skill that writes to the project, and has this toolset.
    fn new(toolset: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let skill = home.join(".agents/skills/git");
        fs::create_dir_all(&skill).unwrap();
        let manifest = format!(
            "---\nname: git\ndescription: d\npermissions: {{ project: write }}\ntoolsets: [\"{toolset}\"]\n---\n"
        );
        for (name, text) in [
            ("SKILL.md", &*manifest),
            ("run.sh", "eval \"$1\""),
            ("tools.json", TOOLS),
            ("server.py", SERVER),
        ] {
            fs::write(skill.join(name), text).unwrap();
        }
        let app = home.join("app");
        fs::create_dir(&app).unwrap();
        // Root's sandbox writes to it too.
        fs::set_permissions(&app, fs::Permissions::from_mode(0o777)).unwrap();
        Self {
            _folder: folder,
            home,
        }
    }

    fn skills(&self) -> Skills {
        let environment = Environment::new(self.home.join("app")).home(&self.home);
        let host = Host::new(environment).set("scripts", "on");
        host.discover().unwrap().skills
    }

    fn hide(&self, text: &str) -> String {
        text.replace(&*self.home.to_string_lossy(), "HOME")
    }
}

fn allow(skills: &Skills) -> Result<(), ScriptError> {
    let skill = skills.runnable("git").unwrap();
    skills.allow(&skill, &Approval::by_host("anna")).map(|_| ())
}

fn answer(skills: &Skills, tool: &str, arguments: &Value) -> String {
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    session.call(tool, &arguments.to_string()).text()
}

#[test]
fn model_and_programs_hear_what_a_tool_did() {
    needs_sandbox!();
    let user = User::new("tools.json");
    let skills = user.skills();
    allow(&skills).unwrap();
    let words = "mkdir .git; echo done";
    let call = json!({ "skill_id": "git", "tool": "do", "arguments": { "words": words } });
    let told = answer(&skills, "call_skill_tool", &call);
    insta::assert_snapshot!(user.hide(&told), @"
    done
    [The script created `HOME/app/.git`, which no skill may; it is now `HOME/app/.git.removed-by-skillfold`]
    ");
    let skill = skills.runnable("git").unwrap();
    let arguments = serde_json::from_value(json!({ "words": words })).unwrap();
    let output = skills.call_skill_tool(&skill, "do", &arguments).unwrap();
    let view = RunView::tool("git", "do", &output);
    insta::assert_snapshot!(user.hide(&view.notes.join("\n")), @"The script created `HOME/app/.git`, which no skill may; it is now `HOME/app/.git.removed-by-skillfold-2`");
}

#[test]
fn what_a_toolset_did_when_it_was_started_to_allow_it_is_said() {
    needs_sandbox!();
    let user = User::new("server.py:mcp");
    let refused = allow(&user.skills()).unwrap_err();
    insta::assert_snapshot!(user.hide(&refused.to_string()), @"Toolset `server.py:mcp` did what no skill may when it was started. The script created `HOME/app/.git`, which no skill may; it is now `HOME/app/.git.removed-by-skillfold`");
    assert!(!user.home.join("app/.git").exists());
}

#[test]
fn model_gets_few_lines_however_much_was_put_right() {
    needs_sandbox!();
    let user = User::new("tools.json");
    let skills = user.skills();
    allow(&skills).unwrap();
    let words = "for i in $(seq 200); do mkdir -p $i/.git; done";
    let call = json!({ "skill_id": "git", "script": "run.sh", "arguments": [words] });
    let told = answer(&skills, "run_skill_script", &call);
    assert_eq!(told.lines().count(), 6, "{told}");
    insta::assert_snapshot!(told.lines().last().unwrap(), @"[195 more such changes were put right]");
    let skill = skills.runnable("git").unwrap();
    let script: ResourcePath = "run.sh".parse().unwrap();
    let run = skill.run(&script).unwrap().with_arguments([words]);
    let notes = skill.explain(&[], &run.run().unwrap());
    assert_eq!(notes.len(), 6);
}
