//! What is refused, with the line and the fix.

use skillfold_core::ErrorKind;
use skillfold_testkit::{AttackClass, ExpectedOutcome, attack_paths};

use super::{SKILL, apply, check, check_files};
use crate::change::{Change, MAX_DIFF_BYTES, MAX_FILE_BYTES, MAX_FILES, MAX_HUNKS};

#[test]
fn text_without_a_diff_is_refused() {
    insta::assert_snapshot!(check(""), @"refused: Invalid `diff`: there is no unified diff in it; start with the lines `--- a/SKILL.md` and `+++ b/SKILL.md`, then write for each place a line such as `@@ -12,3 +12,4 @@` and below it unchanged lines after a space, removed lines after `-` and added lines after `+`");
    insta::assert_snapshot!(check("Please shorten line 8.\n---\n"), @"refused: Invalid `diff`: there is no unified diff in it; start with the lines `--- a/SKILL.md` and `+++ b/SKILL.md`, then write for each place a line such as `@@ -12,3 +12,4 @@` and below it unchanged lines after a space, removed lines after `-` and added lines after `+`");
    insta::assert_snapshot!(check("*** Begin Patch\n*** Update File: SKILL.md\n-a\n+b\n*** End Patch\n"), @"refused: Invalid `diff`: there is no unified diff in it; start with the lines `--- a/SKILL.md` and `+++ b/SKILL.md`, then write for each place a line such as `@@ -12,3 +12,4 @@` and below it unchanged lines after a space, removed lines after `-` and added lines after `+`");
}

#[test]
fn second_diff_is_refused() {
    insta::assert_snapshot!(check("```diff\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n```\nand\n```diff\n--- a/references/forms.md\n+++ b/references/forms.md\n@@ -1 +1 @@\n-One\n+1\n```\n"), @"refused: Invalid `diff`: line 10 starts a second diff; put all files into one diff");
}

#[test]
fn renames_copies_modes_links_and_binary_patches_are_refused() {
    insta::assert_snapshot!(check("diff --git a/a.md b/b.md\nsimilarity index 100%\nrename from a.md\nrename to b.md\n"), @"refused: Invalid `diff`: line 3 renames or copies a file, which a change cannot; add the new file with `--- /dev/null`, and delete the old one with `+++ /dev/null`");
    insta::assert_snapshot!(check("diff --git a/a.md b/b.md\ncopy from a.md\ncopy to b.md\n"), @"refused: Invalid `diff`: line 2 renames or copies a file, which a change cannot; add the new file with `--- /dev/null`, and delete the old one with `+++ /dev/null`");
    insta::assert_snapshot!(check("--- a/a.md\n+++ b/b.md\n@@ -1 +1 @@\n-a\n+b\n"), @"refused: Invalid `diff`: line 2 names another file than the line above it: `a/a.md` and `b/b.md`; a change cannot rename a file, but delete one with `+++ /dev/null` and add the other with `--- /dev/null`");
    insta::assert_snapshot!(check("diff --git a/x.sh b/x.sh\nold mode 100644\nnew mode 100755\n"), @"refused: Invalid `diff`: line 2 changes the mode of a file, which a change cannot; remove the line");
    insta::assert_snapshot!(check("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"), @"refused: Invalid `diff`: line 2 is about a link or a submodule; only text files can be changed");
    insta::assert_snapshot!(check("diff --git a/x.png b/x.png\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZ\n"), @"refused: Invalid `diff`: line 3 belongs to a binary patch; only text files can be changed");
    insta::assert_snapshot!(check("Binary files a/x.png and b/x.png differ\n"), @"refused: Invalid `diff`: line 1 belongs to a binary patch; only text files can be changed");
    insta::assert_snapshot!(check("diff --cc SKILL.md\n--- a/SKILL.md\n+++ b/SKILL.md\n@@@ -1,1 -1,1 +1,1 @@@\n--a\n++b\n"), @"refused: Invalid `diff`: line 4 belongs to a combined diff of a merge; write a diff against the skill's files");
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    insta::assert_snapshot!(check("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n"), @"refused: Invalid `diff`: line 2 names no file; write `/dev/null` only after `---` to add a file, or only after `+++` to delete it");
    insta::assert_snapshot!(check("diff --git a/a.md b/a.md\n--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-a\n+b\n"), @"refused: Invalid `diff`: line 1 and line 3 name different files; name the same file in both");
    insta::assert_snapshot!(check("diff --git a/a.md b/a.md\nnew file mode 100644\n--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"), @"refused: Invalid `diff`: lines 1 to 4 both add and delete `a.md`; write `/dev/null` after `---` to add a file, or after `+++` to delete it");
    insta::assert_snapshot!(check("diff --git a/a.md b/b.md\nindex 1..2\n"), @"refused: Invalid `diff`: line 1 does not say which file it is; write `--- ` and `+++ ` lines below it");
    insta::assert_snapshot!(check("diff --git a/a.md b/a.md\nfoo\n"), @"refused: Invalid `diff`: line 2 is not part of the header of a file: `foo`; after `diff --git` come `--- ` and `+++ ` lines");
    insta::assert_snapshot!(check("diff --git a/a.md b/a.md\n--- a/a.md\n@@ -1 +1 @@\n-a\n+b\n"), @"refused: Invalid `diff`: line 2 starts with `---` and the next line does not start with `+++`; write both, with the file's name or `/dev/null`");
    insta::assert_snapshot!(check("--- \"a/\\303\\244.md\"\n+++ \"b/\\303\\244.md\"\n@@ -1 +1 @@\n-a\n+b\n"), @"refused: Invalid `diff`: line 2 has a file name in quotes; write it without quotes and escapes");
}

#[test]
fn half_a_header_is_refused() {
    insta::assert_snapshot!(check("--- a/references/forms.md\n@@ -1 +1 @@\n-One\n+1\n"), @"refused: Invalid `diff`: line 1 starts with `---` and the next line does not start with `+++`; write both, with the file's name or `/dev/null`");
    insta::assert_snapshot!(check("+++ b/references/forms.md\n\n@@ -1 +1 @@\n-One\n+1\n"), @"refused: Invalid `diff`: line 1 names a file, and the first hunk is at line 3; write `--- ` and `+++ ` lines one below the other, right above the hunks of the file");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n--- a/references/forms.md\n@@ -1 +1 @@\n-One\n+1\n"), @"refused: Invalid `diff`: line 6 starts with `---` and the next line does not start with `+++`; write both, with the file's name or `/dev/null`");
}

#[test]
fn lines_that_belong_to_no_hunk_are_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n-Save the file.\n+Save it.\n"), @"refused: Invalid `diff`: there is no hunk for `SKILL.md` at line 3; write a line such as `@@ -12,3 +12,4 @@` before the changed lines");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n"), @"refused: Invalid `diff`: there is no hunk for `SKILL.md` at line 3; write a line such as `@@ -12,3 +12,4 @@` before the changed lines");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n"), @"refused: Invalid `diff`: line 3 starts a hunk that changes nothing; remove it, or mark its changed lines with `-` and `+`");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\nThat is all.\n"), @"refused: Invalid `diff`: line 6 starts with neither a space, `+` nor `-`: `That is all.`; put a space before each unchanged line of a hunk, also before an empty one");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,2 @@\n Use pdftk.\nSave the file.\n+Save it.\n"), @"refused: Invalid `diff`: line 5 starts with neither a space, `+` nor `-`: `Save the file.`; put a space before each unchanged line of a hunk, also before an empty one");
    insta::assert_snapshot!(check("diff --git a/SKILL.md b/SKILL.md\nindex 1..2 100644\n\n--- a/references/forms.md\n+++ b/references/forms.md\n@@ -1 +1 @@\n-One\n+1\n"), @"refused: Invalid `diff`: there is no hunk for `SKILL.md` at line 3; write a line such as `@@ -12,3 +12,4 @@` before the changed lines");
}

#[test]
fn hunk_that_changes_nothing_is_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n ---\n name: pdf\n"), @"refused: Invalid `diff`: line 3 starts a hunk that changes nothing; remove it, or mark its changed lines with `-` and `+`");
}

#[test]
fn change_that_changes_nothing_is_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8 +8 @@\n-Save the file.\n+Save the file.\n"), @"refused: Invalid `diff`: it changes nothing: the added lines equal the removed ones; write the new text after `+`");
}

#[test]
fn no_newline_marker_in_the_middle_is_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,2 @@\n Use pdftk.\n\\ No newline at end of file\n-Save the file.\n+Save it.\n"), @r"refused: Invalid `diff`: line 5 says that no newline follows, and the file has more lines; write `\ No newline at end of file` only after the last line of the file");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,2 @@\n\\ No newline at end of file\n-Save the file.\n+Save it.\n"), @r"refused: Invalid `diff`: line 4 starts with neither a space, `+` nor `-`: `\ No newline at end of file`; put a space before each unchanged line of a hunk, also before an empty one");
}

#[test]
fn deleting_the_skill_file_is_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ /dev/null\n"), @"refused: Invalid `diff`: line 1 deletes `SKILL.md`, without which there is no skill; change it instead");
}

#[test]
fn adding_over_an_existing_file_is_refused() {
    insta::assert_snapshot!(check("--- /dev/null\n+++ b/references/forms.md\n@@ -0,0 +1 @@\n+a\n"), @"refused: Invalid `diff`: line 1 adds `references/forms.md`, which exists; write `--- a/references/forms.md` and `+++ b/references/forms.md` to change it");
}

#[test]
fn changing_a_missing_file_is_refused() {
    insta::assert_snapshot!(check("--- a/pdf/SKILL.md\n+++ b/pdf/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @"refused: Invalid `diff`: line 1 is about `pdf/SKILL.md`, which does not exist; correct the path, which starts in the skill's folder, or write `--- /dev/null` and `+++ b/pdf/SKILL.md` to add the file");
    insta::assert_snapshot!(check("--- a/x.md\n+++ /dev/null\n"), @"refused: Invalid `diff`: line 1 is about `x.md`, which does not exist; correct the path, which starts in the skill's folder, or write `--- /dev/null` and `+++ b/x.md` to add the file");
}

#[test]
fn new_and_deleted_files_have_only_added_or_removed_lines() {
    insta::assert_snapshot!(check("--- /dev/null\n+++ b/x.md\n@@ -0,0 +1,2 @@\n a\n+b\n"), @"refused: Invalid `diff`: line 4 is not marked with `+` in a part that adds the file `x.md`; mark all lines, or name the file after both `---` and `+++` to change it");
    insta::assert_snapshot!(check("--- a/references/forms.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-One\n Two\n"), @"refused: Invalid `diff`: line 5 is not marked with `-` in a part that deletes the file `references/forms.md`; mark all lines, or name the file after both `---` and `+++` to change it");
    insta::assert_snapshot!(check("--- /dev/null\n+++ b/x.md\n@@ -0,0 +1 @@\n+a\n@@ -0,0 +9 @@\n+b\n"), @"refused: Invalid `diff`: line 5 starts a second hunk of a part that adds the file `x.md`; write all its lines in one hunk");
}

#[test]
fn partial_deletion_of_a_file_is_refused() {
    insta::assert_snapshot!(check("--- a/references/forms.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-One\n"), @"refused: Invalid `diff`: line 1 deletes `references/forms.md` and lists 1 of its 2 lines with `-`; list all of them, or name the file after `+++` to keep the others");
}

#[test]
fn same_file_twice_is_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -2 +2 @@\n-name: pdf\n+name: x\n"), @"refused: Invalid `diff`: line 6 starts a second part for `SKILL.md`, the first starts at line 1; put all hunks of a file under one header");
    insta::assert_snapshot!(check("--- a/references/forms.md\n+++ b/references/forms.md\n@@ -1 +1 @@\n-One\n+1\n--- /dev/null\n+++ b/References/FORMS.md\n@@ -0,0 +1 @@\n+a\n"), @"refused: Invalid `diff`: line 6 names `References/FORMS.md` and line 1 names `references/forms.md`, which some file systems cannot tell apart; change one of them, or choose another name");
    insta::assert_snapshot!(check("--- /dev/null\n+++ b/a\n--- /dev/null\n+++ b/a/b\n"), @"refused: Invalid `diff`: line 3 names `a/b` and line 1 names `a`, which some file systems cannot tell apart; change one of them, or choose another name");
}

#[test]
fn overlapping_hunks_are_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @"refused: Invalid `diff`: line 7 is about the same place as an earlier hunk; join the two hunks");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,3 @@\n Use pdftk.\n+A\n Save the file.\n@@ -7,2 +8,3 @@\n Use pdftk.\n+B\n Save the file.\n"), @"refused: Invalid `diff`: line 9 is about the same place as an earlier hunk; join the two hunks");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,2 @@\n-Use pdftk.\n+A\n Save the file.\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @"refused: Invalid `diff`: line 8 is about the same place as an earlier hunk; join the two hunks");
}

#[test]
fn path_outside_the_skill_is_refused() {
    let refuse = |path: &str| {
        let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+a\n");
        let error = Change::parse(&diff).expect_err(path).to_string();
        let rule = error.split_once("`: ").unwrap().1;
        let rule = rule.split_once("; name").unwrap().0;
        format!("{path:?}: {rule}")
    };
    let paths = [
        "../x",
        "/etc/passwd",
        "a/../../x",
        "C:/x",
        "a\\b",
        "\\\\?\\x",
        "a:b",
        "x\0",
        "a.",
        "a /b",
        "NUL",
        "aux.md",
        ".git/hooks/pre-commit",
        "a/.GIT/config",
        "git~1/config",
        "./x",
        "",
        ".skillfold-write-1",
        "a/.Skillfold-x",
        "SCRIPT~1.PY",
        "skill.md",
        "a\u{202e}b",
        "\u{200b}",
    ];
    insta::assert_snapshot!(paths.map(refuse).join("\n"), @r#"
    "../x": line 2 names the file `../x`: Path traversal detected
    "/etc/passwd": line 2 names the file `/etc/passwd`: Path is absolute or has an empty component
    "a/../../x": line 2 names the file `a/../../x`: Path traversal detected
    "C:/x": line 2 names the file `C:/x`: Path has a backslash or a colon
    "a\\b": line 2 names the file `a\b`: Path has a backslash or a colon
    "\\\\?\\x": line 2 names the file `\\?\x`: Path has a backslash or a colon
    "a:b": line 2 names the file `a:b`: Path has a backslash or a colon
    "x\0": line 2 names the file `x\u{0}`: Path has control characters
    "a.": line 2 names the file `a.`: Path has a component that ends with a dot or a space
    "a /b": line 2 names the file `a /b`: Path has a component that ends with a dot or a space
    "NUL": line 2 names the file `NUL`: Path names a Windows device
    "aux.md": line 2 names the file `aux.md`: Path names a Windows device
    ".git/hooks/pre-commit": line 2 names the file `.git/hooks/pre-commit`: Path belongs to version control, not to the skill
    "a/.GIT/config": line 2 names the file `a/.GIT/config`: Path belongs to version control, not to the skill
    "git~1/config": line 2 names the file `git~1/config`: Path belongs to version control, not to the skill
    "./x": line 2 names the file `./x`: Path has a component `.`
    "": line 2 names the file ``: Path is absolute or has an empty component
    ".skillfold-write-1": line 2 names the file `.skillfold-write-1`: names that start with `.skillfold-` are reserved
    "a/.Skillfold-x": line 2 names the file `a/.Skillfold-x`: names that start with `.skillfold-` are reserved
    "SCRIPT~1.PY": line 2 names the file `SCRIPT~1.PY`: Windows may read the name as the short form of another one
    "skill.md": line 2 names the file `skill.md`: some file systems treat it as `SKILL.md`, others do not
    "a\u{202e}b": line 2 names the file `a\u{202e}b`: the path has invisible characters, so a reviewer would see a different name
    "\u{200b}": line 2 names the file `\u{200b}`: the path has invisible characters, so a reviewer would see a different name
    "#);
}

#[test]
fn path_attacks_are_refused() {
    // The store detects obstacles on disk; the name alone does not show them.
    let is_about_content = |class| {
        matches!(
            class,
            AttackClass::Link | AttackClass::HardLink | AttackClass::Special
        )
    };
    let mut attacks = attack_paths();
    attacks.retain(|attack| {
        attack.expected == ExpectedOutcome::Refused && !is_about_content(attack.class)
    });
    let mut count = 0;
    for attack in attacks {
        let path = &attack.text;
        for diff in [
            format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+a\n"),
            format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"),
        ] {
            // Whitespace around a name is not part of it.
            let change = Change::parse(&diff);
            let accepted: Vec<_> = change.iter().flat_map(Change::paths).collect();
            let trimmed = path.split('\t').next().unwrap().trim();
            assert!(
                accepted.is_empty() || (accepted[0].as_str() == trimmed && trimmed != path),
                "{path:?} {accepted:?}"
            );
            count += usize::from(accepted.is_empty());
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn diff_over_a_limit_is_refused() {
    let long = format!(
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+{}\n",
        "x".repeat(MAX_DIFF_BYTES)
    );
    insta::assert_snapshot!(check(&long), @"refused: Invalid `diff`: it is 257 KiB long, the limit is 256 KiB; propose several smaller changes");
    let files = (0..=MAX_FILES).map(|n| format!("--- /dev/null\n+++ b/{n}.md\n"));
    insta::assert_snapshot!(check(&files.collect::<Vec<_>>().concat()), @"refused: Invalid `diff`: line 101 starts file 51, the limit is 50; propose several smaller changes");
    let hunks = "@@ -1 +1 @@\n-a\n+b\n".repeat(MAX_HUNKS + 1);
    insta::assert_snapshot!(check(&hunks), @"refused: Invalid `diff`: line 3001 starts hunk 1001, the limit is 1000; propose several smaller changes");
    let line = "x".repeat(MAX_FILE_BYTES - 1) + "\n";
    let add = "@@ -0,0 +1 @@\n+a\n";
    insta::assert_snapshot!(check_files(&[("SKILL.md", &line)], add), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    refused: Invalid `diff`: `SKILL.md` is larger than 1 MiB, the limit for changes; split the file
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", &(line + "y"))], add), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    refused: Invalid `diff`: `SKILL.md` is larger than 1 MiB, the limit for changes; split the file
    ");
}

#[test]
fn binary_file_is_refused() {
    let change = Change::parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    let error = change
        .apply(|_| Ok(Some(b"a\n\xff\n".to_vec())))
        .unwrap_err();
    insta::assert_snapshot!(error, @"Invalid `diff`: `x` is not UTF-8 text, at byte 2; only text files can be changed");
}

#[test]
fn refusal_is_an_invalid_request_and_keeps_the_parse_error() {
    assert_eq!(Change::parse("").unwrap_err().kind(), ErrorKind::Invalid);
    let change = Change::parse("@@ -8 +8 @@\n-Save the file.\n+Save it.\n").unwrap();
    assert!(apply(&change, &[("SKILL.md", SKILL)]).is_ok());
    let error = change.apply(|path| Err(skillfold_core::Error::not_found(path)));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
}
