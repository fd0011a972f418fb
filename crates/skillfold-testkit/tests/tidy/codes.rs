//! The table of codes and the code agree.

use crate::report::{Finding, Offenders};
use crate::source::{product, tests, words};
use crate::tree::{file, files};

const TABLE: &str = "crates/skillfold-core/src/codes.rs";

/// A table row.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    variant: String,
    number: String,
    line: usize,
}

#[test]
fn every_code_is_used() {
    let (mut shipped, mut tested) = (String::new(), String::new());
    for file in files()
        .iter()
        .filter(|file| file.path != TABLE && !file.is_tidy())
    {
        if file.inside_crate("tests").is_some() {
            tested.push_str(&file.text);
        } else if file.inside_crate("src").is_some() && file.is_rust() {
            shipped.push_str(&product(file));
            tested.push_str(&tests(file));
        }
    }
    let table = file(TABLE).expect("the core has a table of codes");
    let rows = rows(&table.text);
    assert!(
        !rows.is_empty(),
        "No row was found in `{TABLE}`: this test must learn its form"
    );
    let mut offenders = Offenders::default();
    offenders.add(TABLE, idle_codes(&rows, &shipped, &tested));
    offenders.expect_none(
        "Report the code where it applies and test it by name or number, or remove its row",
    );
}

/// Returns the rows, which start with `Variant "SFnnn"`.
fn rows(table: &str) -> Vec<Row> {
    let row = |(index, line): (usize, &str)| {
        let mut cells = line.split_whitespace();
        let variant = cells
            .next()
            .filter(|variant| variant.starts_with(char::is_uppercase))?;
        let number = cells.next()?.strip_prefix('"')?.strip_suffix('"')?;
        number.starts_with("SF").then(|| Row {
            variant: variant.to_owned(),
            number: number.to_owned(),
            line: index + 1,
        })
    };
    table.lines().enumerate().filter_map(row).collect()
}

/// Finds codes that nothing reports or no test names.
fn idle_codes(rows: &[Row], shipped: &str, tested: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Row {
        variant,
        number,
        line,
    } in rows
    {
        let name = format!("Code::{variant}");
        if words(shipped, &name).next().is_none() {
            findings.push(Finding::new(
                *line,
                format!("Nothing reports `{name}` (`{number}`)"),
            ));
        }
        if words(tested, &name).next().is_none() && words(tested, number).next().is_none() {
            findings.push(Finding::new(
                *line,
                format!("No test names `{name}` or `{number}`"),
            ));
        }
    }
    findings
}

#[test]
fn unused_code_is_found() {
    let rows = rows(
        "codes! {\n    // Names.\n    NameLong \"SF001\" Error \"Too long\",\n        \"Cut it\";\n    Name \"SF002\" Info \"Odd\", \"No\";\n}\n",
    );
    let row = |variant: &str, number: &str, line| Row {
        variant: variant.to_owned(),
        number: number.to_owned(),
        line,
    };
    assert_eq!(rows, [row("NameLong", "SF001", 3), row("Name", "SF002", 5)]);
    let found = idle_codes(&rows, "Code::NameLong;", "assert!(\"error[SF001]\");");
    let expected = [
        Finding::new(5, "Nothing reports `Code::Name` (`SF002`)"),
        Finding::new(5, "No test names `Code::Name` or `SF002`"),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        idle_codes(&rows, "Code::NameLong Code::Name", "SF001 Code::Name"),
        []
    );
}
