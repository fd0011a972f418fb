//! Where a hunk belongs, and which line endings it gets.

use super::{SKILL, check, check_files};

#[test]
fn hunk_is_found_by_its_lines() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -3,2 +3,2 @@\n-Save the file.\n+Save it.\n \n"), @r"
    applied: Line 3: the header says line 3, the lines are at line 8 of `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     # PDF
     
     Use pdftk.
    -Save the file.
    +Save it.
     
     ## Forms
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -99999999999999999999,1 +1,1 @@\n-Save the file.\n+Save it.\n"), @r"
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
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -18446744073709551615,1 +1,1 @@\n-Save the file.\n+Save it.\n"), @r"
    applied: Line 3: the header says line 18446744073709551615, the lines are at line 8 of `SKILL.md`
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
fn line_number_decides_between_equal_matches() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -12 +12 @@\n-Use pdftk.\n+Use qpdf.\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -9,5 +9,5 @@
     
     ## Forms
     
    -Use pdftk.
    +Use qpdf.
     Check the file.
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7 +7 @@\n-Use pdftk.\n+Use qpdf.\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -4,7 +4,7 @@
     ---
     # PDF
     
    -Use pdftk.
    +Use qpdf.
     Save the file.
     
     ## Forms
    ");
}

#[test]
fn ambiguous_hunk_is_refused() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -9 +9 @@\n-Use pdftk.\n+Use qpdf.\n"), @"refused: Invalid `diff`: line 3 starts a hunk whose unchanged and removed lines are in `SKILL.md` 2 times, at the lines 7, 12; add more unchanged lines to it, or the right line number");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@\n-Use pdftk.\n+Use qpdf.\n"), @r"
    read: Line 3: the hunk header has no line numbers, so the lines say where the hunk belongs
    refused: Invalid `diff`: line 3 starts a hunk whose unchanged and removed lines are in `SKILL.md` 2 times, at the lines 7, 12; add more unchanged lines to it, or the right line number
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\na\na\na\na\na\na\na\na\n")], "@@\n a\n+b\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    read: Line 1: the hunk header has no line numbers, so the lines say where the hunk belongs
    refused: Invalid `diff`: line 1 starts a hunk whose unchanged and removed lines are in `SKILL.md` 9 times, at the lines 1, 2, 3, 4, 5 and others; add more unchanged lines to it, or the right line number
    ");
}

#[test]
fn hunks_may_share_context_and_come_in_any_order() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -13 +13 @@\n-Check the file.\n+Check it.\n@@ -7,3 +7,3 @@\n-Use pdftk.\n+Use qpdf.\n Save the file.\n \n@@ -8,3 +8,3 @@\n Save the file.\n \n-## Forms\n+## Form\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -4,10 +4,10 @@
     ---
     # PDF
     
    -Use pdftk.
    +Use qpdf.
     Save the file.
     
    -## Forms
    +## Form
     
     Use pdftk.
    -Check the file.
    +Check it.
    ");
}

#[test]
fn missing_line_is_named() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,2 @@\n Use pdftk.\n-Store the file.\n+Save it.\n"), @"refused: Invalid `diff`: line 5 does not match line 8 of `SKILL.md`: `Store the file.` is not `Save the file.`; read the file again, and copy its unchanged and removed lines as they are");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -9,2 +9,2 @@\n \n-## Form\n+x\n"), @"refused: Invalid `diff`: line 5 does not match line 10 of `SKILL.md`: `## Form` is not `## Forms`; read the file again, and copy its unchanged and removed lines as they are");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-Nowhere\n+x\n"), @"refused: Invalid `diff`: line 4 is nowhere in `SKILL.md`: `Nowhere`; read the file again, and copy its unchanged and removed lines as they are");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -13,2 +13,2 @@\n Check the file.\n-More\n+x\n"), @"refused: Invalid `diff`: line 5 is after the end of `SKILL.md`: `More`; read the file again, and copy its unchanged and removed lines as they are");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "")], "@@ -1 +1 @@\n-a\n+b\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    refused: Invalid `diff`: line 2 is nowhere in `SKILL.md`: `a`; read the file again, and copy its unchanged and removed lines as they are
    ");
}

#[test]
fn added_lines_need_a_position() {
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@\n+New\n"), @r"
    read: Line 3: the hunk header has no line numbers, so the lines say where the hunk belongs
    refused: Invalid `diff`: line 3 starts a hunk that only adds lines and does not say where in `SKILL.md`; add the unchanged lines before or after them
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -13,0 +14 @@\n+New\n"), @r"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -11,3 +11,4 @@
     
     Use pdftk.
     Check the file.
    +New
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1,2 @@\n+New\n"), @r"
    read: Line 3: the hunk header counts 1 old and 2 new lines, there are 0 and 1
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,3 +1,4 @@
    +New
     ---
     name: pdf
     description: Fills in forms
    ");
    insta::assert_snapshot!(check("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -99,0 +100 @@\n+New\n"), @"refused: Invalid `diff`: line 3 puts lines after the end of `SKILL.md`, which has 13 lines; correct the line number, or add unchanged lines to the hunk");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "")], "@@\n+New\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    read: Line 1: the hunk header has no line numbers, so the lines say where the hunk belongs
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -0,0 +1 @@
    +New
    ");
}

#[test]
fn crlf_is_kept() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", &SKILL.replace('\n', "\r\n"))], "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,3 @@\n Use pdftk.\n-Save the file.\n+Save it.\n+Then check.\n"), @r"
    applied: `SKILL.md` has CRLF line ends, which the diff does not show; they are kept
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,8 @@
     # PDF␍
     ␍
     Use pdftk.␍
    -Save the file.␍
    +Save it.␍
    +Then check.␍
     ␍
     ## Forms␍
     ␍
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", &SKILL.replace('\n', "\r\n"))], "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -0,0 +1 @@\n+New\n"), @r"
    applied: `SKILL.md` has CRLF line ends, which the diff does not show; they are kept
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,3 +1,4 @@
    +New␍
     ---␍
     name: pdf␍
     description: Fills in forms␍
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\r\nb")], "@@ -2 +2,2 @@\n-b\n\\ No newline at end of file\n+c\n+d\n\\ No newline at end of file\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` has CRLF line ends, which the diff does not show; they are kept
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,3 @@
     a␍
    -b
    \ No newline at end of file
    +c␍
    +d
    \ No newline at end of file
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\r\nb\r\nc\r\n")], "@@ -2 +1,0 @@\n-b\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` has CRLF line ends, which the diff does not show; they are kept
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,3 +1,2 @@
     a␍
    -b␍
     c␍
    ");
}

#[test]
fn crlf_shown_in_the_diff_is_significant() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\r\nb\r\n")], "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
     a␍
    -b␍
    +c
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb\n")], "@@ -1,2 +1,2 @@\n a\n-b\n+b\r\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
     a
    -b
    +b␍
    ");
}

#[test]
fn crlf_only_in_the_diff_is_dropped() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb\n")], "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` has LF line ends and the diff CRLF; LF is kept
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
     a
    -b
    +c
    ");
}

#[test]
fn added_line_takes_the_line_ending_before_it() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb\r\nc\r\nd\n")], "@@ -1,4 +1,6 @@\n a\n+A\n b\n c\n+C\n d\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` has CRLF line ends, which the diff does not show; they are kept
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,4 +1,6 @@
     a
    +A
     b␍
     c␍
    +C␍
     d
    ");
}

#[test]
fn final_newline_is_kept_if_the_diff_disagrees() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb")], "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` and the diff disagree about the newline at its end, which stays as it is
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
     a
    -b
    \ No newline at end of file
    +c
    \ No newline at end of file
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb\n")], "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` and the diff disagree about the newline at its end, which stays as it is
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
     a
    -b
    +c
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb")], "@@ -1,2 +1,3 @@\n a\n b\n+c\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` gets a newline after a line that has none, because lines follow
    applied: `SKILL.md` and the diff disagree about the newline at its end, which stays as it is
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,3 @@
     a
    -b
    \ No newline at end of file
    +b
    +c
    \ No newline at end of file
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb")], "@@ -1,2 +1 @@\n a\n-b\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` and the diff disagree about the newline at its end, which stays as it is
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1 @@
     a
    -b
    \ No newline at end of file
    ");
}

#[test]
fn final_newline_changes_if_the_diff_says_so() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\n")], "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1 +1 @@
    -a
    +a
    \ No newline at end of file
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a")], "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1 +1 @@
    -a
    \ No newline at end of file
    +a
    ");
}

#[test]
fn line_added_after_a_missing_newline_stays_separate() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a")], "@@ -1,0 +2 @@\n+b\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` gets a newline after a line that has none, because lines follow
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1 +1,2 @@
    -a
    \ No newline at end of file
    +a
    +b
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "a\nb\n")], "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` gets a newline after a line that has none, because lines follow
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,3 @@
    +x
     a
     b
    ");
}

#[test]
fn byte_order_mark_is_ignored_in_comparison() {
    insta::assert_snapshot!(check_files(&[("SKILL.md", "\u{feff}a\nb\n")], "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
     ﻿a
    -b
    +c
    ");
    insta::assert_snapshot!(check_files(&[("SKILL.md", "\u{feff}a\nb\n")], "@@ -1,2 +1,2 @@\n-a\n+c\n b\n"), @r"
    read: Line 1: no file is named, so the hunks are for `SKILL.md`
    applied: `SKILL.md` loses a byte-order mark, which the diff does not show
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -1,2 +1,2 @@
    -﻿a
    +c
     b
    ");
}
