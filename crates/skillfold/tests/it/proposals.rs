//! A model proposes changes of skills by its tools, and sees nothing of them until a person approves.

#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;

use serde_json::json;
use skillfold::core::{ContextLifetime, ErrorKind, Policy};
use skillfold::store::{Approval, Author};
use skillfold::{Environment, Host, Session, Skills};
use tempfile::TempDir;

use crate::counting::{Asked, Counting};

const PDF: &str = "---\nname: pdf\ndescription: Fills in forms\nversion: 1.2.0\ntriggers: [tax form]\n---\nUse pdftk.\n";
const QUERIES: &str = r#"[
    {"query": "Fill in the tax form", "should_trigger": true},
    {"query": "Sign this contract", "should_trigger": true},
    {"query": "What is 2 + 2?", "should_trigger": false}
]"#;

struct User {
    home: TempDir,
    skills: Skills,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".agents/skills/pdf");
        fs::create_dir_all(folder.join("evals")).unwrap();
        fs::write(folder.join("SKILL.md"), PDF).unwrap();
        fs::write(folder.join("evals/eval_queries.json"), QUERIES).unwrap();
        let skills = Self::discover(&home, "on");
        Self { home, skills }
    }

    fn discover(home: &TempDir, proposals: &str) -> Skills {
        let work = home.path().join("work");
        fs::create_dir_all(&work).unwrap();
        let environment = Environment::new(work)
            .home(home.path())
            .variable("USER", "anna");
        let host = Host::new(environment).set("proposals", proposals);
        host.discover().unwrap().skills
    }

    fn session(&self) -> Session {
        let session = self
            .skills
            .session(Policy::default(), ContextLifetime::History);
        session.with_author(Author::named("claude-code"))
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "the arguments are written at the call"
    )]
    fn call(&self, tool: &str, arguments: serde_json::Value) -> String {
        let answer = self.session().call(tool, &arguments.to_string());
        let home = self.home.path().to_str().unwrap();
        let text = answer.text().replace(home, "HOME");
        // The time in the name of the proposal.
        let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
        match text.split_once("-202") {
            Some((before, after)) => {
                let time: String = after.chars().take(13).map(digits).collect();
                format!("{before}-000{time}{}", &after[13..])
            }
            None => text,
        }
    }

    fn propose(&self, diff: &str) -> String {
        let arguments =
            json!({ "skill_id": "pdf", "diff": diff, "justification": "pdftk is gone" });
        self.call("propose_skill_update", arguments)
    }
}

#[test]
fn proposal_tools_are_opt_in() {
    let user = User::new();
    let names = |skills: &Skills| {
        let session = skills.session(Policy::default(), ContextLifetime::History);
        let tools = session.tools().into_iter();
        tools.map(|tool| tool.name).collect::<Vec<_>>().join(" ")
    };
    assert!(names(&user.skills).ends_with("propose_skill_update propose_new_skill"));
    let off = User::discover(&user.home, "off");
    assert!(!names(&off).contains("propose"));
    let mut session = off.session(Policy::default(), ContextLifetime::History);
    let answer = session.call("propose_skill_update", &json!({}).to_string());
    assert!(answer.text().starts_with("There is no tool"));
}

#[test]
fn model_proposes_a_change_and_sees_its_effect() {
    let user = User::new();
    let answer = user.propose(
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -3,7 +3,8 @@\n version: 1.2.0\n-triggers: [tax form]\n+triggers: [sign]\n+allowed-tools: Bash(qpdf:*)\n ---\n-Use pdftk.\n+Use qpdf.\n",
    );
    insta::assert_snapshot!(answer, @r#"
    Proposed as `pdf-00000000T000000Z`. It is pending review; go on without it.
    - Line 3: the hunk header counts 7 old and 8 new lines, there are 4 and 5
    - Line 3: the header says line 3, the lines are at line 4 of `SKILL.md`
    - Wants more tools: Bash(qpdf:*)
    - The triggers change
    - Now not chosen for "Fill in the tax form": worse
    - Now chosen for "Sign this contract": better
    - Tokens of the description: 4 as before
    - Tokens of the instructions: 4 as before
    - Suggested version bump: major to 2.0.0 (`allowed-tools` gains `Bash(qpdf:*)`)
    "#);
    let file = user.home.path().join(".agents/skills/pdf/SKILL.md");
    assert_eq!(fs::read_to_string(file).unwrap(), PDF);
}

#[test]
fn change_that_breaks_the_skill_is_refused() {
    let user = User::new();
    let answer = user.propose(
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,4 +1,3 @@\n ---\n name: pdf\n-description: Fills in forms\n version: 1.2.0\n",
    );
    insta::assert_snapshot!(answer, @"Invalid `pdf`: The skill would have an error: Skill has no `description`. Correct it and try again.");
    insta::assert_snapshot!(user.propose("make it better"), @"Invalid `diff`: there is no unified diff in it; start with the lines `--- a/SKILL.md` and `+++ b/SKILL.md`, then write for each place a line such as `@@ -12,3 +12,4 @@` and below it unchanged lines after a space, removed lines after `-` and added lines after `+`. Correct it and try again.");
    assert!(
        user.skills
            .store()
            .unwrap()
            .proposals()
            .unwrap()
            .waiting
            .is_empty()
    );
}

#[test]
fn proposed_skill_is_hidden_from_models_until_approved() {
    let user = User::new();
    let content = "---\nname: csv\ndescription: Reads tables\n---\nUse csvkit.\n";
    let arguments =
        json!({ "skill_id": "csv", "content": content, "justification": "asked for twice" });
    insta::assert_snapshot!(user.call("propose_new_skill", arguments.clone()), @r"
    Proposed as `csv-00000000T000000Z`. It is pending review; go on without it.
    - Tokens of the description: 3
    - Tokens of the instructions: 4
    ");
    user.skills.refresh().unwrap();
    assert!(user.skills.catalog().get("csv").is_none());
    assert!(
        user.call("load_skill", json!({ "skill_id": "csv" }))
            .contains("There is no skill")
    );
    let store = user.skills.store().unwrap();
    let proposal = store.proposals().unwrap().waiting.remove(0).proposal;
    let approval = Approval::by_host("release-bot");
    store
        .approve(proposal.digest, proposal.base, &approval, user.skills.now())
        .unwrap();
    user.skills.refresh().unwrap();
    assert!(
        user.call("load_skill", json!({ "skill_id": "csv" }))
            .contains("Use csvkit.")
    );
    let again = user.call("propose_new_skill", arguments);
    assert!(again.contains("There is a skill `csv`"), "{again}");
    let invalid = json!({ "skill_id": "../csv", "content": content, "justification": "x" });
    assert!(user.call("propose_new_skill", invalid).contains("slash"));
}

#[test]
fn proposing_a_new_skill_does_not_reveal_a_hidden_one() {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let skill =
        |name: &str, more: &str| format!("---\nname: {name}\ndescription: d\n{more}---\nx\n");
    let hidden = ["people-1", "switch-1", "broken-1", "strange-1"];
    write("work/.git/HEAD", "");
    write(
        ".agents/skills/people-1/SKILL.md",
        &skill("people-1", "disable-model-invocation: true\n"),
    );
    write(".agents/skills/switch-1/SKILL.md", &skill("switch-1", ""));
    write(".agents/skills/broken-1/SKILL.md", "\0 is not text\n");
    write(
        "work/.agents/skills/strange-1/SKILL.md",
        &skill("strange-1", ""),
    );
    write(
        ".config/skillfold/config.toml",
        "disable = [\"switch-1\"]\n",
    );
    let user = User {
        skills: User::discover(&home, "on"),
        home,
    };
    let propose = |name: &str| {
        let arguments =
            json!({ "skill_id": name, "content": skill(name, ""), "justification": "j" });
        user.call("propose_new_skill", arguments)
            .replace(name, "ID")
    };
    for name in hidden {
        let absent = name.replace('1', "2");
        let answer = propose(name);
        assert!(answer.starts_with("Proposed as"), "{name}: {answer}");
        assert_eq!(answer, propose(&absent), "{name}");
        assert_eq!(propose(name), propose(&absent), "{name}");
    }
    // The user is told when they decide, and the skill stays as it is.
    let store = user.skills.store().unwrap();
    let waiting = store.proposals().unwrap().waiting;
    let proposal = &waiting
        .iter()
        .find(|it| it.proposal.skill == "people-1")
        .unwrap()
        .proposal;
    let approval = Approval::at_terminal("anna");
    let error = store
        .approve(proposal.digest, proposal.base, &approval, user.skills.now())
        .unwrap_err();
    assert!(
        error.hint().starts_with("There is a skill in its folder"),
        "{}",
        error.hint()
    );
}

#[test]
fn proposal_without_labelled_requests_evaluates_no_other_skill() {
    let home = tempfile::tempdir().unwrap();
    let fields = "description: Handles things".to_owned();
    let counting = Counting::new([
        ("one", fields.clone(), String::new()),
        ("two", fields, String::new()),
    ]);
    let environment = Environment::new(home.path().join("work")).home(home.path());
    let host = Host::new(environment).bundled("counted", counting.clone());
    let skills = host.discover().unwrap().skills;
    counting.asked();
    let author = Author::named("claude-code");
    let content = "---\nname: new\ndescription: d\n---\nx\n";
    skills
        .propose_new("new", content, "j", None, author)
        .unwrap();
    assert_eq!(counting.asked(), Asked::default());
}

#[test]
fn no_tool_approves_proposals() {
    let user = User::new();
    user.propose("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -6 +6 @@\n-Use pdftk.\n+Use qpdf.\n");
    for name in [
        "approve",
        "approve_skill_update",
        "approve_proposal",
        "review",
    ] {
        let answer = user.call(name, json!({}));
        assert!(answer.starts_with("There is no tool"), "{answer}");
    }
}

#[test]
fn host_is_notified_of_a_proposal_once() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let user = User::new();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let environment = Environment::new(user.home.path().join("work")).home(user.home.path());
    let host = Host::new(environment).on_proposal(move |_, proposal| {
        assert!(proposal.text.contains("## Justification"));
        count.fetch_add(1, Ordering::Relaxed);
    });
    let skills = host.discover().unwrap().skills;
    let diff = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -6 +6 @@\n-Use pdftk.\n+Use qpdf.\n";
    for _ in 0..2 {
        let author = Author::named("agent");
        skills
            .propose_update("pdf", diff, "pdftk is gone", None, author)
            .unwrap();
    }
    assert_eq!(told.load(Ordering::Relaxed), 1);
    let nobody = skills.propose_update("pdx", diff, "why", None, Author::named("agent"));
    assert_eq!(nobody.unwrap_err().kind(), ErrorKind::NotFound);
}
