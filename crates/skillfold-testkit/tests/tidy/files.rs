//! Files are short and named after their content.

use crate::report::{Finding, Offenders};
use crate::source::product;
use crate::tree::{File, files};

/// Maximum lines in a file without its tests. The goal is 400.
const LINES: usize = 600;

const EMPTY_NAMES: [&str; 5] = ["utils", "util", "common", "helpers", "misc"];

#[test]
fn files_stay_short() {
    let mut offenders = Offenders::default();
    for file in files()
        .iter()
        .filter(|file| file.is_rust() && is_shipped(file))
    {
        offenders.add(&file.path, too_long(&product(file)));
    }
    offenders.expect_none("Give one of the file's steps a file of its own, named after the step");
}

#[test]
fn no_file_is_named_utils() {
    let mut offenders = Offenders::default();
    for file in files().iter().filter(|file| file.is_rust()) {
        offenders.add(&file.path, empty_name(&file.path));
    }
    offenders.expect_none(
        "Name the file or folder after what it holds, or put the code where it is used",
    );
}

fn is_shipped(file: &File) -> bool {
    file.inside_crate("src").is_some() || file.path.starts_with("bench/src/")
}

fn too_long(product: &str) -> Option<Finding> {
    let lines = product.lines().count();
    let what = format!("File has {lines} lines without tests, the limit is {LINES}");
    (lines > LINES).then(|| Finding::new(LINES + 1, what))
}

fn empty_name(path: &str) -> Option<Finding> {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let name = stem.split('/').find(|name| EMPTY_NAMES.contains(name))?;
    Some(Finding::new(1, format!("Name says nothing: `{name}`")))
}

#[test]
fn long_file_is_found() {
    assert_eq!(too_long(&"//\n".repeat(600)), None);
    let expected = Finding::new(601, "File has 601 lines without tests, the limit is 600");
    assert_eq!(too_long(&"//\n".repeat(601)), Some(expected));
}

#[test]
fn meaningless_file_name_is_found() {
    let expected = Some(Finding::new(1, "Name says nothing: `utils`"));
    assert_eq!(empty_name("crates/a/src/utils.rs"), expected);
    assert_eq!(empty_name("crates/a/src/utils/path.rs"), expected);
    assert_eq!(empty_name("crates/a/src/utility.rs"), None);
}
