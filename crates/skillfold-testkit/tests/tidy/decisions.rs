//! Every decision is in the list of decisions.

use crate::report::{Finding, Offenders};
use crate::tree::{file, files};

const FOLDER: &str = "docs/decisions/";

#[test]
fn decisions_are_indexed() {
    let pages: Vec<&str> = files()
        .iter()
        .filter_map(|file| file.path.strip_prefix(FOLDER))
        .filter(|name| is_page(name))
        .collect();
    let index = file("docs/decisions/README.md").map_or("", |file| &file.text);
    let mut offenders = Offenders::default();
    offenders.add("docs/decisions/README.md", unlisted(index, &pages));
    offenders.expect_none("Add a line with a link to the page");
}

/// Returns whether a file is named `NNNN-*.md`.
fn is_page(name: &str) -> bool {
    let Some((number, title)) = name.split_once('-') else {
        return false;
    };
    number.len() == 4
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && title.strip_suffix(".md").is_some()
}

fn unlisted(index: &str, pages: &[&str]) -> Vec<Finding> {
    pages
        .iter()
        .filter(|page| {
            !index.contains(&format!("]({page})")) && !index.contains(&format!("](./{page})"))
        })
        .map(|page| Finding::new(1, format!("Page is not linked: `{page}`")))
        .collect()
}

#[test]
fn page_without_a_link_is_found() {
    let index = "- [One](0001-one.md)\n- [Two](./0002-two.md)\n- 0003-three.md\n";
    let pages = ["0001-one.md", "0002-two.md", "0003-three.md"];
    assert_eq!(
        unlisted(index, &pages),
        [Finding::new(1, "Page is not linked: `0003-three.md`")]
    );
    assert!(is_page("0001-one.md") && !is_page("README.md") && !is_page("1-one.md"));
}
