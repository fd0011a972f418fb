//! Diffs as models write them: what is accepted, and what is repaired.

use super::{check, check_files};

#[test]
fn git_diff_is_parsed() {
    insta::assert_snapshot!(check("diff --git a/SKILL.md b/SKILL.md\nindex 0123..4567 100644\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,3 +7,3 @@ # PDF\n Use pdftk.\n-Save the file.\n+Save it.\n \ndiff --git a/references/new file.md b/references/new file.md\nnew file mode 100644\n--- /dev/null\n+++ b/references/new file.md\t\n@@ -0,0 +1,2 @@\n+A\n+B\n\\ No newline at end of file\ndiff --git a/references/forms.md b/references/forms.md\ndeleted file mode 100644\n--- a/references/forms.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-One\n-Two\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
     
    --- /dev/null
    +++ b/references/new file.md
    @@ -0,0 +1,2 @@
    +A
    +B
    \ No newline at end of file
    --- a/references/forms.md
    +++ /dev/null
    @@ -1,2 +0,0 @@
    -One
    -Two
    ");
}

#[test]
fn names_need_no_prefix() {
    insta::assert_snapshot!(check("--- SKILL.md\n+++ SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
    insta::assert_snapshot!(check("--- SKILL.md\t2026-01-01 10:00\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}

#[test]
fn hunks_without_a_file_are_for_the_skill_file() {
    insta::assert_snapshot!(check("@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}

#[test]
fn empty_file_is_added_and_deleted_without_hunks() {
    insta::assert_snapshot!(check("diff --git a/empty.md b/empty.md\nnew file mode 100644\nindex 0000000..e69de29\n"), @r"
    --- /dev/null
    +++ b/empty.md
    ");
    insta::assert_snapshot!(check("--- /dev/null\n+++ b/empty.md\n"), @r"
    --- /dev/null
    +++ b/empty.md
    ");
    insta::assert_snapshot!(check_files(&[("empty.md", "")], "--- a/empty.md\n+++ /dev/null\n"), @r"
    --- a/empty.md
    +++ /dev/null
    ");
}

#[test]
fn wrong_hunk_counts_are_recomputed() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,9 +7,12 @@\n Use pdftk.\n-Save the file.\n+Save it.\n"), @r"
    read: Line 3: the hunk header counts 9 old and 12 new lines, there are 2 and 2
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,1 +7,1 @@\n Use pdftk.\n-Save the file.\n+Save it.\n--- a/references/forms.md\n+++ b/references/forms.md\n@@ -1,7 +1,7 @@\n One\n-Two\n+2\n"), @r"
    read: Line 3: the hunk header counts 1 old and 1 new lines, there are 2 and 2
    read: Line 9: the hunk header counts 7 old and 7 new lines, there are 2 and 2
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
     
    --- a/references/forms.md
    +++ b/references/forms.md
    @@ -1,2 +1,2 @@
     One
    -Two
    +2
    ");
}

#[test]
fn hunk_headers_without_numbers_are_parsed() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@\n-Save the file.\n+Save it.\n"), @r"
    read: Line 3: the hunk header has no line numbers, so the lines say where the hunk belongs
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ ... @@\n-Save the file.\n+Save it.\n\n"), @r"
    read: Line 3: the hunk header has no line numbers, so the lines say where the hunk belongs
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ # PDF @@\n-Save the file.\n+Save it.\n"), @r"
    read: Line 3: the hunk header has no line numbers, so the lines say where the hunk belongs
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}

#[test]
fn removed_line_that_looks_like_a_header_is_content() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\n-- b\nc\n")], "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ d\n c\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,3 +1,3 @@
     a
    --- b
    +++ d
     c
    ");
}

#[test]
fn empty_line_in_a_hunk_is_context() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,3 +8,3 @@\n-Save the file.\n+Save it.\n\n ## Forms\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}

#[test]
fn text_around_the_diff_is_ignored() {
    insta::assert_snapshot!(check("Here is the change:\n\n```diff\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n```\nIt is shorter.\n"), @r"
    read: Lines 1 to 3, before the diff, were left out
    read: Lines 9 to 10, after the diff, were left out
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
    insta::assert_snapshot!(check("~~~\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n"), @r"
    read: Line 1, before the diff, was left out
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}

#[test]
fn diff_with_crlf_is_parsed() {
    insta::assert_snapshot!(check("--- a/SKILL.md\r\n+++ b/SKILL.md\r\n@@ -8,1 +8,1 @@\r\n-Save the file.\r\n+Save it.\r\n"), @r"
    read: The lines of the diff end with CRLF, which was read as LF
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}

#[test]
fn executable_mode_is_not_applied() {
    insta::assert_snapshot!(check("diff --git a/scripts/x.sh b/scripts/x.sh\nnew file mode 100755\n--- /dev/null\n+++ b/scripts/x.sh\n@@ -0,0 +1 @@\n+true\n"), @r"
    read: Line 1: `scripts/x.sh` is added without the executable bit, which a change cannot set
    --- /dev/null
    +++ b/scripts/x.sh
    @@ -0,0 +1 @@
    +true
    ");
}

#[test]
fn file_can_be_deleted_without_listing_its_lines() {
    insta::assert_snapshot!(check("diff --git a/references/forms.md b/references/forms.md\ndeleted file mode 100644\n"), @r"
    applied: Line 1: `references/forms.md` is deleted, and the diff does not list its lines
    --- a/references/forms.md
    +++ /dev/null
    @@ -1,2 +0,0 @@
    -One
    -Two
    ");
}

#[test]
fn unchanged_file_is_named() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-Save the file.\n+Save it.\n--- a/references/forms.md\n+++ b/references/forms.md\n@@ -1 +1 @@\n-One\n+One\n"), @r"
    applied: `references/forms.md` is unchanged: the added lines equal the removed ones
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
}
