//! The code map names every existing source file and no others.

use crate::report::{Finding, Offenders};
use crate::requirements::backticked;
use crate::tree::files;

const PAGE: &str = "ARCHITECTURE.md";

/// Files that need no row: each is the root of its crate or folder.
const HEADS: [&str; 4] = ["lib.rs", "main.rs", "mod.rs", "tests.rs"];

/// A file or folder named in the map; a folder ends with `/`.
struct Named {
    line: usize,
    path: String,
}

#[test]
fn code_map_names_every_source_file() {
    let page = crate::tree::file(PAGE).expect("the architecture has a page");
    let paths: Vec<&str> = files().iter().map(|file| file.path.as_str()).collect();
    let mut offenders = Offenders::default();
    offenders.add(PAGE, differences(&page.text, &paths));
    offenders.expect_none("Give each source file, or its folder, a row in the table of its crate");
}

fn differences(page: &str, paths: &[&str]) -> Vec<Finding> {
    let (crates, named) = read(page, paths);
    let exists = |named: &Named| paths.iter().any(|path| covers(&named.path, path));
    let absent = named.iter().filter(|named| !exists(named));
    let mut findings: Vec<Finding> = absent
        .map(|named| Finding::new(named.line, format!("No such file: `{}`", named.path)))
        .collect();
    for (line, source) in crates {
        let sources = paths.iter().filter(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            path.starts_with(source)
                && path.strip_suffix(".rs").is_some()
                && !HEADS.contains(&name)
                && !path.contains("/tests/")
        });
        let unnamed = sources.filter(|path| !named.iter().any(|named| covers(&named.path, path)));
        findings
            .extend(unnamed.map(|path| Finding::new(line, format!("File has no row: `{path}`"))));
    }
    findings
}

fn covers(named: &str, path: &str) -> bool {
    path == named || (named.ends_with('/') && path.starts_with(named))
}

/// Returns the crates' folders with their lines, and the names in their tables. A name without a folder is in the
/// previous name's folder.
fn read<'a>(page: &'a str, paths: &[&str]) -> (Vec<(usize, &'a str)>, Vec<Named>) {
    let (mut crates, mut named) = (Vec::new(), Vec::new());
    let mut source = None;
    for (index, text) in page.lines().enumerate() {
        let line = index + 1;
        if text.starts_with("`crates/") {
            source = backticked(text).next();
            crates.extend(source.map(|source| (line, source)));
        } else if text.starts_with('#') {
            source = None;
        }
        let (Some(source), true) = (source, text.starts_with("| `")) else {
            continue;
        };
        let cell = text.split(" | ").next().unwrap_or_default();
        // A feature is not a file.
        let cell = cell.split(" *(").next().unwrap_or_default();
        let mut folder = String::new();
        for name in backticked(cell) {
            let beside = format!("{source}/{folder}{name}");
            let path = if paths.iter().any(|path| covers(&beside, path)) {
                beside
            } else {
                format!("{source}/{name}")
            };
            let inside = path[source.len() + 1..].trim_end_matches('/');
            folder = (inside.rsplit_once('/'))
                .map_or_else(String::new, |(folder, _)| format!("{folder}/"));
            named.push(Named { line, path });
        }
    }
    (crates, named)
}

#[test]
fn file_without_a_row_and_row_without_a_file_are_found() {
    let page = "`crates/a/src`, in order:\n\n| file | holds |\n|---|---|\n| `read/one.rs`, `two.rs` *(feature `x`)* | `gone` |\n| `view/` | it |\n| `old.rs` | it |\n\n## Rules\n| `no.rs` |\n";
    let paths = [
        "crates/a/src/lib.rs",
        "crates/a/src/new.rs",
        "crates/a/src/read/mod.rs",
        "crates/a/src/read/one.rs",
        "crates/a/src/read/two.rs",
        "crates/a/src/view/deep/file.rs",
        "crates/b/src/other.rs",
    ];
    assert_eq!(
        differences(page, &paths),
        [
            Finding::new(7, "No such file: `crates/a/src/old.rs`"),
            Finding::new(1, "File has no row: `crates/a/src/new.rs`"),
        ]
    );
}
