//! Scripts and tools of skills run in a sandbox, if the user has allowed exactly what runs.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::world::value;
use serde_json::{Value, json};
use skillfold::core::read::ToolCheck;
use skillfold::core::{ContextLifetime, Policy, Refusal};
use skillfold::run::Cancel;
use skillfold::store::Approval;
use skillfold::{
    Environment, Host, Session, Skills,
    scripts::{AllowedSkills, disallow_skill},
};
use tempfile::TempDir;

const SKILL: &str = "---
name: pdf
description: Fills in forms
toolsets: ['toolsets/tools.json:tools']
permissions: { env: [PDF_TOKEN], magic: true }
---
Run scripts/fill.py.
";
const SCRIPT: &str = "import os, sys
print('args', sys.argv[1:], 'token', os.environ.get('PDF_TOKEN'), 'home', os.environ.get('HOME'))
print('input', sys.stdin.read())
";
const TOOLS: &str = r#"{"tools": [{
    "name": "count",
    "description": "Counts letters.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "script": "scripts/count.py"
}]}"#;
const COUNT: &str = "import json, sys\nprint(len(json.load(sys.stdin)['text']))\n";

struct User {
    home: TempDir,
}

impl User {
    fn new() -> Self {
        let user = Self {
            home: tempfile::tempdir().unwrap(),
        };
        user.write("SKILL.md", SKILL);
        user.write("scripts/fill.py", SCRIPT);
        user.write("scripts/count.py", COUNT);
        user.write("toolsets/tools.json", TOOLS);
        user
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.home.path().join(".agents/skills/pdf").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn environment(&self) -> Environment {
        let work = self.home.path().join("work");
        fs::create_dir_all(&work).unwrap();
        Environment::new(work)
            .home(self.home.path())
            .variable("USER", "anna")
            .variable("PDF_TOKEN", "t0ken")
            .variable("OTHER_TOKEN", "secret")
    }

    fn skills(&self, scripts: &str) -> Skills {
        let host = Host::new(self.environment()).set("scripts", scripts);
        host.discover().unwrap().skills
    }
}

fn allow(skills: &Skills) {
    let skill = skills.runnable("pdf").unwrap();
    let approval = Approval::by_host("anna");
    skills.allow(&skill, &approval).unwrap();
}

fn session(skills: &Skills) -> Session {
    skills.session(Policy::default(), ContextLifetime::History)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the arguments are written at the call"
)]
fn call(session: &mut Session, tool: &str, arguments: Value) -> String {
    session.call(tool, &arguments.to_string()).text()
}

#[test]
fn model_runs_a_script_only_if_host_and_user_allow_it() {
    needs_sandbox!();
    let user = User::new();
    let run = json!({ "skill_id": "pdf", "script": "scripts/fill.py", "arguments": ["a b", "$(id)"], "input": "text" });
    let off = user.skills("off");
    let names = |skills: &Skills| {
        let tools = session(skills).tools().into_iter();
        tools.map(|tool| tool.name).collect::<Vec<_>>().join(" ")
    };
    assert!(!names(&off).contains("run_skill_script"));
    let answer = call(&mut session(&off), "run_skill_script", run.clone());
    assert!(answer.starts_with("There is no tool"), "{answer}");

    let on = user.skills("on");
    assert!(names(&on).ends_with("run_skill_script call_skill_tool"));
    let answer = session(&on).call("run_skill_script", &run.to_string());
    assert!(answer.is_error());
    insta::assert_snapshot!(answer.text(), @"Refused to run `pdf`: it is not allowed, or changed since it was allowed: `skillfold allow pdf`. In a terminal, this command shows what the skill would run, and asks the user.");
    assert_eq!(value(&answer)["refusal"], "not_allowed");

    allow(&on);
    insta::assert_snapshot!(call(&mut session(&on), "run_skill_script", run), @"
    args ['a b', '$(id)'] token t0ken home /tmp
    input text
    ");
}

#[test]
fn changing_any_file_revokes_the_permission_to_run() {
    let user = User::new();
    let skills = user.skills("on");
    allow(&skills);
    assert!(skills.runnable("pdf").unwrap().allowed().is_some());
    for (path, text) in [
        ("scripts/fill.py", "print('evil')\n"),
        ("references/notes.md", "new"),
        ("SKILL.md", "---\nname: pdf\ndescription: More\n---\n"),
    ] {
        let user = User::new();
        let skills = user.skills("on");
        allow(&skills);
        user.write(path, text);
        let error = skills.runnable("pdf").unwrap().check_allowed().unwrap_err();
        assert_eq!(error.refusal(), Some(Refusal::NotAllowed), "{path}");
    }
    // What comes back is what was looked at.
    user.write("scripts/fill.py", "print('evil')\n");
    assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    user.write("scripts/fill.py", SCRIPT);
    assert!(skills.runnable("pdf").unwrap().allowed().is_some());

    let folder = skills.runnable("pdf").unwrap().folder().unwrap().to_owned();
    disallow_skill(&user.environment(), &folder).unwrap();
    assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    let log = skills.store().unwrap().log().unwrap();
    assert_eq!(log.damage, None);
    let events = serde_json::to_string(&log.records).unwrap();
    assert!(events.contains("allow") && events.contains("the variable PDF_TOKEN"));
}

#[test]
fn script_runs_from_the_verified_copy() {
    needs_sandbox!();
    let user = User::new();
    let skills = user.skills("on");
    allow(&skills);
    let skill = skills.runnable("pdf").unwrap();
    user.write("scripts/count.py", "print('swapped')\n");
    let script = "scripts/count.py".parse().unwrap();
    let run = skill.run(&script).unwrap();
    let outcome = run
        .with_input(b"{\"text\": \"four\"}".to_vec())
        .run()
        .unwrap();
    assert_eq!(outcome.stdout_text(), "4\n");
}

#[test]
fn tools_of_a_loaded_skill_can_be_called_by_both_names() {
    needs_sandbox!();
    let user = User::new();
    let skills = user.skills("on");
    let mut conversation = session(&skills);
    let loaded = call(
        &mut conversation,
        "load_skill",
        json!({ "skill_id": "pdf" }),
    );
    assert!(!loaded.contains("call_skill_tool"), "{loaded}");
    assert!(conversation.skill_tools().is_empty());

    allow(&skills);
    let mut conversation = session(&skills);
    assert!(conversation.skill_tools().is_empty(), "nothing is loaded");
    let loaded = call(
        &mut conversation,
        "load_skill",
        json!({ "skill_id": "pdf" }),
    );
    let notes = loaded
        .rsplit_once("</skill_context>")
        .map_or(&*loaded, |it| it.1);
    insta::assert_snapshot!(notes.trim(), @r#"
    `run_skill_script` runs these scripts of the skill: scripts/count.py, scripts/fill.py.
    `call_skill_tool` calls its tool `count`: Counts letters. Arguments: {"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}
    "#);
    let tools = conversation.skill_tools();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].name, "pdf__count");
    let schema = serde_json::to_value(&tools[0].input_schema).unwrap();
    assert_eq!(schema["required"], json!(["text"]));
    let arguments = json!({ "text": "four" });
    assert_eq!(
        call(&mut conversation, "pdf__count", arguments.clone()).trim(),
        "4"
    );
    let by_one = json!({ "skill_id": "pdf", "tool": "count", "arguments": arguments });
    assert_eq!(
        call(&mut conversation, "call_skill_tool", by_one).trim(),
        "4"
    );
    let wrong = conversation.call("pdf__count", &json!({}).to_string());
    assert!(wrong.is_error());
    insta::assert_snapshot!(wrong.text(), @"Tool `count`: the argument `text` is missing. Call it again with arguments that fit its schema.");
    let unknown = json!({ "skill_id": "pdf", "tool": "sum" });
    insta::assert_snapshot!(call(&mut conversation, "call_skill_tool", unknown), @"Skill `pdf` has no tool `sum`. Call one of these: count.");

    // Another conversation has not loaded it.
    let mut other = session(&skills);
    assert!(call(&mut other, "pdf__count", json!({ "text": "x" })).starts_with("There is no tool"));
}

#[test]
fn script_failure_is_an_answer_with_the_reason() {
    needs_sandbox!();
    let user = User::new();
    user.write(
        "scripts/fail.py",
        "import sys; print('half'); sys.exit('no such form')\n",
    );
    user.write("scripts/loud.py", "while True: print('x' * 10000)\n");
    let skills = user.skills("on");
    allow(&skills);
    let mut conversation = session(&skills);
    let mut run = |script: &str| {
        let answer = conversation.call(
            "run_skill_script",
            &json!({ "skill_id": "pdf", "script": script }).to_string(),
        );
        assert!(answer.is_error(), "{script}");
        (answer.text(), value(&answer))
    };
    insta::assert_snapshot!(run("scripts/fail.py").0, @r"
    half
    [stderr]
    no such form
    [The script failed with exit code 1]
    ");
    let (text, value) = run("scripts/loud.py");
    assert!(text.ends_with("[The script was stopped: output_too_large]"));
    assert_eq!(value["result"], "output_too_large");
    insta::assert_snapshot!(run("scripts/nothing.py").0, @"The skill has no file `scripts/nothing.py`. Check the path against the list of the skill's scripts.");
    insta::assert_snapshot!(run("../../evil.sh").0, @"Invalid `../../evil.sh`: It is not a path inside the skill. Correct it and try again.");
    insta::assert_snapshot!(run("SKILL.md").0, @"Nothing is known to run `SKILL.md`. Add a first line such as `#!/usr/bin/env python3`, or a known extension.");
}

#[test]
fn skill_gets_no_more_than_the_permissions_shown_to_the_user() {
    let user = User::new();
    let skills = user.skills("on");
    let skill = skills.runnable("pdf").unwrap();
    insta::assert_snapshot!(skill.asked().lines().join("\n"), @"the variable PDF_TOKEN");
    assert_eq!(skill.asked().unknown, ["magic"]);
    user.write("SKILL.md", "---\nname: pdf\ndescription: d\npermissions:\n  network: [api.example.com]\n  read: [~/in, /data]\n  write: ['~/out']\n---\n");
    let skill = skills.runnable("pdf").unwrap();
    insta::assert_snapshot!(skill.asked().lines().join("\n"), @"
    network access to api.example.com
    read access to /data, which does not exist yet, below /
    read access to ~/in, which does not exist yet, below ~
    write access to ~/out, to be created as a folder below ~
    ");
    for other in [
        "read-only",
        "[exec: why, network]",
        "{network: false}",
        "{network: no}",
        "{read: [notes, .], write: ../out}",
        "{read: [~cache, ~/./a, ~//a, /a/../b, ~root/x], write: [~/.., /./a]}",
    ] {
        user.write(
            "SKILL.md",
            &format!("---\nname: pdf\ndescription: d\npermissions: {other}\n---\n"),
        );
        assert!(
            skills.runnable("pdf").unwrap().asked().is_empty(),
            "{other}"
        );
    }
}

#[test]
fn allow_list_writable_by_others_allows_nothing() {
    let user = User::new();
    let skills = user.skills("on");
    allow(&skills);
    let file = user.environment().allowed_skills().unwrap();
    assert_eq!(AllowedSkills::load(&user.environment()).skills.len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        let list = AllowedSkills::load(&user.environment());
        assert_eq!((list.skills.len(), list.findings.len()), (0, 1));
        assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    }
}

#[test]
fn host_can_enforce_allowed_tools() {
    let user = User::new();
    let allowed = "---\nname: pdf\ndescription: d\nallowed-tools: Read Bash(git:*)\n---\n";
    user.write("SKILL.md", allowed);
    let skills = user.skills("off");
    let skill = skills.get("pdf").unwrap();
    let entry = skill.entry();
    let check = |tool| entry.manifest().check_tool(tool);
    assert_eq!(check("Read"), ToolCheck::Allowed);
    assert_eq!(check("Bash"), ToolCheck::Conditional(vec!["git:*"]));
    assert_eq!(check("Write"), ToolCheck::Refused);
    let check_use = |input| entry.manifest().check_tool_use("Bash", input);
    assert_eq!(check_use("git log"), ToolCheck::Allowed);
    assert_eq!(check_use("git log; rm -r ."), ToolCheck::Refused);
    // A skill that lists nothing forbids nothing.
    user.write("SKILL.md", SKILL);
    skills.refresh().unwrap();
    let skill = skills.get("pdf").unwrap();
    assert_eq!(
        skill.entry().manifest().check_tool("Write"),
        ToolCheck::Unlisted
    );
}

#[test]
fn unrecognized_entry_allows_nothing_and_is_reported() {
    let user = User::new();
    let skills = user.skills("on");
    allow(&skills);
    let file = user.environment().allowed_skills().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let digest = skills.runnable("pdf").unwrap().digest().to_string();
    let damaged = [
        text.replace(&digest, "sha256:12"),
        text.replace("tools = '[{", "tools = '[{\"more\": 1, "),
        text.replace("tools = '[{", "tools = '{"),
        format!("{text}more = 1\n"),
    ];
    for text in damaged {
        fs::write(&file, &text).unwrap();
        let allowed = AllowedSkills::load(&user.environment());
        assert_eq!(
            (allowed.skills.len(), allowed.findings.len()),
            (0, 1),
            "{text}"
        );
        assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    }
}

#[test]
fn script_failure_names_its_missing_packages() {
    needs_sandbox!();
    let user = User::new();
    let script =
        "# /// script\n# dependencies = ['missing-package>=2']\n# ///\nimport missing_package\n";
    user.write("scripts/fill.py", script);
    let skills = user.skills("on");
    allow(&skills);
    let run = json!({ "skill_id": "pdf", "script": "scripts/fill.py" });
    let answer = call(&mut session(&skills), "run_skill_script", run);
    let last: Vec<&str> = answer.lines().rev().take(2).collect();
    insta::assert_snapshot!(last.join("\n"), @"
[The script's packages are not installed: missing-package>=2. The user can install them with `skillfold run --prepare`]
[The script failed with exit code 1]
");
}

#[test]
fn toolset_load_failure_says_how_to_install_its_packages() {
    let user = User::new();
    user.write("toolsets/index.mjs", "import 'missing-package';\n");
    user.write(
        "SKILL.md",
        &SKILL.replace("tools.json:tools", "index:tools"),
    );
    let skills = user.skills("on");
    let skill = skills.runnable("pdf").unwrap();
    let refused = skills.allow(&skill, &Approval::by_host("anna"));
    insta::assert_snapshot!(refused.unwrap_err().hint(), @"Its packages are not installed: missing-package@latest; `skillfold run pdf --prepare` installs them");
}

#[test]
fn client_can_allow_a_skill_only_if_the_user_enabled_client_approval() {
    needs_sandbox!();
    let user = User::new();
    let skills = user.skills("on");
    let skill = skills.runnable("pdf").unwrap();
    insta::assert_snapshot!(skill.question().unwrap(), @"
Let `pdf` run in a sandbox until it changes?
It asks for the variable PDF_TOKEN.
Runs: scripts/count.py, scripts/fill.py, toolsets/tools.json:tools
");
    for number in 0..3 {
        let script = format!("scripts/more-of-the-same-{number}.py");
        user.write(&script, "print(1)\n");
    }
    let question = skills.runnable("pdf").unwrap().question().unwrap();
    insta::assert_snapshot!(question.lines().last().unwrap(), @"Runs: scripts/count.py, scripts/fill.py, 4 more");
    let skill = skills.runnable("pdf").unwrap();
    let by_client = || skills.allow(&skill, &Approval::by_client("editor"));
    let refused = by_client().unwrap_err();
    assert_eq!(refused.failure().refusal, Some("approval"));
    assert!(!skills.clients_may_ask());
    // Nor does a client decide that it may ask.
    skills
        .set_client_approval(true, &Approval::by_client("editor"))
        .unwrap_err();
    assert!(!skills.clients_may_ask());

    let anna = Approval::at_terminal("anna");
    skills.set_client_approval(true, &anna).unwrap();
    assert!(skills.clients_may_ask());
    by_client().unwrap();
    assert!(skills.runnable("pdf").unwrap().allowed().is_some());
    let log = fs::read_to_string(
        user.environment()
            .data_folder()
            .unwrap()
            .join("audit.jsonl"),
    );
    assert!(log.unwrap().contains(r#""by":"editor","how":"client""#));

    skills.set_client_approval(false, &anna).unwrap();
    by_client().unwrap_err();
    let strict = Host::new(user.environment())
        .set("approval_requires", "passphrase")
        .discover()
        .unwrap()
        .skills;
    skills.set_client_approval(true, &anna).unwrap();
    strict
        .allow(&skill, &Approval::by_client("editor"))
        .unwrap_err();
}

#[test]
fn cancelled_call_ends_and_the_next_one_works() {
    needs_sandbox!();
    let user = User::new();
    user.write("scripts/fill.py", "import time\ntime.sleep(50)\n");
    user.write(
        "SKILL.md",
        &SKILL.replace("tools.json:tools", "tools.py:tools"),
    );
    user.write(
        "toolsets/tools.py",
        "import time\ntools = [{'name': 'wait', 'description': 'Waits.', 'parameters': {'type': 'object'}, 'execute': lambda args, ctx: time.sleep(args['seconds']) or 'waited'}]\n",
    );
    let skills = user.skills("on");
    allow(&skills);
    let cancelled = |tool: &str, arguments: Value| {
        let cancel = Cancel::default();
        let mut session = session(&skills).with_cancel(cancel.clone());
        let started = Instant::now();
        let ender = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            cancel.cancel();
        });
        let answer = session.call(tool, &arguments.to_string());
        ender.join().unwrap();
        assert!(started.elapsed() < Duration::from_secs(30));
        assert!(answer.is_error());
        answer.text()
    };
    let script = json!({ "skill_id": "pdf", "script": "scripts/fill.py" });
    insta::assert_snapshot!(cancelled("run_skill_script", script), @"[The script was stopped: cancelled]");
    let wait = |seconds: u32| json!({ "skill_id": "pdf", "tool": "wait", "arguments": { "seconds": seconds } });
    insta::assert_snapshot!(cancelled("call_skill_tool", wait(50)), @"Toolset `toolsets/tools.py` was cancelled. Call it again if you still need it.");
    assert_eq!(
        call(&mut session(&skills), "call_skill_tool", wait(0)),
        "waited"
    );
}
