//! Every promise on the security page names the tests that verify it.

use std::collections::BTreeSet;

use crate::report::{Finding, Offenders};
use crate::requirements::{cells, commands, missing_proofs};
use crate::test_paths;
use crate::tree::file;

const PAGE: &str = "docs/security.md";

#[test]
fn promises_name_existing_tests() {
    let page = file(PAGE).expect("the promises have a page");
    let mut proofs = test_paths::all();
    let menu = file("justfile").expect("the menu of commands is there");
    proofs.extend(commands(&menu.text));
    let mut offenders = Offenders::default();
    offenders.add(PAGE, unproved(&page.text, &proofs));
    offenders.expect_none("Name the tests that fail if the promise is broken");
}

fn unproved(page: &str, proofs: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let [promise, .., proof] = cells(line)[..] else {
            continue;
        };
        if promise == "promise" || promise.starts_with("--") {
            continue;
        }
        let missing = missing_proofs(proof, proofs).into_iter();
        findings.extend(missing.map(|what| Finding::new(index + 1, format!("{promise}: {what}"))));
    }
    findings
}

#[test]
fn promise_without_a_test_is_found() {
    let page = "| promise | enforced by | tests |\n|---|---|---|\n| Kept | it | `a::b` |\n| Broken | it | `a::c` |\n| Empty | it | |\n";
    let proofs = BTreeSet::from(["a::b".to_owned()]);
    assert_eq!(
        unproved(page, &proofs),
        [
            Finding::new(4, "Broken: names no test and no command: `a::c`"),
            Finding::new(5, "Empty: is proved by no test")
        ]
    );
}
