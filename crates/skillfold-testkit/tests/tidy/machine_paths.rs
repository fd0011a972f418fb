//! The tree contains no machine-specific paths.

use crate::report::{Finding, Offenders};
use crate::source::{is_word, line_at};
use crate::tree::files;

/// Files that concern a specific machine.
const EXEMPT: [&str; 3] = [".gitignore", ".ci/stages.sh", "justfile"];

/// The only home that examples may name.
const EXAMPLE_USER: &str = "user";

#[test]
fn no_machine_paths() {
    let mut offenders = Offenders::default();
    for file in files() {
        if !file.is_tidy() && !EXEMPT.contains(&file.path.as_str()) {
            offenders.add(&file.path, machine_paths(&file.text));
        }
    }
    offenders.expect_none(
        "Write a path from the root of the workspace, a placeholder such as `CORPUS`, or `/home/user` in an example",
    );
}

/// Checkouts that share a target folder share their tests too, and would read the files of the one that was built last.
#[test]
fn tests_read_the_files_of_their_own_checkout() {
    let mut offenders = Offenders::default();
    for file in files() {
        if file.is_rust() && !file.is_tidy() && !file.path.contains("/examples/") {
            offenders.add(&file.path, compiled_paths(&file.text));
        }
    }
    offenders.expect_none("Use `skillfold_testkit::in_checkout`");
}

fn compiled_paths(text: &str) -> Vec<Finding> {
    let places = text.match_indices("env!(\"CARGO_MANIFEST_DIR\")");
    let finding = |(position, place): (usize, &str)| {
        Finding::new(
            line_at(text, position),
            format!("Path that the compiler saw: `{place}`"),
        )
    };
    places.map(finding).collect()
}

#[test]
fn path_that_the_compiler_saw_is_found() {
    let text = "fn a() {\n    let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/a\");\n}\n";
    assert_eq!(compiled_paths(text).len(), 1);
    assert!(compiled_paths("std::env::var_os(\"CARGO_MANIFEST_DIR\")").is_empty());
}

fn machine_paths(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let places = ["/root/", "/work/", "../shared"]
            .into_iter()
            .filter(|place| line.contains(place));
        let mut places: Vec<String> = places.map(str::to_owned).collect();
        places.extend(
            words_after(line, "/home/")
                .filter(|word| *word != EXAMPLE_USER)
                .map(|word| format!("/home/{word}")),
        );
        let is_name = |word: &&str| word.starts_with(char::is_alphabetic);
        places.extend(
            words_after(line, "/tmp/")
                .filter(is_name)
                .map(|word| format!("/tmp/{word}")),
        );
        let said = |place| Finding::new(index + 1, format!("Path of one machine: `{place}`"));
        findings.extend(places.into_iter().map(said));
    }
    findings
}

/// Returns the words directly after a prefix.
fn words_after<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).filter_map(move |(position, _)| {
        let after = &line[position + prefix.len()..];
        let end = after
            .find(|c| !is_word(c) && c != '-')
            .unwrap_or(after.len());
        (end > 0).then(|| &after[..end])
    })
}

#[test]
fn machine_path_is_found() {
    let text = "cd /root/x\ncd /home/ann/x\ncd /home/user/x\ncat ../shared/a\n`/work/main` and /tmp/x9\n/tmp/$NAME /home/<name>\n";
    let found: Vec<_> = machine_paths(text)
        .into_iter()
        .map(|finding| (finding.line, finding.what))
        .collect();
    let expected = [
        (1, "/root/"),
        (2, "/home/ann"),
        (4, "../shared"),
        (5, "/work/"),
        (5, "/tmp/x9"),
    ];
    assert_eq!(
        found,
        expected.map(|(line, place)| (line, format!("Path of one machine: `{place}`")))
    );
}
