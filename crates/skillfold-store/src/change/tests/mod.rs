//! Tests for changes: a diff in, the edits or the refusal out.

mod merging;
mod placing;
mod properties;
mod reading;
mod refusals;
mod steps;

use std::fmt::Write as _;

use skillfold_core::Error;

use crate::change::{Applied, Change, unified};

/// A skill in which one line occurs twice.
const SKILL: &str = "\
---
name: pdf
description: Fills in forms
---
# PDF

Use pdftk.
Save the file.

## Forms

Use pdftk.
Check the file.
";

/// Applies a diff to a skill with [`SKILL`] and one other file.
fn check(diff: &str) -> String {
    check_files(
        &[("SKILL.md", SKILL), ("references/forms.md", "One\nTwo\n")],
        diff,
    )
}

/// Applies a diff to some files and returns the repairs, then the canonical diff, with visible carriage returns.
fn check_files(files: &[(&str, &str)], diff: &str) -> String {
    let change = match Change::parse(diff) {
        Ok(change) => change,
        Err(error) => return format!("refused: {error}"),
    };
    let mut report = String::new();
    for repair in change.repairs() {
        writeln!(report, "read: {repair}").unwrap();
    }
    match apply(&change, files) {
        Err(error) => write!(report, "refused: {error}").unwrap(),
        Ok(applied) => {
            for repair in applied.repairs {
                writeln!(report, "applied: {repair}").unwrap();
            }
            report += &unified(&applied.edits).replace('\r', "␍");
        }
    }
    report
}

fn apply(change: &Change, files: &[(&str, &str)]) -> Result<Applied, Error> {
    change.apply(|path| {
        let file = files.iter().find(|(name, _)| *name == path);
        Ok(file.map(|(_, text)| text.as_bytes().to_vec()))
    })
}
