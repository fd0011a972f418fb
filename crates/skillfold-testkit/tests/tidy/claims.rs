//! The pages' claims about the program are true: its commands, its clients, counts, and what is missing.

use std::collections::BTreeSet;

use crate::report::{Finding, Offenders};
use crate::requirements::{backticked, cells};
use crate::source::line_at;
use crate::tree::{File, file, files};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The pages that describe the entire program.
const PAGES: [&str; 8] = [
    "README.md",
    "SECURITY.md",
    ARCHITECTURE,
    "docs/concepts.md",
    "docs/security.md",
    "docs/clients/README.md",
    "docs/python/README.md",
    "examples/README.md",
];

/// A nonexistent command that a page shows on purpose.
const UNKNOWN_COMMAND: &str = "validate";

/// Phrases that say something is missing.
const MISSING: [&str; 4] = [
    "does not exist here",
    "do not exist yet",
    "planned",
    "is ever run",
];

/// Words for features, and where in the tree each is once it exists.
const FEATURES: [(&str, &str); 7] = [
    ("sandbox", "crates/skillfold-run/"),
    ("scripts", "crates/skillfold-run/"),
    ("Python", "bindings/python/"),
    ("Node", "bindings/node/"),
    ("hook", "crates/skillfold-hook/"),
    ("proposals", "crates/skillfold-store/"),
    ("marketplace", "crates/skillfold-registry/"),
];

/// Actually missing, although it contains one of the words.
const NARROWER: [&str; 1] = ["a sandbox for scripts on Windows"];

const NUMBERS: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

fn text(path: &str) -> &'static str {
    &file(path)
        .unwrap_or_else(|| panic!("`{path}` is gone: this test must learn its place"))
        .text
}

/// Returns the variants of an enum, each with the comment above it.
fn variants<'a>(source: &'a str, head: &str) -> Vec<(&'a str, &'a str)> {
    let (_, body) = source
        .split_once(head)
        .unwrap_or_else(|| panic!("there is no `{head}`"));
    let (mut found, mut comment) = (Vec::new(), "");
    for line in body.lines().take_while(|line| *line != "}") {
        let Some(line) = line.strip_prefix("    ") else {
            continue;
        };
        if let Some(text) = line.strip_prefix("/// ") {
            comment = text;
        } else if line.starts_with(char::is_uppercase) {
            let end = line
                .find(|c: char| !c.is_alphanumeric())
                .unwrap_or(line.len());
            found.push((&line[..end], comment));
        }
    }
    assert!(
        !found.is_empty(),
        "`{head}` has no variants: this test must learn its form"
    );
    found
}

/// Returns the commands as typed.
fn commands() -> BTreeSet<String> {
    let source = text("crates/skillfold-cli/src/arguments/mod.rs");
    let names = variants(source, "enum Command {").into_iter();
    names.map(|(name, _)| kebab(name)).collect()
}

fn kebab(name: &str) -> String {
    let mut typed = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !typed.is_empty() {
            typed.push('-');
        }
        typed.extend(c.to_lowercase());
    }
    typed
}

/// Returns the clients' names in an enum: the comments up to the first period or comma.
fn clients(path: &str, head: &str) -> Vec<&'static str> {
    let known = variants(text(path), head).into_iter();
    known
        .map(|(_, comment)| comment.split(['.', ',']).next().unwrap_or(comment))
        .collect()
}

fn setup_clients() -> Vec<&'static str> {
    clients("crates/skillfold-setup/src/client.rs", "clients! {")
}

fn hook_clients() -> Vec<&'static str> {
    clients(
        "crates/skillfold-hook/src/client.rs",
        "pub enum HookClient {",
    )
}

#[test]
fn commands_named_in_docs_exist() {
    let mut commands = commands();
    commands.extend(["help", UNKNOWN_COMMAND].map(str::to_owned));
    let is_page = |file: &&File| {
        file.path.strip_suffix(".md").is_some()
            && !file.path.starts_with("docs/decisions/")
            && file.path != "CHANGELOG.md"
    };
    let just = crate::requirements::commands(text("justfile"));
    let just = just
        .map(|typed| typed["just ".len()..].to_owned())
        .collect();
    let mut offenders = Offenders::default();
    for page in files().iter().filter(is_page) {
        let starts = ["`skillfold ", "$ skillfold "];
        offenders.add(&page.path, unknown_commands(&page.text, &starts, &commands));
        offenders.add(&page.path, unknown_commands(&page.text, &["`just "], &just));
    }
    offenders.expect_none("Name a command of `skillfold --help` or of `just`");
}

fn unknown_commands(page: &str, starts: &[&str], commands: &BTreeSet<String>) -> Vec<Finding> {
    let typed = starts.iter().flat_map(|start| {
        page.match_indices(start)
            .map(move |(at, _)| at + start.len())
    });
    let word = |at: usize| {
        let rest = &page[at..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        (at, &rest[..end.unwrap_or(rest.len())])
    };
    typed
        .map(word)
        .filter(|(_, word)| !word.is_empty() && !word.starts_with('-') && !commands.contains(*word))
        .map(|(at, word)| Finding::new(line_at(page, at), format!("No such command: `{word}`")))
        .collect()
}

#[test]
fn architecture_lists_every_command() {
    let benches = variants(text("bench/src/main.rs"), "enum Question {");
    let benches = benches.into_iter().map(|(name, _)| kebab(name)).collect();
    for (row, expected) in [
        ("| `crates/skillfold-cli` |", commands()),
        ("| `bench` |", benches),
    ] {
        let page = text(ARCHITECTURE).lines();
        let row = page.into_iter().find(|line| line.starts_with(row));
        let cells = cells(row.expect("the crate has a row"));
        let listed: BTreeSet<String> = (cells.last().into_iter())
            .flat_map(|cell| backticked(cell))
            .map(str::to_owned)
            .collect();
        assert_eq!(
            listed, expected,
            "`{ARCHITECTURE}` lists other commands than there are"
        );
    }
}

#[test]
fn documented_limits_match_the_code() {
    let code = text("crates/skillfold-core/src/limits.rs");
    let (_, defaults) = code
        .split_once("fn default() -> Self {")
        .expect("limits have defaults");
    let mut offenders = Offenders::default();
    offenders.add("SECURITY.md", wrong_limits(text("SECURITY.md"), defaults));
    offenders.expect_none("Give each default of `Limits` a row with its value");
}

/// Finds defaults, such as `head_bytes: 4 * 1024,`, without a row, or with another value in their row, such as `4 KiB`.
fn wrong_limits(page: &str, defaults: &str) -> Vec<Finding> {
    let number = |text: &str| -> Option<u64> {
        let text = text
            .replace(['_', ','], "")
            .replace(" KiB", " * 1024")
            .replace(" MiB", " * 1024 * 1024");
        text.split(" * ")
            .map(|factor| factor.parse::<u64>().ok())
            .product()
    };
    let mut findings = Vec::new();
    for line in defaults.lines().take_while(|line| *line != "    }") {
        let Some((name, value)) = line.trim().trim_end_matches(',').split_once(": ") else {
            continue;
        };
        let start = format!("| `{name}` | ");
        let row = page.lines().position(|line| line.starts_with(&start));
        let Some(row) = row else {
            findings.push(Finding::new(1, format!("Limit has no row: `{name}`")));
            continue;
        };
        let said = page.lines().nth(row).map(|line| cells(line)[1]);
        if said.and_then(number) != number(value) {
            findings.push(Finding::new(row + 1, format!("`{name}` is {value}")));
        }
    }
    findings
}

#[test]
fn docs_name_every_client() {
    let mut offenders = Offenders::default();
    let absent = |page: &str, names: Vec<&str>| {
        let page = text(page);
        let absent = names.into_iter().filter(|name| !page.contains(name));
        let said = |name: &str| Finding::new(1, format!("Client is not named: {name}"));
        absent.map(said).collect::<Vec<_>>()
    };
    offenders.add("README.md", absent("README.md", setup_clients()));
    let all = [setup_clients(), hook_clients()].concat();
    offenders.add(
        "docs/clients/README.md",
        absent("docs/clients/README.md", all),
    );
    offenders.expect_none("Name each client that `setup` and the hook know");
}

#[test]
fn documented_counts_are_right() {
    let is_framework = |file: &&File| {
        let name = file
            .path
            .strip_prefix("examples/python/")
            .unwrap_or_default();
        name.strip_suffix(".py").is_some()
            && !name.starts_with("scripted")
            && name != "plain_loop.py"
    };
    let frameworks = files().iter().filter(is_framework).count();
    let codes = text("crates/skillfold-core/src/codes.rs")
        .matches(" \"SF")
        .count();
    let counts = [
        ("clients", vec![setup_clients().len(), hook_clients().len()]),
        ("frameworks", vec![frameworks]),
        ("commands", vec![commands().len()]),
        ("codes", vec![codes]),
    ];
    let mut offenders = Offenders::default();
    for page in PAGES {
        offenders.add(page, wrong_numbers(text(page), &counts));
    }
    offenders.expect_none("Count again, or say it without a number");
}

/// Finds numbers before a noun that are none of its counts.
fn wrong_numbers(page: &str, counts: &[(&str, Vec<usize>)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let words: Vec<&str> = line
            .split(|c: char| !c.is_alphanumeric() && c != ',')
            .collect();
        for pair in words.windows(2) {
            let [number, noun] =
                [pair[0], pair[1]].map(|word| word.trim_matches(',').to_lowercase());
            let known = NUMBERS.iter().position(|word| *word == number);
            let Some(number) = known.or_else(|| number.replace(',', "").parse().ok()) else {
                continue;
            };
            let right = counts.iter().find(|(name, _)| *name == noun);
            if let Some((_, right)) = right.filter(|(_, right)| !right.contains(&number)) {
                let what = format!("{number} {noun}, and there are {right:?}");
                findings.push(Finding::new(index + 1, what));
            }
        }
    }
    findings
}

#[test]
#[cfg(unix)]
fn documented_attack_counts_are_right() {
    let attacks = skillfold_testkit::hostile_tree().attacks();
    let classes: BTreeSet<String> = (attacks.iter())
        .map(|attack| format!("{:?}", attack.class))
        .collect();
    let list = text("crates/skillfold-core/tests/it/envelope/break_outs.rs");
    let break_outs = list
        .lines()
        .filter(|line| line.starts_with("    \""))
        .count();
    let paths = attacks.len();
    let claims = [
        format!(
            "A table of {},{:03} paths in {} classes",
            paths / 1000,
            paths % 1000,
            classes.len()
        ),
        format!("**Break-outs.** {break_outs} texts"),
    ];
    for claim in claims {
        assert!(
            text("SECURITY.md").contains(&claim),
            "`SECURITY.md` does not say: {claim}"
        );
    }
}

#[test]
fn features_documented_as_missing_are_missing() {
    let exists = |path: &str| files().iter().any(|file| file.path.starts_with(path));
    let existing: Vec<&str> = FEATURES
        .iter()
        .filter(|(_, path)| exists(path))
        .map(|(word, _)| *word)
        .collect();
    let mut offenders = Offenders::default();
    for page in PAGES {
        offenders.add(page, untrue_denials(text(page), &existing));
    }
    let planned = text(ARCHITECTURE)
        .lines()
        .enumerate()
        .filter(|(_, line)| line.ends_with("| planned |"));
    for (index, row) in planned {
        let name = backticked(row).next().unwrap_or_default();
        if exists(&format!("{name}/")) || exists(&format!("crates/{name}/")) {
            offenders.add(
                ARCHITECTURE,
                [Finding::new(
                    index + 1,
                    format!("Not planned, but there: `{name}`"),
                )],
            );
        }
    }
    offenders.expect_none("Say what there is");
}

/// Finds sentences that say an existing feature is missing.
fn untrue_denials(page: &str, existing: &[&str]) -> Vec<Finding> {
    // Tables have no sentences.
    let lines = page
        .lines()
        .map(|line| if line.starts_with('|') { "" } else { line });
    let page = lines.collect::<Vec<_>>().join("\n");
    let (mut findings, mut start) = (Vec::new(), 0);
    for sentence in page
        .split_inclusive(". ")
        .flat_map(|part| part.split_inclusive("\n\n"))
    {
        let line = line_at(&page, start);
        start += sentence.len();
        let flat = sentence.replace('\n', " ");
        let flat = (NARROWER.iter()).fold(flat, |flat, missing| flat.replace(missing, ""));
        if !MISSING.iter().any(|denial| flat.contains(denial)) {
            continue;
        }
        let named = existing.iter().filter(|word| flat.contains(**word));
        findings.extend(named.map(|word| Finding::new(line, format!("It exists: {word}"))));
    }
    findings
}

#[test]
fn untrue_claim_is_found() {
    let commands = BTreeSet::from(["list".to_owned()]);
    let page = "`skillfold list`, `skillfold --json`\n$ skillfold lst\n`skillfold NAME`\n";
    assert_eq!(
        unknown_commands(page, &["`skillfold ", "$ skillfold "], &commands),
        [Finding::new(2, "No such command: `lst`")]
    );
    let counts = [("clients", vec![10, 12])];
    let page = "Ten clients, 12 clients\nand seven clients, 1,000 clients\n";
    assert_eq!(
        wrong_numbers(page, &counts),
        [
            Finding::new(2, "7 clients, and there are [10, 12]"),
            Finding::new(2, "1000 clients, and there are [10, 12]")
        ]
    );
    let page = "It has hooks.\n\nA sandbox\nor a market: that does not exist here yet. Fine.\n";
    assert_eq!(
        untrue_denials(page, &["sandbox", "hook"]),
        [Finding::new(3, "It exists: sandbox")]
    );
    let page = "| `a` | 4 KiB | x |\n| `b` | 20,000 | x |\n";
    let defaults = "\n        Self {\n            a: 4 * 1024,\n            b: 10_000,\n            c: 5,\n        }\n    }\n";
    assert_eq!(
        wrong_limits(page, defaults),
        [
            Finding::new(2, "`b` is 10_000"),
            Finding::new(1, "Limit has no row: `c`")
        ]
    );
    let source = "enum A {\n    /// First one.\n    OneTwo(X),\n    /// Second.\n    Three,\n}\n";
    assert_eq!(
        variants(source, "enum A {"),
        [("OneTwo", "First one."), ("Three", "Second.")]
    );
    assert_eq!(kebab("OneTwo"), "one-two");
}
