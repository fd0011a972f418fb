//! Which version bump a change suggests.

use crate::change::{Bump, FileEdit, suggest_bump};

const HEAD: &str = "name: pdf\ndescription: Fills in forms";

#[test]
fn wording_change_is_a_patch_step() {
    let body = |text: &str| format!("---\n{HEAD}\n---\n{text}\n");
    let edits = [edit("SKILL.md", Some(&body("a")), Some(&body("b")))];
    insta::assert_snapshot!(show(&edits), @"patch: the text of `SKILL.md` changes");
    insta::assert_snapshot!(show(&[edit("references/a.md", Some("a"), Some("b"))]), @"patch: the text of `references/a.md` changes");
    insta::assert_snapshot!(frontmatter("version: 1.0.0", "version: 1.1.0"), @"patch: the text of `SKILL.md` changes");
    insta::assert_snapshot!(frontmatter("metadata:\n  version: \"1\"", "metadata:\n  version: \"2\""), @"patch: the text of `SKILL.md` changes");
}

#[test]
fn new_ability_or_use_is_a_minor_step() {
    insta::assert_snapshot!(show(&[edit("references/a.md", None, Some("a"))]), @"minor: `references/a.md` is new");
    insta::assert_snapshot!(show(&[edit("Scripts/a", Some("a"), Some("b"))]), @"minor: the script `Scripts/a` changes");
    insta::assert_snapshot!(show(&[edit("tools/a.py", None, Some("a"))]), @"minor: the script `tools/a.py` is new");
    insta::assert_snapshot!(frontmatter("triggers: [a]", "triggers: [b]\ntags: [x]"), @"minor: `triggers` changes; `tags` changes");
    insta::assert_snapshot!(frontmatter("allowed-tools: Read Bash", "allowed-tools: Read"), @"minor: `allowed-tools` changes");
    insta::assert_snapshot!(frontmatter("allowed-tools: mcp__x__*", "allowed-tools: mcp__x__get"), @"minor: `allowed-tools` changes");
    insta::assert_snapshot!(frontmatter("effort: low", "effort: high"), @"minor: `effort` changes");
    let old = "---\nname: pdf\ndescription: a\n---\n";
    let edits = [edit(
        "SKILL.md",
        Some(old),
        Some(&old.replace(": a", ": b")),
    )];
    insta::assert_snapshot!(show(&edits), @"minor: `description` changes");
}

#[test]
fn broken_promise_or_wider_permission_is_a_major_step() {
    insta::assert_snapshot!(show(&[edit("a.md", Some("a"), None), edit("b.md", None, Some("a"))]), @"major: `a.md` is deleted");
    insta::assert_snapshot!(frontmatter("", "allowed-tools: Read"), @"major: `allowed-tools` gains `Read`");
    insta::assert_snapshot!(frontmatter("allowed-tools: Bash(git:*)", "allowed-tools: Bash(git:*) Bash(rm:*) Write"), @"major: `allowed-tools` gains `Bash(rm:*)`; `allowed-tools` gains `Write`");
    insta::assert_snapshot!(frontmatter("allowed-tools: Bash(git:*)", "allowed-tools: Bash"), @"major: `allowed-tools` gains `Bash`");
    insta::assert_snapshot!(frontmatter("allowed-tools: Bash (git:*)", "allowed-tools: Bash (git:*) (rm:*)"), @"major: `allowed-tools` gains `(rm:*)`");
    insta::assert_snapshot!(frontmatter("allowed-tools: Bash (git:*)", "allowed-tools: Bash"), @"major: `allowed-tools` gains `Bash`");
    insta::assert_snapshot!(frontmatter("allowed-tools: Read", ""), @"major: `allowed-tools` is removed");
    insta::assert_snapshot!(frontmatter("toolsets: [a.py:A]", "toolsets: [a.py:A, b.py:B]"), @"major: `toolsets` gains `b.py:B`");
    insta::assert_snapshot!(frontmatter("", "hooks:\n  Stop: x"), @"major: `hooks` changes");
    insta::assert_snapshot!(frontmatter("disable-model-invocation: true", ""), @"major: `disable-model-invocation` changes");
    let old = format!("---\n{HEAD}\n---\n");
    let edits = [edit(
        "SKILL.md",
        Some(&old),
        Some(&old.replace("pdf", "forms")),
    )];
    insta::assert_snapshot!(show(&edits), @"major: the name changes from `pdf` to `forms`");
    insta::assert_snapshot!(show(&[edit("SKILL.md", Some(&old), Some("text"))]), @"major: `SKILL.md` no longer has a description");
    insta::assert_snapshot!(show(&[edit("SKILL.md", Some(&old), Some("\0"))]), @"major: `SKILL.md` can no longer be read as a skill");
}

#[test]
fn long_list_of_reasons_is_truncated_with_a_count() {
    let edits: Vec<_> = (0..12)
        .map(|n| edit(&format!("{n}.md"), None, Some("a")))
        .collect();
    insta::assert_snapshot!(show(&edits), @"minor: `0.md` is new; `1.md` is new; `2.md` is new; `3.md` is new; `4.md` is new; `5.md` is new; `6.md` is new; `7.md` is new; `8.md` is new; `9.md` is new; and 2 more");
}

#[test]
fn next_version_needs_three_numbers() {
    let next =
        |version: &str| [Bump::Patch, Bump::Minor, Bump::Major].map(|bump| bump.next(version));
    let some = |versions: [&str; 3]| versions.map(|version| Some(version.to_owned()));
    assert_eq!(next("1.2.3"), some(["1.2.4", "1.3.0", "2.0.0"]));
    assert_eq!(next("0.0.0"), some(["0.0.1", "0.1.0", "1.0.0"]));
    for version in [
        "",
        "1",
        "1.2",
        "1.2.3.4",
        "v1.2.3",
        "1.2.3-a",
        "1.02.3",
        "1..3",
        "+1.2.3",
        "1.2.-3",
        " 1.2.3",
        "99999999999999999999.0.0",
    ] {
        assert_eq!(next(version), [None, None, None], "{version:?}");
    }
    assert_eq!(Bump::Major.next("18446744073709551615.0.0"), None);
}

fn frontmatter(old: &str, new: &str) -> String {
    let file = |fields: &str| format!("---\n{HEAD}\n{fields}\n---\nText\n");
    show(&[edit("SKILL.md", Some(&file(old)), Some(&file(new)))])
}

fn edit(path: &str, old: Option<&str>, new: Option<&str>) -> FileEdit {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    FileEdit::new(path.parse().unwrap(), bytes(old), bytes(new))
}

fn show(edits: &[FileEdit]) -> String {
    let suggested = suggest_bump(edits, "pdf");
    format!("{}: {}", suggested.bump, suggested.reason)
}
