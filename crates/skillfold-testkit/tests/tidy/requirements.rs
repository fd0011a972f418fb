//! The table of requirements says the truth about the tests.

use std::collections::BTreeSet;
use std::fs;

use crate::report::{Finding, Offenders};
use crate::source::{after_attributes, bare, is_word, matching};
use crate::tree::{file, files, root};

const PAGE: &str = "docs/requirements.md";

/// The issues that a requirement can wait for.
const ISSUES: [&str; 7] = [
    "Choose and disclose",
    "MCP server",
    "Search",
    "Bindings",
    "Proposals",
    "Script running",
    "Distribution",
];

struct Row<'a> {
    line: usize,
    id: &'a str,
    state: &'a str,
    proof: &'a str,
}

#[test]
fn requirements_name_existing_tests() {
    let page = file(PAGE).expect("the requirements have a page");
    let mut tests = BTreeSet::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        tests.extend(test_names(&file.text));
    }
    let mut offenders = Offenders::default();
    offenders.add(PAGE, false_rows(&page.text, &tests));
    offenders.expect_none("Name the tests that prove the requirement, or say what it waits for");
}

#[test]
fn requirements_are_those_of_the_reference() {
    let beside = root().parent().expect("the workspace stands in a folder");
    let reference = ["shared", "reference", "requirements.md"]
        .iter()
        .fold(beside.to_owned(), |path, part| path.join(part));
    let Ok(reference) = fs::read_to_string(reference) else {
        println!("Skipped: the reference is not beside the workspace");
        return;
    };
    let page = file(PAGE).expect("the requirements have a page");
    let mut offenders = Offenders::default();
    offenders.add(PAGE, differences(&page.text, &reference));
    offenders.expect_none("Give each requirement of the reference one row, and no other");
}

/// Finds rows that are malformed, listed twice, or say what is not so.
fn false_rows(page: &str, tests: &BTreeSet<String>) -> Vec<Finding> {
    let (rows, mut findings) = rows(page);
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    for (index, row) in rows.iter().enumerate() {
        let mut say =
            |what: String| findings.push(Finding::new(row.line, format!("`{}` {what}", row.id)));
        if ids[..index].contains(&row.id) {
            say("is listed twice".to_owned());
        }
        match row.state {
            "proved" => missing_proofs(row.proof, tests).into_iter().for_each(say),
            "waits" if row.proof.split(", ").all(|issue| ISSUES.contains(&issue)) => {}
            "waits" => say(format!("waits for no issue of the list: `{}`", row.proof)),
            "host" if backticked(row.proof).any(|id| ids.contains(&id)) => {}
            "host" => say("does not name the row that generalises it".to_owned()),
            "declined" if !row.proof.is_empty() => {}
            "declined" => say("does not say why it is declined".to_owned()),
            state => say(format!("has an unknown state: `{state}`")),
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn missing_proofs(proof: &str, tests: &BTreeSet<String>) -> Vec<String> {
    if backticked(proof).next().is_none() {
        return vec!["is proved by no test".to_owned()];
    }
    let name = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    backticked(proof)
        .filter(|path| !tests.contains(&name(path)))
        .map(|path| format!("names a test that does not exist: `{path}`"))
        .collect()
}

/// Returns the rows of the tables, and the lines of them that are no rows.
fn rows(page: &str) -> (Vec<Row<'_>>, Vec<Finding>) {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for (index, text) in page
        .lines()
        .enumerate()
        .filter(|(_, text)| text.starts_with('|'))
    {
        let line = index + 1;
        let cells: Vec<&str> = text
            .trim()
            .trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect();
        match cells[..] {
            ["id", ..] => {}
            [dashes, ..] if dashes.starts_with("--") => {}
            [id, _, state, proof] if is_id(id) => rows.push(Row {
                line,
                id,
                state,
                proof,
            }),
            _ => findings.push(Finding::new(line, "Row is not `id | what | state | proof`")),
        }
    }
    (rows, findings)
}

/// Returns whether a word has the form `ABC-12`.
fn is_id(word: &str) -> bool {
    let is_area =
        |area: &str| !area.is_empty() && area.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_number =
        |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('-')
        .is_some_and(|(area, number)| is_area(area) && is_number(number))
}

fn backticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the tests of a Rust text: functions after `#[test]` or `#[tokio::test]`, and functions of a `proptest!` block.
fn test_names(text: &str) -> Vec<String> {
    let code = bare(text);
    let mut names: Vec<String> = Vec::new();
    for attribute in ["#[test]", "#[tokio::test]"] {
        for (position, _) in code.match_indices(attribute) {
            names.extend(function_name(after_attributes(&code[position..])));
        }
    }
    for (position, _) in code.match_indices("proptest! {") {
        let block = &code[position..];
        let block = &block[..matching(block, '{', '}').unwrap_or(block.len())];
        names.extend(
            block
                .match_indices("fn ")
                .filter_map(|(start, _)| function_name(&block[start..])),
        );
    }
    names
}

fn function_name(code: &str) -> Option<String> {
    let name = code
        .strip_prefix("async ")
        .unwrap_or(code)
        .strip_prefix("fn ")?;
    let (name, rest) = name.split_at(name.find(|c| !is_word(c))?);
    rest.starts_with('(').then(|| name.to_owned())
}

/// Finds requirements that only one of the two pages has.
fn differences(page: &str, reference: &str) -> Vec<Finding> {
    let ids = ids(page);
    let expected = self::ids(reference);
    let missing = expected
        .difference(&ids)
        .map(|id| format!("Row is missing: `{id}`"));
    let unknown = ids
        .difference(&expected)
        .map(|id| format!("Row is not in the reference: `{id}`"));
    missing
        .chain(unknown)
        .map(|what| Finding::new(1, what))
        .collect()
}

fn ids(page: &str) -> BTreeSet<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .filter(|id| is_id(id))
        .collect()
}

#[test]
fn a_false_row_is_found() {
    let page = "| id | what | state | proof |\n|---|---|---|---|\n| A-01 | x | proved | `core::good`, `core::bad` |\n\
                | A-02 | x | proved | TODO |\n| A-03 | x | waits | Someday |\n| A-03 | x | waits | Search |\n\
                | A-04 | x | host | elsewhere |\n| A-05 | x | host | `A-01` |\n| A-06 | x | done | |\n| A-07 | x |\n\
                | A-08 | x | declined | |\n";
    let tests = BTreeSet::from(["good".to_owned()]);
    let expected = [
        Finding::new(3, "`A-01` names a test that does not exist: `core::bad`"),
        Finding::new(4, "`A-02` is proved by no test"),
        Finding::new(5, "`A-03` waits for no issue of the list: `Someday`"),
        Finding::new(6, "`A-03` is listed twice"),
        Finding::new(7, "`A-04` does not name the row that generalises it"),
        Finding::new(9, "`A-06` has an unknown state: `done`"),
        Finding::new(10, "Row is not `id | what | state | proof`"),
        Finding::new(11, "`A-08` does not say why it is declined"),
    ];
    assert_eq!(false_rows(page, &tests), expected);
}

#[test]
fn tests_are_known_by_their_attribute_or_their_block() {
    let text = "#[test]\n#[cfg(unix)]\n#[expect(\n    a,\n)]\nfn one() {}\nfn helper() {}\n// #[test]\nfn two() {}\n\
                proptest! {\n    fn three(a in 0..1) { b() }\n}\nfn four() {}\n\"#[test] fn five()\"\n\
                #[tokio::test]\nasync fn six() {}\n";
    assert_eq!(test_names(text), ["one", "six", "three"]);
}

#[test]
fn a_difference_from_the_reference_is_found() {
    let expected = [
        Finding::new(1, "Row is missing: `A-02`"),
        Finding::new(1, "Row is not in the reference: `A-03`"),
    ];
    assert_eq!(
        differences(
            "| A-01 | x |\n| A-03 | x |\n",
            "| A-01 | x |\n| A-02 | x |\n| C1 | x |\n"
        ),
        expected
    );
}
