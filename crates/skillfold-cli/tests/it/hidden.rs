//! Whatever skills have in them, no command sends a terminal what it would obey or what a person does not see.

use std::fmt::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use skillfold::core::text::is_invisible;

use crate::command::{World, skillfold};

/// One or two of every kind of character that is hidden.
const INVISIBLE: &str = "\u{ad}\u{34f}\u{61c}\u{115f}\u{180b}\u{200b}\u{200d}\u{200e}\u{2028}\u{202e}\u{2060}\u{2066}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{fff9}\u{13430}\u{1d173}\u{e0041}\u{e0100}";
const CONTROLS: &str = "\u{1}\u{7}\u{8}\u{c}\u{1b}[8m\u{1b}]0;x\u{7}\u{7f}\u{85}\u{9b}2J";

/// Every command but those that print text of the command's own (`completions`, `man`) and the server.
const COMMANDS: [&[&str]; 64] = [
    &["compose", "odd"],
    &["prompt", "--client", "claude-code"],
    &["list"],
    &["list", "odd"],
    &["search", "odd", "words"],
    &["show", "odd"],
    &["load", "odd"],
    &["load", "odd", "--envelope", "skill_context"],
    &["load", "nothing"],
    &["files", "odd"],
    &["read", "odd", "notes.md"],
    &["read", "odd", "nothing.md"],
    &["prompt", "odd words"],
    &["why", "odd words"],
    &["why", "other", "--skill", "odd"],
    &["check"],
    &["check", "--profile", "spec"],
    &["check", "--format", "sarif"],
    &["test"],
    &["stats", "log.jsonl"],
    &["improve", "odd", "--request", "odd ledgers"],
    &["overlap", "odd"],
    &["report", "-", "--log", "log.jsonl"],
    &["new", "odd"],
    &["setup", "cursor", "--project", "--dry-run"],
    &["trust", "--set", "new_skills=hold"],
    &["allow", "odd"],
    &["allow", "--list"],
    &["run", "odd"],
    &["run", "odd", "scripts/x.py"],
    &["tools", "odd"],
    &["trust"],
    &["trust", "--list"],
    &["propose", "odd", "nowhere", "--reason", "why"],
    &["proposals"],
    &["proposals", "odd"],
    &["review"],
    &["approve", "odd"],
    &["reject", "odd"],
    &["history", "odd"],
    &["diff", "odd"],
    &["rollback", "odd"],
    &["audit"],
    &["passphrase"],
    &["doctor"],
    &["config", "--explain"],
    &["config", "get", "disable"],
    &["config", "path"],
    &["config", "unset", "disable"],
    &["cache"],
    &["access", "--file", "tokens.toml"],
    &["cache", "clean"],
    &["init"],
    &["search", "words", "--in", ".agents/skills"],
    &["add", "./.agents/skills/odd"],
    &["add", "./skills-lock.json"],
    &["install"],
    &["verify"],
    &["outdated"],
    &["update"],
    &["update", "--format", "pull-request"],
    &["vendor"],
    &["why-installed", "odd"],
    &["remove", "odd"],
];

fn world() -> World {
    let world = World::new("//- app/README.md\n");
    let hidden = format!("{INVISIBLE}{CONTROLS}");
    let escapes = INVISIBLE.chars().fold(String::new(), |mut text, c| {
        let _ = write!(text, "\\U{:08X}", u32::from(c));
        text
    });
    let folder = world.path("app/.agents/skills/odd");
    std::fs::create_dir_all(folder.join("evals")).unwrap();
    std::fs::create_dir_all(world.path(&format!("app/.agents/skills/a{hidden}b"))).unwrap();
    let text = format!(
        "---\nname: odd\ndescription: Odd {INVISIBLE} words {hidden}\ncompatibility: \"{escapes}\"\n\
         x{INVISIBLE}: y\ntags: [a{INVISIBLE}]\nversion: 1{INVISIBLE}\nrequires: [b{INVISIBLE}]\n\
         triggers:\n  keywords: [\"odd words {escapes}\"]\n  patterns: [\"({escapes}\"]\n\
         metadata:\n  a{INVISIBLE}: \"{escapes}\"\n---\nOdd {hidden} words [x]({INVISIBLE}.md) [y](../{INVISIBLE}.md)\n"
    );
    let query = format!("odd {hidden} words");
    let queries = serde_json::json!([{ "query": query, "should_trigger": false }]);
    let broken = format!("no frontmatter {hidden}\n");
    for (name, text) in [
        ("SKILL.md", text),
        ("notes.md", format!("{hidden}\n")),
        ("evals/eval_queries.json", queries.to_string()),
        (&*format!("c{hidden}d.md"), "x".to_owned()),
        (&*format!("../a{hidden}b/SKILL.md"), broken.clone()),
        ("../broken/SKILL.md", broken),
        (
            "../../../log.jsonl",
            format!("{{\"x\": \"{INVISIBLE}\"}}\nno {hidden} json\n"),
        ),
        (
            "../../../.cursor/mcp.json",
            format!("{{\"{INVISIBLE}\": \"\u{9b}\"}}\n"),
        ),
        (
            "../../../.skillfold/config.toml",
            format!("\"k{INVISIBLE}\" = \"{INVISIBLE}\"\n"),
        ),
    ] {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    world
}

/// Returns the characters of an output that must not be there.
fn unsafe_in(bytes: &[u8]) -> Vec<char> {
    let text = String::from_utf8_lossy(bytes);
    let is_unsafe = |c: &char| is_invisible(*c) || (c.is_control() && !matches!(c, '\n' | '\t'));
    text.chars().filter(is_unsafe).collect()
}

/// Returns whether a command prints text of a skill as it is, for a program to read.
fn is_exact(arguments: &[&str]) -> bool {
    ["load", "read", "prompt"].contains(&arguments[0])
}

#[test]
fn no_command_prints_terminal_escapes_or_invisible_characters() {
    let world = world();
    let mut escaped = 0;
    for arguments in COMMANDS {
        for json in [None, Some("--json")] {
            // They have a format of their own.
            let has_format = ["sarif", "pull-request"]
                .iter()
                .any(|it| arguments.contains(it));
            if json.is_some() && has_format {
                continue;
            }
            let output = skillfold(&world.path("app"), &world.path("person"))
                .args(["--trust-project"])
                .args(arguments)
                .args(json)
                .output()
                .unwrap();
            let name = format!("{arguments:?} {json:?}");
            assert_eq!(unsafe_in(&output.stderr), [], "{name}");
            if json.is_none() && is_exact(arguments) {
                continue;
            }
            assert_eq!(unsafe_in(&output.stdout), [], "{name}");
            if json.is_some() {
                serde_json::from_slice::<Value>(&output.stdout).expect(&name);
            }
            let text = String::from_utf8(output.stdout).unwrap();
            escaped += usize::from(text.contains("\\u{200b}") || text.contains("\\u200b"));
        }
    }
    // What is hidden gets to most commands, so that the test can fail.
    assert!(escaped >= 20, "{escaped}");
}

#[test]
fn every_command_is_covered() {
    let help = world().data(&["--help"]);
    let (commands, _) = help.split_once("Global options:").unwrap();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let commands = commands.lines().filter(is_name);
    let own_text = ["completions", "man", "help", "serve", "hook"];
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let is_tried = COMMANDS.iter().any(|arguments| arguments[0] == command);
        assert!(is_tried || own_text.contains(&command), "{command}");
    }
}

#[test]
fn json_has_the_exact_text_and_pipes_get_the_exact_bytes() {
    let world = world();
    let file = std::fs::read(world.path("app/.agents/skills/odd/notes.md")).unwrap();
    let read = ["--trust-project", "read", "odd", "notes.md"];
    let piped = skillfold(&world.path("app"), &world.path("person"))
        .args(read)
        .output()
        .unwrap();
    assert!(piped.stdout == file);
    let view: Value =
        serde_json::from_str(&world.data(&[&read[..], &["--json"]].concat())).unwrap();
    assert_eq!(view["text"].as_str().unwrap().as_bytes(), file);
}

#[test]
fn skill_text_is_escaped_on_a_terminal() {
    let world = world();
    for arguments in [
        "load odd",
        "read odd notes.md",
        "prompt 'odd words'",
        "check",
        "show odd",
        "trust",
    ] {
        let program = env!("CARGO_BIN_EXE_skillfold");
        let command = format!("{program} --color=never --trust-project {arguments} </dev/null");
        let output = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(world.path("app"))
            .env("HOME", world.path("person"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut found = unsafe_in(&output.stdout);
        found.retain(|c| *c != '\r');
        assert_eq!(found, [], "{arguments}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("\\u{200b}"), "{arguments}: {text}");
    }
}

#[test]
fn many_findings_do_not_hide_a_deceptive_character() {
    let world = World::new("//- app/README.md\n");
    let links = "[x](gone.md)\n".repeat(60);
    world.write(&format!(
        "\n//- app/.agents/skills/aaa/SKILL.md\n---\nname: aaa\ndescription: A\n---\n{links}\n//- app/.agents/skills/zzz/SKILL.md\n---\nname: zzz\ndescription: Z\n---\nDo\u{e0041} it.\n"
    ));
    let shown = world.run(&["trust"]);
    let found: Vec<_> = shown.lines().filter(|line| line.contains("[SF4")).collect();
    assert_eq!(
        found[0].trim(),
        ".agents/skills/zzz/SKILL.md: warning[SF406] at 5:3: Invisible character U+E0041"
    );
    assert_eq!(found.len(), 1);
    assert!(shown.contains("60 style warnings"), "{shown}");
}

#[test]
fn thousand_findings_on_one_long_line_are_drawn_in_bounded_output() {
    let draw = |links: usize| {
        let world = World::new("//- app/README.md\n");
        world.write(&format!(
            "\n//- app/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: A\n---\n{}\u{200b}\n",
            "[x](gone.md) ".repeat(links)
        ));
        world.data(&["check"])
    };
    let (few, many) = (draw(2_000), draw(200_000));
    assert!(
        few.contains("SF406") && many.contains("SF406"),
        "what deceives is drawn"
    );
    assert_eq!(few.matches(" --> ").count(), 100);
    assert_eq!(many.matches(" --> ").count(), 100);
    assert!(
        many.len() < few.len() + 2_000,
        "{} of {}",
        many.len(),
        few.len()
    );
    let last: Vec<_> = many
        .lines()
        .filter(|line| line.contains(" more "))
        .collect();
    insta::assert_snapshot!(last.join("\n"), @"
    warning[SF514]: At least 9000 more findings are not listed
      901 more warning[SF405]: A link points to a file that the skill does not have
    ");
}
