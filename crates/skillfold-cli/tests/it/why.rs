//! `skillfold why`, and what is traced.

use crate::command::World;

const TREE: &str = "
    //- person/.agents/skills/forms/SKILL.md
    ---
    name: forms
    description: Fills in forms
    triggers:
      keywords: [fill in the form, survey]
      patterns: ['form #\\d+', '(']
    ---
    Fill it in.
    //- person/.agents/skills/mail/SKILL.md
    ---
    name: mail
    description: Writes mail
    triggers: [inbox]
    ---
    Write it.
    //- person/.agents/skills/plain/SKILL.md
    ---
    name: plain
    description: Has no triggers
    ---
    Be plain.
    //- app/.agents/skills/ours/SKILL.md
    ---
    name: ours
    description: Of the project
    triggers: [form]
    ---
    Ours.
";

#[test]
fn each_candidate_has_evidence_rank_tier_and_tokens() {
    let world = World::new(TREE);
    let one = "max_per_request=1";
    let run = world.run(&["why", "Look at my Inbox, then form #12", "--set", one]);
    insta::assert_snapshot!(without_counts(&run), @r#"
    1. forms
       a trigger matches: `form #12` at bytes 23 to 31 (by `form #\d+`)
       tier 3: its instructions are given, N tokens
    2. mail
       a trigger matches: `Inbox` at bytes 11 to 16
       tier 2: others come first; it gets a line; its instructions have N tokens
    ! hybrid mode, tier 3, N tokens (estimate)
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    "#);
}

#[test]
fn requested_skill_has_its_reason_and_a_hint() {
    let world = World::new(TREE);
    let run = |request: &str, ids: &[&str]| {
        let mut typed = vec!["why", request];
        for id in ids {
            typed.extend(["--skill", id]);
        }
        without_counts(&world.run(&typed))
    };
    insta::assert_snapshot!(run("fix the login form of our website", &["forms", "plain", "ours"]), @r"
    no skill is selected
    -  forms
       the request has neither its name nor one of its triggers, and search ranks it below the threshold
       hint: say in its description what such requests are about, or add words from the request to its triggers
       by search: 27 % (possible), needs 60 %; its name in the request would select it
       trigger `fill in the form`: `the`, `form` found, `fill`, `in` missing
       trigger `survey`: not in the request
       pattern `form #\d+`: does not match
       pattern `(`: not valid; see `skillfold doctor`
    -  plain
       the request has neither its name nor one of its triggers, and search ranks it below the threshold
       hint: say in its description what such requests are about, or add words from the request to its triggers
       by search: not found, needs 60 %; its name in the request would select it
    -  ours
       its folder is not trusted
       hint: review the skill, then trust its project with `skillfold trust`
    ! hybrid mode, N tokens (estimate)
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    ");
    insta::assert_snapshot!(run("fix the login form of our website", &[]), @"
    no skill is selected; `--skill ID` explains why one is not. The nearest:
    -  forms
       by search: 27 % (possible), needs 60 %; its name in the request would select it
    ! hybrid mode, N tokens (estimate)
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    ");
    insta::assert_snapshot!(run("fix the login form of our website", &["form"]), @"
    ! error: There is no skill `form`
    ! hint: Did you mean `forms`?
    exit 3
    ");
}

#[test]
fn unread_middle_of_a_long_request_is_reported() {
    let world = World::new(TREE);
    let request = format!("{} open my inbox", "word ".repeat(20_000));
    insta::assert_snapshot!(without_counts(&world.run(&["why", &request])), @"
    1. mail
       a trigger matches: `inbox` at bytes 100009 to 100014
       tier 3: its instructions are given, N tokens
    ! matching skipped bytes 32764 to 67249 of the request: it is too long
    ! patterns skipped bytes 4094 to 95919 of the request: it is too long
    ! hybrid mode, tier 3, N tokens (estimate)
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    ");
}

#[test]
fn trace_tokens_add_up_and_contain_no_content() {
    let world = World::new(TREE);
    let trace = world.path("trace.jsonl");
    let file = trace.to_str().unwrap();
    let mut told = 0;
    for request in ["Open my inbox, password swordfish", "What is 2+2?"] {
        let prompt = world.data(&["prompt", request, "--trace", file, "--json"]);
        let prompt: serde_json::Value = serde_json::from_str(&prompt).unwrap();
        told += prompt["tokens"].as_u64().unwrap();
    }
    let written = lines(&trace);
    let tokens = written
        .iter()
        .filter_map(|line| line["tokens"]["total"].as_u64());
    assert_eq!(tokens.sum::<u64>(), told);
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&trace.metadata().unwrap().permissions()) & 0o777,
        0o600
    );
    let text = std::fs::read_to_string(&trace).unwrap();
    assert!(
        !text.contains("swordfish") && !text.contains("Write it."),
        "{text}"
    );
    let events: Vec<_> = lines(&trace)
        .iter()
        .map(|line| line["event"].to_string())
        .collect();
    assert!(
        events.contains(&"\"skills for a request\"".to_owned()),
        "{events:?}"
    );
    let spans: Vec<_> = lines(&trace)
        .iter()
        .map(|line| line["spans"].to_string())
        .collect();
    assert!(spans.contains(&"[\"turn\"]".to_owned()), "{spans:?}");
}

#[test]
fn content_is_traced_only_if_enabled() {
    let world = World::new(TREE);
    let trace = world.path("trace.jsonl");
    let file = trace.to_str().unwrap();
    world.run(&[
        "prompt",
        "Open my inbox",
        "--trace",
        file,
        "--set",
        "log_content=true",
    ]);
    let lines = lines(&trace);
    let turn = lines
        .iter()
        .find(|line| line["tokens"].is_object())
        .unwrap();
    assert_eq!(turn["request"], "Open my inbox");
    assert!(turn["text"].as_str().unwrap().contains("Write it."));
}

#[test]
fn unwritable_trace_is_reported() {
    let world = World::new(TREE);
    if cfg!(target_os = "linux") {
        let full = world.run(&["list", "--trace", "/dev/full"]);
        assert_eq!(full.matches("the log could not be written").count(), 1);
    }
    insta::assert_snapshot!(world.run(&["list", "--trace", "no/such/folder/file"]), @"
    ! error: Could not write `no/such/folder/file`: No such file or directory (os error 2)
    ! hint: Check that the folder is there and may be written to, and that the disk has room
    exit 5
    ");
}

fn lines(file: &std::path::Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns an answer with `N` for each count of tokens: the path of the folder is part of what is counted.
fn without_counts(shown: &str) -> String {
    let mut steady = Vec::new();
    for line in shown.lines() {
        let mut words: Vec<&str> = line.split(' ').collect();
        for at in 1..words.len() {
            if words[at].starts_with("token") {
                words[at - 1] = "N";
            }
        }
        steady.push(words.join(" "));
    }
    steady.join("\n")
}

#[cfg(target_os = "linux")]
#[test]
fn trace_write_failure_sets_the_exit_code() {
    let world = World::new(TREE);
    let shown = world.run(&["list", "--trace", "/dev/full", "--json"]);
    let told: Vec<&str> = shown
        .lines()
        .skip_while(|line| !line.starts_with('!'))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    ! warning: the log could not be written: No space left on device (os error 28)
    exit 5
    ");
}

#[test]
fn advice_prefers_words_of_the_name_over_rare_description_words() {
    let world = World::new(
        "
        //- person/.agents/skills/systematic-debugging/SKILL.md
        ---
        name: systematic-debugging
        description: Use when encountering any suspicious behaviour, before proposing remedies.
        ---
        Find the cause.
        ",
    );
    let shown = world.run(&[
        "why",
        "my program misbehaves",
        "--skill",
        "systematic-debugging",
    ]);
    let mut lines = shown.lines();
    let advice = lines.find(|line| line.contains("would select it"));
    let advice = advice.unwrap();
    assert!(
        advice.ends_with("; its name in the request would select it"),
        "{advice}"
    );
    let named = world.run(&["why", "use systematic-debugging on my program"]);
    assert!(named.contains("the request names it"), "{named}");
    assert!(shown.contains("! hybrid mode, 0 tokens"), "{shown}");
}

#[test]
fn missing_request_is_an_error_without_a_terminal() {
    let world = World::new(TREE);
    let shown = world.run(&["why", "--skill", "forms"]);
    assert!(
        shown.contains("<REQUEST>") && shown.ends_with("exit 2\n"),
        "{shown}"
    );
    let shown = world.run(&["why", "--skill"]);
    assert!(
        shown.contains("--skill <ID>") && shown.ends_with("exit 2\n"),
        "{shown}"
    );
}
