//! `test`

use crate::command::World;

fn world() -> World {
    World::new(
        r#"
        //- person/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes mail.
        triggers: [mail]
        ---
        Write it.
        //- person/.agents/skills/mail/evals/eval_queries.json
        [
          {"query": "Send a mail to Alice", "should_trigger": true},
          {"query": "Take a note for Bob", "should_trigger": true},
          {"query": "Post this to Bob", "should_trigger": true},
          {"query": "Is mail\nolder than the web?\u001b[31m", "should_trigger": false},
          {"query": "What is the weather?", "should_trigger": false}
        ]
        //- person/.agents/skills/notes/SKILL.md
        ---
        name: notes
        description: Takes notes.
        triggers: { keywords: [note] }
        ---
        Take it.
        //- person/.agents/skills/notes/evals/trigger-evals.json
        {"should_trigger": ["Take a note"], "should_not_trigger": ["Notes of a melody"]}
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in PDF forms.
        ---
        Fill it in.
        //- person/.agents/skills/pdf/evals/evals.json
        {"skill_name": "pdf", "evals": [{"id": 1, "prompt": "Fill in", "expected_output": "A form"}]}
        //- person/.agents/skills/plain/SKILL.md
        ---
        name: plain
        description: Ships nothing.
        ---
        Do it.
        "#,
    )
}

#[test]
fn test_reports_failed_queries_with_the_reason() {
    insta::assert_snapshot!(world().run(&["test"]), @r#"
    mail   2 of 5 right  recall 33 %, precision 50 %
        missed  "Take a note for Bob"
                none of its triggers is in the query; given instead: `notes`
        missed  "Post this to Bob"
                none of its triggers is in the query
        fired   "Is mail older than the web?\u{1b}[31m"
                trigger `mail`
    notes  2 of 2 right  recall 100 %, precision 100 %

    Confused
      `notes` was given instead of `mail`: 1 query, such as "Take a note for Bob"
    ! 2 skills, 7 queries: 4 right, 2 missed, 1 fired wrongly
    ! 2 skills have no trigger queries
    exit 1
    "#);
}

#[test]
fn at_least_option_sets_the_exit_code() {
    let world = world();
    insta::assert_snapshot!(world.run(&["test", "notes"]), @"
    notes  2 of 2 right  recall 100 %, precision 100 %
    ! 1 skill, 2 queries: 2 right
    exit 0
    ");
    assert!(
        world
            .run(&["test", "mail", "--at-least", "40"])
            .ends_with("exit 0\n")
    );
    assert!(
        world
            .run(&["test", "mail", "--at-least", "41"])
            .ends_with("exit 1\n")
    );
    assert!(
        world
            .run(&["test", "--at-least", "101"])
            .ends_with("exit 2\n")
    );
}

#[test]
fn named_skill_must_have_queries() {
    let world = world();
    insta::assert_snapshot!(world.run(&["test", "pdf"]), @r#"
    pdf  no queries
        evals/evals.json: info[SF852]: The file has no trigger queries
        hint: Add `should_trigger` to the entries that should be tested
    ! No trigger queries found. A skill keeps them in `evals/eval_queries.json`, such as `[{"query": "Fill in this form", "should_trigger": true}]`
    exit 1
    "#);
    insta::assert_snapshot!(world.run(&["test", "plain", "notes"]), @"
    notes  2 of 2 right  recall 100 %, precision 100 %
    plain  no queries
    ! 1 skill, 2 queries: 2 right
    exit 1
    ");
    insta::assert_snapshot!(world.run(&["test", "mial"]), @"
    ! error: There is no skill `mial`
    ! hint: Did you mean `mail`?
    exit 3
    ");
}

#[test]
fn without_queries_test_says_where_to_put_them() {
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(world.run(&["test"]), @r#"
    ! No trigger queries found. A skill keeps them in `evals/eval_queries.json`, such as `[{"query": "Fill in this form", "should_trigger": true}]`
    exit 0
    "#);
}

#[test]
fn untrusted_project_does_not_pass_untested() {
    let world = World::new(
        r#"
        //- app/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes mail.
        triggers: [mail]
        ---
        Write it.
        //- app/.agents/skills/mail/evals/eval_queries.json
        [{"query": "Send a mail", "should_trigger": true}]
        "#,
    );
    insta::assert_snapshot!(world.run(&["test"]), @"
    ! Nothing was tested
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 1
    ");
    insta::assert_snapshot!(world.run(&["test", "mail"]), @"
    ! error: Refused to open `mail`
    ! hint: The skill's folder is not trusted; review the skill, then trust its project with `skillfold trust`
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["test", "--trust-project", "--set", "disclosure=catalog"]), @"
    mail  1 of 1 right  recall 100 %, precision 100 %
    ! Disclosure `catalog` gives no skill by request; tested as `hybrid`
    ! 1 skill, 1 query: 1 right
    exit 0
    ");
    let json = world.run(&["test", "--json"]);
    assert!(
        json.contains("! 1 skill is withheld") && json.ends_with("exit 1\n"),
        "{json}"
    );
}

#[test]
fn long_lists_are_truncated_and_counted() {
    let world = World::new("//- app/README.md\n");
    let triggers = (0..22)
        .map(|number| format!("t{number}."))
        .collect::<Vec<_>>();
    for (number, trigger) in triggers.iter().enumerate() {
        world.write(&format!(
            "
//- person/.agents/skills/s{number}/SKILL.md
---
name: s{number}
description: One of many.
triggers: [{trigger}]
---
Do it.
"
        ));
    }
    let queries: Vec<String> = triggers[1..]
        .iter()
        .map(|one| format!("\"{one}\""))
        .collect();
    let queries = format!(
        "{{\"should_trigger\": [{}, \"t1.\", \"no\"]}}\n",
        queries.join(", ")
    );
    let file = "//- person/.agents/skills/s0/evals/triggers.json\n";
    world.write(&format!("{file}{queries}"));
    let shown = world.run(&["test"]);
    assert_eq!(shown.matches("    missed  ").count(), 20, "{shown}");
    assert!(
        shown.contains("    3 more are wrong; `--json` has them all"),
        "{shown}"
    );
    assert_eq!(
        shown.matches("was given instead of `s0`").count(),
        20,
        "{shown}"
    );
    assert!(
        shown.contains("`s1` was given instead of `s0`: 2 queries, such as \"t1.\"\n"),
        "{shown}"
    );
    assert!(
        shown.contains("  1 more pair; `--json` has them all"),
        "{shown}"
    );
}

#[test]
fn linked_or_oversized_query_files_are_reported() {
    let world = world();
    let folder = world.path("person/.agents/skills/notes/evals");
    std::fs::write(world.path("app/secret.json"), "[]").unwrap();
    std::os::unix::fs::symlink(world.path("app/secret.json"), folder.join("triggers.json"))
        .unwrap();
    std::fs::write(folder.join("eval_queries.json"), "[".repeat((1 << 20) + 1)).unwrap();
    std::fs::write(folder.join("trigger_eval.json"), b"\xff\xfe[").unwrap();
    let entry = r#"{"query": "a note", "should_trigger": true}"#;
    let many = format!("[{}]", vec![entry; 1_001].join(","));
    std::fs::write(folder.join("trigger-queries.json"), many).unwrap();
    insta::assert_snapshot!(world.run(&["test", "notes"]), @"
    notes  1000 of 1000 right  recall 100 %, precision 100 %
        evals/triggers.json: error[SF854]: Link is not followed: `evals/triggers.json`
        hint: Put the file itself into the skill, as text in UTF-8 of at most 1 MiB
        evals/eval_queries.json: error[SF854]: The file has 1048577 bytes, the limit is 1048576
        hint: Put the file itself into the skill, as text in UTF-8 of at most 1 MiB
        evals/trigger_eval.json: error[SF854]: The file is not UTF-8 text
        hint: Put the file itself into the skill, as text in UTF-8 of at most 1 MiB
        warning[SF853]: 1000 queries were run, and 3 were not
        hint: Keep those that tell most; about 20 are usual
    ! 1 skill, 1000 queries: 1000 right
    exit 1
    ");
}

#[test]
fn suggested_skill_counts_as_missed_and_is_marked_as_suggested() {
    let world = World::new(
        r#"
        //- person/.agents/skills/changelog/SKILL.md
        ---
        name: changelog
        description: Keeps the changelog. Use when users see a change, or before a release.
        ---
        Write one line in CHANGELOG.md.
        //- person/.agents/skills/changelog/evals/eval_queries.json
        [{"query": "is the changelog long", "should_trigger": true}]
        "#,
    );
    let shown = world.run(&["test"]);
    assert!(
        shown.contains("only suggested, its instructions were not given: search `"),
        "{shown}"
    );
}
