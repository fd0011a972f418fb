//! The requirements table matches the tests, and no row says less than the reference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::report::{Finding, Offenders};
use crate::test_paths;
use crate::tree::{file, root};

const PAGE: &str = "docs/requirements.md";

/// The decisions whose tables say how a row's wording differs from its requirement.
const AMENDMENTS: [&str; 2] = [
    "docs/decisions/0021-rows-as-worded.md",
    "docs/decisions/0053-amended-rows.md",
];

/// How many rows have each state: the states, and the number.
const COUNTS: [(&[&str], usize); 4] = [
    (&["proved", "amended"], 170),
    (&["host"], 5),
    (&["declined"], 1),
    (&["waits"], 0),
];

/// The issues that a requirement may be waiting for.
const ISSUES: [&str; 5] = [
    "What the model sees",
    "Activation",
    "Python package",
    "Improve",
    "Run",
];

struct Row<'a> {
    line: usize,
    id: &'a str,
    what: &'a str,
    digest: &'a str,
    state: &'a str,
    proof: &'a str,
}

#[test]
fn requirements_name_existing_tests() {
    let page = file(PAGE).expect("the requirements have a page");
    let mut proofs = test_paths::all();
    let menu = file("justfile").expect("the menu of commands is there");
    proofs.extend(commands(&menu.text));
    let mut offenders = Offenders::default();
    offenders.add(PAGE, false_rows(&page.text, &proofs));
    offenders.expect_none("Name the tests that prove the requirement, or say what it waits for");
}

#[test]
#[ignore = "needs the reference beside the checkout"]
fn requirements_match_the_reference_wording() {
    let beside = root().parent().expect("the workspace stands in a folder");
    let reference = ["shared", "reference", "requirements.md"]
        .iter()
        .fold(beside.to_owned(), |path, part| path.join(part));
    let reference = fs::read_to_string(reference).expect("the reference is beside the checkout");
    let page = file(PAGE).expect("the requirements have a page");
    let mut offenders = Offenders::default();
    offenders.add(PAGE, differences(&page.text, &reference));
    offenders.expect_none(
        "Give each requirement of the reference one row; read both wordings again before you change a digest",
    );
}

#[test]
fn every_requirement_is_answered_and_amended_ones_are_listed() {
    let page = file(PAGE).expect("the requirements have a page");
    let decisions = AMENDMENTS.map(|path| &*file(path).expect("the decision is there").text);
    let mut offenders = Offenders::default();
    offenders.add(PAGE, miscounted(&page.text, &COUNTS));
    offenders.add(PAGE, unlisted_amendments(&page.text, &decisions));
    offenders
        .expect_none("Prove the rows, and list those that are amended above and in a decision");
}

/// Finds states with a different number of rows.
fn miscounted(page: &str, counts: &[(&[&str], usize)]) -> Vec<Finding> {
    let (rows, _) = rows(page);
    let count = |states: &[&str]| {
        rows.iter()
            .filter(|row| states.contains(&row.state))
            .count()
    };
    let wrong = counts
        .iter()
        .filter(|(states, expected)| count(states) != *expected);
    wrong
        .map(|(states, expected)| {
            let (found, states) = (count(states), states.join(" or "));
            Finding::new(1, format!("{found} rows are {states}, and not {expected}"))
        })
        .collect()
}

/// Finds amended rows that the page does not list or no decision explains, and listed rows that are not amended.
fn unlisted_amendments(page: &str, decisions: &[&str]) -> Vec<Finding> {
    let list = page.split("\nAmended: ").nth(1).unwrap_or_default();
    let list = list.split(".\n").next().unwrap_or_default();
    let listed: BTreeSet<&str> = backticked(list).collect();
    let explained: BTreeSet<&str> = decisions
        .iter()
        .flat_map(|decision| decision.lines())
        .filter_map(|line| cells(line).first().copied())
        .flat_map(|ids| ids.split(", "))
        .collect();
    let (rows, mut findings) = rows(page);
    for row in &rows {
        let is_amended = row.state == "amended";
        let what = if is_amended != listed.contains(row.id) {
            "is amended and not listed above, or the other way round"
        } else if is_amended && !explained.contains(row.id) {
            "is amended, and no decision says why"
        } else {
            continue;
        };
        findings.push(Finding::new(row.line, format!("`{}` {what}", row.id)));
    }
    findings
}

/// Finds rows that are malformed, duplicated, or untrue.
fn false_rows(page: &str, proofs: &BTreeSet<String>) -> Vec<Finding> {
    let (rows, mut findings) = rows(page);
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    for (index, row) in rows.iter().enumerate() {
        let mut say =
            |what: String| findings.push(Finding::new(row.line, format!("`{}` {what}", row.id)));
        if ids[..index].contains(&row.id) {
            say("is listed twice".to_owned());
        }
        match row.state {
            "proved" | "amended" => missing_proofs(row.proof, proofs).into_iter().for_each(say),
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

pub(crate) fn missing_proofs(proof: &str, proofs: &BTreeSet<String>) -> Vec<String> {
    if backticked(proof).next().is_none() {
        return vec!["is proved by no test".to_owned()];
    }
    backticked(proof)
        .filter(|path| !proofs.contains(*path))
        .map(|path| format!("names no test and no command: `{path}`"))
        .collect()
}

/// Returns a menu's commands as typed.
pub(crate) fn commands(menu: &str) -> impl Iterator<Item = String> {
    let names = menu.lines().filter_map(|line| {
        let name = line.split([' ', ':']).next()?;
        (line.contains(':') && !name.is_empty() && !line.contains(":=")).then_some(name)
    });
    names.map(|name| format!("just {name}"))
}

/// Returns the tables' rows, and the table lines that are not rows.
fn rows(page: &str) -> (Vec<Row<'_>>, Vec<Finding>) {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for (index, text) in page.lines().enumerate() {
        let line = index + 1;
        match cells(text)[..] {
            [] | ["id", ..] => {}
            [dashes, ..] if dashes.starts_with("--") => {}
            [id, what, digest, state, proof] if is_id(id) => rows.push(Row {
                line,
                id,
                what,
                digest,
                state,
                proof,
            }),
            _ => {
                let what = "Row is not `id | what | digest | state | proof`";
                findings.push(Finding::new(line, what));
            }
        }
    }
    (rows, findings)
}

/// Returns the cells of a table line; none if it is not one. An escaped bar is part of its cell.
pub(crate) fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let Some(line) = line
        .strip_prefix('|')
        .map(|line| line.strip_suffix('|').unwrap_or(line))
    else {
        return Vec::new();
    };
    let (mut cells, mut start) = (Vec::new(), 0);
    for (position, _) in line.match_indices('|') {
        if !line[..position].ends_with('\\') {
            cells.push(line[start..position].trim());
            start = position + 1;
        }
    }
    cells.push(line[start..].trim());
    cells
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

pub(crate) fn backticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Finds requirements that only one of the two pages has, and rows whose wording, or whose requirement's wording, no
/// longer matches the digest.
fn differences(page: &str, reference: &str) -> Vec<Finding> {
    let wordings = wordings(reference);
    let (rows, mut findings) = rows(page);
    for row in &rows {
        let what = match wordings.get(row.id) {
            None => "is not in the reference".to_owned(),
            Some(wording) => {
                let now = digest(&[row.what, wording]);
                if now == row.digest {
                    continue;
                }
                format!(
                    "or its requirement has another wording than `{}`: `{now}` now",
                    row.digest
                )
            }
        };
        findings.push(Finding::new(row.line, format!("Row `{}` {what}", row.id)));
    }
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id).collect();
    let missing = wordings.keys().filter(|id| !ids.contains(*id));
    findings.extend(missing.map(|id| Finding::new(1, format!("Row is missing: `{id}`"))));
    findings
}

/// Returns each requirement's wording, with the resolutions of the conflicts it names.
fn wordings(reference: &str) -> BTreeMap<&str, String> {
    let tables: Vec<Vec<&str>> = reference.lines().map(cells).collect();
    let resolved: BTreeMap<&str, &str> = tables
        .iter()
        .filter_map(|cells| match cells[..] {
            [id, _, resolution] => Some((id, resolution)),
            _ => None,
        })
        .collect();
    let requirements = tables.iter().filter_map(|cells| match cells[..] {
        [id, _, wording, _, _, conflicts] if is_id(id) => Some((id, wording, conflicts)),
        _ => None,
    });
    requirements
        .map(|(id, wording, conflicts)| {
            let conflicts = conflicts.split_whitespace();
            let resolutions = conflicts.filter_map(|conflict| resolved.get(conflict).copied());
            let parts: Vec<&str> = std::iter::once(wording).chain(resolutions).collect();
            (id, parts.join("\n"))
        })
        .collect()
}

/// Returns eight hex digits that distinguish texts (FNV-1a).
fn digest(texts: &[&str]) -> String {
    let mut hash: u32 = 0x811c_9dc5;
    for byte in texts.join("\n").bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    format!("{hash:08x}")
}

#[test]
fn false_row_is_found() {
    let page = "| id | what | digest | state | proof |\n|---|---|---|---|---|\n\
                | A-01 | x | 0 | proved | `core::it::good`, `core::it::bad`, `other::it::good`, `just work`, `just rest` |\n\
                | A-02 | x | 0 | proved | TODO |\n| A-03 | x | 0 | waits | Someday |\n| A-03 | x | 0 | waits | Run |\n\
                | A-04 | x | 0 | host | elsewhere |\n| A-05 | x | 0 | host | `A-01` |\n| A-06 | x | 0 | done | |\n| A-07 | x |\n\
                | A-08 | x | 0 | declined | |\n";
    let mut proofs = BTreeSet::from(["core::it::good".to_owned()]);
    proofs.extend(commands(
        "# rest: no\nfolder := \"x\"\nwork file=\"x\": other\n    rest: no\n",
    ));
    let expected = [
        Finding::new(3, "`A-01` names no test and no command: `core::it::bad`"),
        Finding::new(3, "`A-01` names no test and no command: `other::it::good`"),
        Finding::new(3, "`A-01` names no test and no command: `just rest`"),
        Finding::new(4, "`A-02` is proved by no test"),
        Finding::new(5, "`A-03` waits for no issue of the list: `Someday`"),
        Finding::new(6, "`A-03` is listed twice"),
        Finding::new(7, "`A-04` does not name the row that generalises it"),
        Finding::new(9, "`A-06` has an unknown state: `done`"),
        Finding::new(10, "Row is not `id | what | digest | state | proof`"),
        Finding::new(11, "`A-08` does not say why it is declined"),
    ];
    assert_eq!(false_rows(page, &proofs), expected);
}

#[test]
fn row_weaker_than_the_reference_is_found() {
    let reference = "| A-01 | area | One \\| two | S0 | MUST | C1 |\n| A-02 | area | Two | S0 | MUST | |\n\
                     | A-04 | area | Four | S0 | MUST | C1 C2 |\n| C1 | a vs b | Both |\n| C2 | a vs b | Neither |\n";
    let one = digest(&["x", "One \\| two\nBoth"]);
    let four = digest(&["x", "Four\nBoth\nNeither"]);
    let page = |what: &str| {
        format!(
            "| A-01 | {what} | {one} | proved | |\n| A-03 | x | 0 | proved | |\n| A-04 | x | {four} | proved | |\n"
        )
    };
    let says = |page: &str, reference: &str| {
        let findings = differences(page, reference);
        let said = findings.into_iter().map(|finding| finding.what);
        said.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        says(&page("x"), reference),
        "Row `A-03` is not in the reference\nRow is missing: `A-02`"
    );
    for (page, reference) in [
        (page("less"), reference.to_owned()),
        (page("x"), reference.replace("One", "All")),
        (page("x"), reference.replace("Both", "Neither")),
    ] {
        let said = says(&page, &reference);
        assert!(
            said.contains("Row `A-01` or its requirement has another wording"),
            "{said}"
        );
    }
}

#[test]
fn miscounted_or_unlisted_row_is_found() {
    let page = "\nAmended: `A-01`,\n`A-03`.\n\n| A-01 | x | 0 | amended | |\n| A-02 | x | 0 | amended | |\n\
                | A-03 | x | 0 | proved | |\n| A-04 | x | 0 | host | |\n";
    let expected = [Finding::new(1, "3 rows are proved or amended, and not 4")];
    let counts: [(&[&str], usize); 2] = [(&["proved", "amended"], 4), (&["host"], 1)];
    assert_eq!(miscounted(page, &counts), expected);
    let expected = [
        Finding::new(5, "`A-01` is amended, and no decision says why"),
        Finding::new(
            6,
            "`A-02` is amended and not listed above, or the other way round",
        ),
        Finding::new(
            7,
            "`A-03` is amended and not listed above, or the other way round",
        ),
    ];
    assert_eq!(
        unlisted_amendments(page, &["| A-02, B-01 | x |\n"]),
        expected
    );
}
