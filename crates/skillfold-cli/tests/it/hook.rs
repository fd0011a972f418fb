//! `skillfold hook`, as clients call it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Output, Stdio};
use std::time::SystemTime;

use serde_json::{Value, json};
use skillfold::Environment;
use skillfold::conversation::{ConversationKey, Conversations};

use crate::command::{World, skillfold};

const TREE: &str = "\
//- app/README.md
//- person/.skillfold/skills/greet/SKILL.md
---
name: greet
description: Says hello in French
triggers: [say bonjour]
---
Say hello.
";

fn call(world: &World, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = skillfold(&world.path("app"), &world.path("person"));
    command.arg("hook").args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that does not read the event closes the pipe.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

fn prompt(session: &str, text: &str) -> Vec<u8> {
    let event =
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text });
    event.to_string().into_bytes()
}

#[test]
fn skill_is_given_once_with_exit_code_zero() {
    let world = World::new(TREE);
    let first = call(&world, &[], &prompt("1", "Say bonjour"));
    let answer: Value = serde_json::from_slice(&first.stdout).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
    assert!(text.unwrap().contains("Say hello."), "{answer}");
    assert!(first.stderr.is_empty() && first.status.success());
    for text in ["Say bonjour to Bob", "thanks, looks good", "continue"] {
        let next = call(&world, &[], &prompt("1", text));
        assert!(next.stdout.is_empty() && next.status.success(), "{next:?}");
    }
}

#[test]
fn hook_uses_the_working_directory_of_the_event() {
    let world = World::new(&format!(
        "{TREE}//- other/.skillfold/skills/own/SKILL.md\n---\nname: own\ndescription: D\ntriggers: [do my own thing]\n---\nOwn.\n"
    ));
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "1", "cwd": world.path("other"),
        "prompt": "Please do my own thing",
    });
    let arguments = ["--trust-project"];
    let output = call(&world, &arguments, event.to_string().as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Own."), "{text}");
    let gone = json!({ "hook_event_name": "UserPromptSubmit", "cwd": "/not/there", "prompt": "Say bonjour" });
    let output = call(&world, &[], gone.to_string().as_bytes());
    assert!(output.status.success());
}

/// Returns a pseudo-random number that depends on the last one.
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap()
}

/// Returns a hostile or broken event.
fn hostile(state: &mut u64) -> Vec<u8> {
    let values = [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!(""),
        json!("Say bonjour"),
        json!("\u{0}\u{202e}\u{1b}[2J"),
        json!("x".repeat(100_000)),
        json!("/not/there"),
        json!("../../../../etc"),
        json!(f64::MAX),
        json!("1\n2"),
    ];
    let fields = [
        "hook_event_name",
        "hookEventName",
        "session_id",
        "sessionId",
        "agent_id",
        "cwd",
        "prompt",
        "source",
        "transformedPrompt",
        "cursor_version",
        "workspace_roots",
        "transcript_path",
        "hookName",
        "taskId",
        "userPromptSubmit",
        "submitted_prompt",
        "turn_id",
        "model",
        "trigger",
    ];
    let events = [
        "UserPromptSubmit",
        "SessionStart",
        "PreCompact",
        "beforeSubmitPrompt",
        "BeforeAgent",
        "PostCompaction",
        "userPromptTransformed",
        "Stop",
        "",
    ];
    let mut event = serde_json::Map::new();
    event.insert(
        "hook_event_name".into(),
        json!(events[next(state) % events.len()]),
    );
    event.insert("session_id".into(), json!("1"));
    event.insert("prompt".into(), json!("Say bonjour"));
    event.insert(
        "source".into(),
        json!(["user", "compact", "clear", "fork"][next(state) % 4]),
    );
    for _ in 0..next(state) % 4 {
        let field = fields[next(state) % fields.len()];
        event.insert(field.into(), values[next(state) % values.len()].clone());
    }
    let mut bytes = Value::Object(event).to_string().into_bytes();
    match next(state) % 6 {
        0 => bytes.truncate(next(state) % bytes.len()),
        1 => {
            let at = next(state) % bytes.len();
            bytes[at] = u8::try_from(next(state) % 256).unwrap();
        }
        2 => bytes = bytes.iter().flat_map(|byte| [*byte, 0]).collect(),
        _ => {}
    }
    bytes
}

/// Runs `HOOK_EVENTS` events (100 without it; `just hook-attack` runs 10,000).
#[test]
fn every_event_gets_exit_code_zero_and_a_valid_answer() {
    let count = std::env::var("HOOK_EVENTS").map_or(100, |it| it.parse().unwrap());
    let world = World::new(TREE);
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for number in 0..count {
        let event = hostile(&mut state);
        if number % 10 == 9 {
            // The state is damaged now and then.
            let folder = world.path("person/.local/state/skillfold/conversations");
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                std::fs::write(entry.unwrap().path(), &event[..event.len() / 2]).unwrap();
            }
        }
        let output = call(&world, &[], &event);
        let shown = String::from_utf8_lossy(&event).into_owned();
        assert!(output.status.success(), "{shown}: {output:?}");
        assert!(
            output.stdout.is_empty() || serde_json::from_slice::<Value>(&output.stdout).is_ok(),
            "{shown}: {output:?}"
        );
    }
    let last = call(&world, &[], &prompt("new", "Say bonjour"));
    assert!(!last.stdout.is_empty(), "it still works: {last:?}");
}

#[test]
fn prompt_received_by_many_hooks_at_once_is_answered_once() {
    let world = World::new(TREE);
    let answers = std::thread::scope(|scope| {
        let hear = || call(&world, &[], &prompt("1", "Say bonjour"));
        let hooks: Vec<_> = (0..8).map(|_| scope.spawn(hear)).collect();
        let answers = hooks.into_iter().map(|hook| hook.join().unwrap());
        answers.collect::<Vec<_>>()
    });
    assert!(answers.iter().all(|answer| answer.status.success()));
    let given = answers.iter().filter(|answer| !answer.stdout.is_empty());
    assert_eq!(given.count(), 1, "{answers:?}");
}

#[test]
fn invalid_arguments_and_settings_do_not_fail_a_prompt() {
    let world = World::new(TREE);
    for arguments in [
        &["--client", "none"][..],
        &["--nonsense"],
        &["--set", "hook=no"],
        &["--root", "/not/there"],
    ] {
        let output = call(&world, arguments, &prompt("1", "Say bonjour"));
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(
            output.stdout.is_empty() || arguments[0] == "--root",
            "{arguments:?}: {output:?}"
        );
    }
}

#[test]
fn client_that_never_closes_stdin_waits_no_longer_than_the_deadline() {
    let world = World::new(TREE);
    let mut command = skillfold(&world.path("app"), &world.path("person"));
    command
        .arg("hook")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message, "The hook took too long and adds nothing\n");
}

/// Has a model of Claude Code load a skill from a server that runs for conversation `1`, and returns what it got.
fn load_from_server(world: &World, times: usize) -> Vec<String> {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut command = skillfold(&world.path("app"), &world.path("person"));
    command.arg("serve").env("CLAUDE_CODE_SESSION_ID", "1");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin
        .write_all(format!("{initialize}\n{initialized}\n").as_bytes())
        .unwrap();
    lines.next().unwrap().unwrap();
    let mut texts = Vec::new();
    for id in 1..=times {
        let call = json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "load_skill", "arguments": { "skill_id": "greet" } },
        });
        stdin.write_all(format!("{call}\n").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let text = answer["result"]["content"][0]["text"].as_str();
        texts.push(text.unwrap().to_owned());
    }
    drop(stdin);
    child.wait().unwrap();
    texts
}

#[test]
fn skill_loaded_through_the_server_is_not_given_by_the_hook() {
    let world = World::new(TREE);
    // The folder is made by the first hook.
    call(&world, &[], &prompt("1", "hello"));
    assert!(load_from_server(&world, 1)[0].contains("Say hello."));
    let output = call(&world, &[], &prompt("1", "Say bonjour"));
    assert!(output.stdout.is_empty(), "{output:?}");
    let other = call(&world, &[], &prompt("2", "Say bonjour"));
    assert!(!other.stdout.is_empty(), "{other:?}");
}

#[test]
fn load_of_a_skill_the_hook_gave_is_answered_with_a_note_once() {
    let world = World::new(TREE);
    call(&world, &[], &prompt("1", "Say bonjour"));
    let texts = load_from_server(&world, 3);
    insta::assert_snapshot!(texts[0], @"The instructions of `greet` came with a prompt of this conversation: follow them. If they are gone, call load_skill again.");
    assert!(texts[1].contains("Say hello."), "{texts:?}");
    assert!(texts[2].contains("Say hello."), "{texts:?}");
}

#[test]
fn skill_loaded_by_a_subagent_is_still_given_to_the_conversation() {
    let world = World::new(TREE);
    let agent = |event: &str| {
        let event = json!({ "hook_event_name": event, "session_id": "1", "agent_id": "a", "agent_type": "Explore" });
        let output = call(&world, &[], event.to_string().as_bytes());
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    };
    agent("SubagentStart");
    assert!(load_from_server(&world, 1)[0].contains("Say hello."));
    agent("SubagentStop");
    let output = call(&world, &[], &prompt("1", "Say bonjour"));
    assert!(!output.stdout.is_empty(), "{output:?}");
}

/// Masks times and conversations.
fn without_times(shown: &str) -> String {
    let mask = |line: &str| match line.split_once("  claude-code  conversation ") {
        Some(_) => "TIME  claude-code  conversation DIGEST".to_owned(),
        None => line.to_owned(),
    };
    shown.lines().map(|line| mask(line) + "\n").collect()
}

#[test]
fn log_explains_the_last_prompts_and_counts_skills() {
    let world = World::new(&format!(
        "{TREE}//- person/.skillfold/skills/review/SKILL.md\n---\nname: review\ndescription: Reviews code\ntriggers: [merge]\n---\nReview it.\n"
    ));
    insta::assert_snapshot!(world.run(&["why", "--last"]), @"
    ! error: The hook has no log
    ! hint: Connect a client with `skillfold setup` and use it; the log starts with its first prompt, unless `hook_log` is off
    exit 5
    ");
    world.write("//- person/.config/skillfold/config.toml\nlog_content = true\n");
    call(&world, &[], &prompt("1", "Say bonjour"));
    call(&world, &[], &prompt("1", "now merge it"));
    call(&world, &[], &prompt("1", "thanks"));
    call(&world, &[], &prompt("2", "Say bonjour"));
    insta::assert_snapshot!(without_times(&world.run(&["why", "--last", "4"])), @"
    TIME  claude-code  conversation DIGEST
      Say bonjour
      greet: instructions given (trigger `say bonjour`)
    TIME  claude-code  conversation DIGEST
      now merge it
      review: suggested in a line (trigger `merge`)
      review: not loaded by the model
    TIME  claude-code  conversation DIGEST
      thanks
      nothing was added
    TIME  claude-code  conversation DIGEST
      Say bonjour
      greet: instructions given (trigger `say bonjour`)
    exit 0
    ");
    insta::assert_snapshot!(without_times(&world.run(&["why", "--last"])), @"
    TIME  claude-code  conversation DIGEST
      Say bonjour
      greet: instructions given (trigger `say bonjour`)
    exit 0
    ");
    let stats = world.run(&["stats"]);
    let from = stats.find("Skill ").unwrap();
    insta::assert_snapshot!(&stats[from..], @"
    Skill   hits  missed  ignored  given  suggested  named  loaded
    greet      2       0        0      2          0      0       0
    review     0       0        1      0          1      0       0

    Client       hits  missed  ignored  given  suggested  named  loaded
    claude-code     2       0        1      2          1      0       0
    ! 8 lines read, 0 of other events; 4 lines of requests, 0 lines of skills
    exit 0
    ");
    world.write("//- person/.config/skillfold/config.toml\n");
    call(&world, &[], &prompt("1", "this is private"));
    insta::assert_snapshot!(without_times(&world.run(&["why", "--last"])), @"
    TIME  claude-code  conversation DIGEST
      (`log_content` is off)
      nothing was added
    exit 0
    ");
    let log = world.read("person/.local/state/skillfold/hook.jsonl");
    assert!(
        log.contains("now merge it") && !log.contains("this is private"),
        "{log}"
    );
}

#[test]
fn log_is_on_by_default_and_has_no_words_of_prompts() {
    let world = World::new(TREE);
    let log = "person/.local/state/skillfold/hook.jsonl";
    let requests = [
        "Say bonjour to zqalpha before lunch",
        "Use greet for zqbeta and its friends",
        "why does zqgamma not compile",
    ];
    let send_all = |session: &str| {
        for request in requests {
            let session = format!("{session} zqdelta");
            let output = call(&world, &[], &prompt(&session, request));
            assert!(output.stderr.is_empty(), "{output:?}");
        }
        world.read(log)
    };
    let text = send_all("1");
    assert_eq!(text.lines().count(), 4, "{text}");
    let words = ["zq", "bonjour", "lunch", "friends", "compile"];
    let found: Vec<_> = words.iter().filter(|word| text.contains(**word)).collect();
    assert!(found.is_empty(), "{found:?}: {text}");
    assert!(text.contains("\"skill\":\"greet\"") && text.contains("\"outcome\":\"given\""));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = world.path(log).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    world.write("//- person/.config/skillfold/config.toml\nlog_content = true\n");
    let text = send_all("2");
    assert!(requests.iter().all(|request| text.contains(request)));
    world.write("//- person/.config/skillfold/config.toml\nhook_log = false\n");
    assert_eq!(send_all("3"), text);
}

#[test]
fn skill_that_the_model_loads_unoffered_is_missed_and_improved() {
    let world = World::new(TREE);
    world.write("//- person/.config/skillfold/config.toml\nlog_content = true\n");
    call(
        &world,
        &[],
        &prompt("1", "welcome the delegation from Lyon"),
    );
    load_from_server(&world, 2);
    call(&world, &[], &prompt("1", "thanks"));
    call(&world, &[], &prompt("1", "more"));
    let log = world.read("person/.local/state/skillfold/hook.jsonl");
    assert_eq!(log.matches("\"outcome\":\"missed\"").count(), 1, "{log}");
    world.run(&["improve", "greet", "--yes"]);
    let queries = world.read("person/.skillfold/skills/greet/evals/eval_queries.json");
    assert!(queries.contains("\"welcome the delegation from Lyon\""));
    assert_eq!(queries.matches("query").count(), 1, "{queries}");
}

#[test]
fn unwritable_log_does_not_stop_the_answer() {
    let world = World::new(TREE);
    world.write("//- person/.local/state/skillfold/hook.jsonl/here\n");
    let output = call(&world, &[], &prompt("1", "Say bonjour"));
    assert!(
        output.status.success() && !output.stdout.is_empty(),
        "{output:?}"
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("warning: the log could not be written"),
        "{said}"
    );
}

#[test]
fn log_records_the_confidence_of_a_skill() {
    let world = World::new(
        "//- app/README.md\n//- person/.skillfold/skills/kubectl-debugging/SKILL.md\n---\nname: kubectl-debugging\ndescription: Debugs crashing Kubernetes pods with kubectl\n---\nDebug it.\n",
    );
    call(
        &world,
        &[],
        &prompt("1", "debug the crashing Kubernetes pods with kubectl"),
    );
    let shown = world.run(&["why", "--last", "--numbers"]);
    assert!(
        shown.contains("search finds it: ") && shown.contains(" %)"),
        "{shown}"
    );
}

#[test]
fn invalid_global_options_do_not_fail_a_prompt() {
    let world = World::new(TREE);
    for arguments in [
        &["-C", "/", "hook", "--bogus"][..],
        &["--json", "hook", "--bogus"],
    ] {
        let shown = world.run(arguments);
        assert!(shown.ends_with("exit 0\n"), "{shown}");
    }
    assert!(
        world
            .run(&["search", "hook", "--bogus"])
            .ends_with("exit 2\n")
    );
}

#[test]
fn suggestion_followed_by_the_model_counts_as_loaded() {
    let lines = [
        r#"{"time_ms":1763110801000,"event":"skill of a prompt","skill":"a","outcome":"suggested"}"#,
        r#"{"time_ms":1763110802000,"event":"skill of a prompt","skill":"a","outcome":"no_room"}"#,
        r#"{"time_ms":1763110803000,"event":"skill of a prompt","skill":"a","outcome":"loaded"}"#,
        r#"{"time_ms":1763110803000,"event":"skill of a prompt","client":"codex","skill":"a","outcome":"ignored"}"#,
        r#"{"time_ms":1763110803000,"event":"skill of a prompt","client":"codex","skill":"c","outcome":"missed"}"#,
        r#"{"time_ms":1763110803000,"event":"skill of a prompt","client":"claude-code","skill":"c","outcome":"given"}"#,
        r#"{"time_ms":1763110804000,"event":"skill of a prompt","skill":"a","outcome":"known"}"#,
        r#"{"time_ms":1763110804000,"event":"skill of a prompt","skill":"b","outcome":"named"}"#,
        r#"{"time_ms":1763110804000,"event":"skills for a request","decisions":1}"#,
        r#"{"time_ms":1763283600000,"event":"skills for a request","decisions":0}"#,
        r#"{"time_ms":1763283600000,"event":"skills for a request","decisions":0}"#,
        r#"{"time_ms":1763383600000,"event":"skills for a request","decisions":1}"#,
    ];
    let world = World::new(&format!("//- app/log.jsonl\n{}\n", lines.join("\n")));
    insta::assert_snapshot!(world.run(&["stats", "log.jsonl", "--svg", "chart.svg"]), @"
    day         turns  matched  used  unused  missed  precision  recall
    2025-11-14      1        1     0       0       0          -       -
    2025-11-16      2        0     0       0       0          -       -
    2025-11-17      1        1     0       0       0          -       -
    all             4        2     0       0       0          -       -

    Skill  hits  missed  ignored  given  suggested  named  loaded
    a         1       0        1      0          2      0       1
    c         1       1        0      1          0      0       0
    b         0       0        0      0          0      1       0

    Client       hits  missed  ignored  given  suggested  named  loaded
    unknown         1       0        0      0          2      1       1
    claude-code     1       0        0      1          0      0       0
    codex           0       1        1      0          0      0       0

    Requests, at most 2
          ⡏⠉⠉⠉⡇
          ⡇   ⡇
      ⠉⠉⠉⠉⠁   ⠉⠉⠉⠉


    Requests with a skill, at most 1
      ⠉⠉⠉⠉⡇   ⡏⠉⠉⠉
          ⡇   ⡇
          ⡇   ⡇
          ⣇⣀⣀⣀⡇
    ! 12 lines read, 1 of other events; 4 lines of requests, 0 lines of skills
    exit 0
    ");
    let svg = world.read("app/chart.svg");
    assert!(
        svg.starts_with("<svg") && svg.contains("2025-11-14"),
        "{svg}"
    );
}

#[test]
fn skill_that_is_never_used_gets_a_higher_bar_which_can_be_forgotten() {
    let world = World::new(
        "\
//- app/README.md
//- person/.skillfold/skills/report-writer/SKILL.md
---
name: report-writer
description: Writes weekly status reports from commits, issues and calendar entries
---
Write it.
",
    );
    let request = "look at the calendar entries of commits";
    // Only where loads are told, one that is missing says something.
    call(&world, &[], &prompt("0", "hello"));
    let environment = Environment::new(world.path("app")).home(world.path("person"));
    let conversations = Conversations::of_user(&environment).unwrap();
    let key = ConversationKey::new("0", None);
    let told = conversations.update(&key, SystemTime::now(), |it| it.record_load("another"));
    told.unwrap();
    call(&world, &[], &prompt("0", "thanks"));
    call(&world, &[], &prompt("1", request));
    call(&world, &[], &prompt("1", "thanks"));
    let why = [
        "why",
        "--client",
        "claude-code",
        request,
        "--skill",
        "report-writer",
    ];
    insta::assert_snapshot!(world.run(&why), @"
    no skill is selected
    -  report-writer
       the request has neither its name nor one of its triggers, and search ranks it below the threshold
       hint: say in its description what such requests are about, or add words from the request to its triggers
       by search: 33 % (possible), needs 70 %; its name in the request would select it
       by use: suggested once lately, used never; a line from 34 %, usually 25 %; `skillfold stats --forget report-writer` resets it
    ! triggered mode, 0 tokens (estimate)
    ! for Claude Code's model; `--client` shows another's
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["stats", "--forget", "greet"]), @"
    ! The hook knows nothing of how `greet` is used
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["stats", "--forget"]), @"
    ! Forgot how 1 skill was used
    exit 0
    ");
    let after = world.run(&why);
    assert!(
        after.contains("suggested in a line") && !after.contains("by use"),
        "{after}"
    );
    assert!(
        world
            .run(&["--json", "stats", "--forget"])
            .contains("\"forgotten\": []")
    );
}
