//! The `choose` and `disclose` stages are covered by tests, as the deep gate enforces.

use crate::tree::file;

const RUN: &str = ".ci/deep";

/// Minimum line coverage, in percent.
const LEAST: &str = "95";

const FOLDERS: [&str; 3] = [
    "crates/skillfold-core/src/choose",
    "crates/skillfold-core/src/search",
    "crates/skillfold-core/src/disclose",
];

#[test]
fn deep_gate_enforces_choose_and_disclose_coverage() {
    let run = file(RUN).expect("the deep gate has its commands in one file");
    assert!(
        is_judged(&run.text),
        "{RUN}: give the stage `coverage` the least share, {LEAST}, and the folders {FOLDERS:?}"
    );
}

/// Returns whether a stage measures all folders with the minimum.
fn is_judged(run: &str) -> bool {
    let judges = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != LEAST);
        line.contains("coverage.py") && words.next().is_some() && words.eq(FOLDERS)
    };
    // The stages that run if none is named.
    let is_stage = |line: &str| {
        line.starts_with("if [ $# = 0 ]") && line.split_whitespace().any(|word| word == "coverage")
    };
    run.lines().any(judges) && run.lines().any(is_stage)
}

#[test]
fn lowered_coverage_threshold_is_found() {
    let run = |least: &str, folders: &[&str]| {
        let folders = folders.join(" ");
        format!(
            "python3 .ci/coverage.py lcov {least} {folders}\nif [ $# = 0 ]; then set -- races coverage ; fi\n"
        )
    };
    assert!(is_judged(&run(LEAST, &FOLDERS)));
    assert!(!is_judged(&run("90", &FOLDERS)));
    assert!(!is_judged(&run(LEAST, &FOLDERS[..1])));
    assert!(!is_judged(
        &run(LEAST, &FOLDERS).replace("races coverage", "races")
    ));
}
