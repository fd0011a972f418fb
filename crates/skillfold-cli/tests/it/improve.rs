//! `improve`: requests that missed a skill become labelled requests.

use crate::command::World;

const TREE: &str = "\
//- app/README.md
//- person/.agents/skills/books/SKILL.md
---
name: books
description: Reconciles bank accounts
triggers: [bank account]
---
Do it.
";
const FILE: &str = "person/.agents/skills/books/evals/eval_queries.json";
const REQUESTS: [&str; 4] = [
    "--request",
    "Reconcile the ledger of May",
    "--request",
    "These ledgers do not balance",
];

fn improve(world: &World, more: &[&str]) -> String {
    let arguments = [&["improve", "books"], &REQUESTS[..], more].concat();
    world.run(&arguments)
}

#[test]
fn requests_are_added_once_and_tested() {
    let world = World::new(TREE);
    insta::assert_snapshot!(improve(&world, &["--yes"]), @r#"
    Terms that the name, description and triggers lack
      ledger  in 2 of 2
    --- /dev/null
    +++ ROOT/person/.agents/skills/books/evals/eval_queries.json
    @@ -0,0 +1,4 @@
    +[
    +  { "query": "Reconcile the ledger of May", "should_trigger": true },
    +  { "query": "These ledgers do not balance", "should_trigger": true }
    +]
    ! 2 requests added; try `skillfold test books`
    exit 0
    "#);
    insta::assert_snapshot!(world.read(FILE), @r#"
    [
      { "query": "Reconcile the ledger of May", "should_trigger": true },
      { "query": "These ledgers do not balance", "should_trigger": true }
    ]
    "#);
    insta::assert_snapshot!(improve(&world, &["--yes"]), @"
    Terms that the name, description and triggers lack
      ledger  in 2 of 2
    ! The skill has these requests already
    exit 0
    ");
    let text = world.read(FILE);
    world.run(&[
        "improve",
        "books",
        "--request",
        "One \"more\"  request",
        "--yes",
    ]);
    let longer = world.read(FILE);
    let start = text.trim_end().trim_end_matches(']').trim_end();
    assert!(longer.starts_with(start), "{longer}");
    assert!(world.run(&["test", "books"]).contains(" of 3 right"));
}

#[test]
fn nothing_is_written_without_consent() {
    let world = World::new(TREE);
    let shown = improve(&world, &[]);
    assert!(
        shown.contains("pass `--yes`") && shown.ends_with("exit 4\n"),
        "{shown}"
    );
    let shown = improve(&world, &["--json"]);
    assert!(shown.contains("\"written\": false"), "{shown}");
    assert!(!world.path(FILE).exists());
    let shown = world.run(&["improve", "books"]);
    assert!(
        shown.contains("--request TEXT") && shown.ends_with("exit 2\n"),
        "{shown}"
    );
}

#[test]
fn file_of_another_form_is_left_alone() {
    let world = World::new(TREE);
    let other = "{\"should_trigger\": [\"Check my bank account\"]}\n";
    world.write(&format!("//- {FILE}\n{other}"));
    improve(&world, &["--yes"]);
    assert_eq!(world.read(FILE), other);
    let new = world.read("person/.agents/skills/books/evals/trigger_queries.json");
    assert!(new.contains("Reconcile the ledger of May"), "{new}");
}

#[cfg(unix)]
#[test]
fn link_out_of_the_skill_is_refused() {
    let world = World::new(TREE);
    world.write("//- elsewhere/file\n");
    let evals = world.path("person/.agents/skills/books/evals");
    std::os::unix::fs::symlink(world.path("elsewhere"), evals).unwrap();
    let shown = improve(&world, &["--yes"]);
    assert!(shown.ends_with("exit 4\n"), "{shown}");
    assert!(!world.path("elsewhere/eval_queries.json").exists());
}

#[test]
fn untrusted_skill_is_refused() {
    let world = World::new(
        "//- app/.agents/skills/books/SKILL.md\n---\nname: books\ndescription: D\n---\nDo it.\n",
    );
    let shown = improve(&world, &["--yes"]);
    assert!(shown.ends_with("exit 4\n"), "{shown}");
}

#[test]
fn requests_that_missed_come_from_the_log() {
    let world = World::new(TREE);
    let lines = [
        r#"{"time_ms":1,"event":"prompt","client":"codex","conversation":"a","skills":0,"request":"Close the ledger"}"#,
        r#"{"time_ms":2,"event":"prompt","client":"codex","conversation":"b","skills":0,"request":"Something else"}"#,
        r#"{"time_ms":3,"event":"skill of a prompt","client":"codex","conversation":"a","skill":"books","outcome":"missed"}"#,
        r#"{"time_ms":4,"event":"prompt","client":"codex","conversation":"a","skills":0,"request":"thanks"}"#,
        r#"{"time_ms":5,"event":"skill of a prompt","client":"codex","conversation":"b","skill":"books","outcome":"ignored"}"#,
    ];
    let lines = lines.join("\n");
    world.write(&format!(
        "//- person/.local/state/skillfold/hook.jsonl\n{lines}\n"
    ));
    insta::assert_snapshot!(world.run(&["improve", "books", "--yes"]), @r#"
    Terms that the name, description and triggers lack
      ledger  in 1 of 1
    --- /dev/null
    +++ ROOT/person/.agents/skills/books/evals/eval_queries.json
    @@ -0,0 +1,3 @@
    +[
    +  { "query": "Close the ledger", "should_trigger": true }
    +]
    ! 1 request from the hook's log
    ! 1 request added; try `skillfold test books`
    exit 0
    "#);
}
