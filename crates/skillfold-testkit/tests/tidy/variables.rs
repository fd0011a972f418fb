//! Every environment variable is in the reference.

use std::collections::BTreeSet;

use crate::report::{Finding, Offenders};
use crate::source::literals;
use crate::tree::{File, file};

/// The only file that reads variables.
const READER: &str = "crates/skillfold/src/environment/mod.rs";
const PAGE: &str = "docs/reference/variables.md";

/// Variables read by a dependency: they control colours or request completions.
const OF_DEPENDENCIES: [&str; 5] = [
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "NO_COLOR",
    "SKILLFOLD_COMPLETE",
    "TERM",
];

#[test]
fn environment_variables_are_in_the_reference() {
    let reader = file(READER).expect("one file reads the environment");
    let page = file(PAGE).map_or("", |file| &file.text);
    let mut offenders = Offenders::default();
    offenders.add(PAGE, differences(&read_by(reader), page));
    offenders.expect_none("Give each variable that is read a row, and no other");
}

/// Returns the names of the variables a file reads.
fn read_by(file: &File) -> BTreeSet<&str> {
    let literals = literals(file).into_iter().map(|(_, text)| text);
    literals.filter(|text| is_variable(text)).collect()
}

/// Returns whether a string is a name such as `HOME`; a prefix, such as `SKILLFOLD_`, is not.
fn is_variable(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    text.len() > 2 && text.bytes().all(is_part) && !text.ends_with('_')
}

fn differences(read: &BTreeSet<&str>, page: &str) -> Vec<Finding> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeSet<&str> = rows
        .filter_map(|row| row.split('`').next())
        .filter(|name| is_variable(name))
        .collect();
    let missing = read.difference(&listed);
    let missing = missing.map(|name| Finding::new(1, format!("Variable has no row: `{name}`")));
    let unread = listed
        .iter()
        .filter(|name| !read.contains(*name) && !OF_DEPENDENCIES.contains(name));
    let unread = unread.map(|name| Finding::new(1, format!("Nothing reads the variable `{name}`")));
    missing.chain(unread).collect()
}

#[test]
fn variable_without_a_row_is_found() {
    let reader = File {
        path: READER.to_owned(),
        text: "const A: &str = \"SKILLFOLD_CONFIG\";\nconst B: &str = \"SKILLFOLD_\";\nconst C: [&str; 2] = [\"HOME\", \"matching\"];\n"
            .to_owned(),
    };
    let read = read_by(&reader);
    assert_eq!(read, BTreeSet::from(["HOME", "SKILLFOLD_CONFIG"]));
    let page = "| variable | what |\n|---|---|\n| `HOME` | the home |\n| `NO_COLOR` | no colours |\n| `OLD` | gone |\n";
    assert_eq!(
        differences(&read, page),
        [
            Finding::new(1, "Variable has no row: `SKILLFOLD_CONFIG`"),
            Finding::new(1, "Nothing reads the variable `OLD`")
        ]
    );
}
