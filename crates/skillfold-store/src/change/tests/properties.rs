//! Properties that hold for any text.

use std::path::{Component, Path};

use proptest::prelude::*;
use skillfold_testkit::min_cpu_time;

use super::apply;
use crate::change::{Change, FileEdit, Merged, merge, suggest_bump, unified};

/// Generates lines from all of Unicode, with every kind of line ending and lines that look like parts of a diff.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\n".to_owned()),
        2 => Just("a\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        2 => "[abc \u{feff}]{1,2}",
        1 => any::<char>().prop_map(String::from),
        2 => prop::sample::select(vec![
            "-- a/x\n", "++ b/x\n", "@@ -1 +1 @@\n", "```\n", "\\ No newline at end of file\n", "--- a\n", "\u{feff}",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Generates an old text and a partly identical new one.
fn two_texts() -> impl Strategy<Value = (String, String)> {
    (any_text(), any_text(), any_text(), any_text(), any_text()).prop_map(
        |(start, old, new, middle, end)| {
            let old = format!("{start}{old}{middle}{end}");
            (old, format!("{start}{new}{middle}{new}{end}"))
        },
    )
}

/// Generates text that is almost a diff.
fn any_diff() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "--- a/SKILL.md\n+++ b/SKILL.md\n",
            "--- /dev/null\n",
            "+++ b/../x\n",
            "--- a/C:x\n+++ b/C:x\n",
            "+++ /dev/null\n",
            "diff --git a/x b/x\n",
            "new file mode 100644\n",
            "deleted file mode 100644\n",
            "@@",
            "@@ -1,2 +1,2 @@\n",
            "@@ -0,0 +1 @@\n",
            "@@ -1 +0,0 @@\n",
            " a\n",
            "-a\n",
            "+b\n",
            "\n",
            "\r\n",
            "```diff\n",
            "```\n",
            "\\ No newline\n",
            "--- /dev/null\n+++ b/x/y.md\n",
            "--- a/x\n+++ /dev/null\n",
            "\r",
            "@@ -18446744073709551615,9 +1,9 @@\n",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
        "[-+ @/ab.~]{0,6}\n",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Parses a diff, applies it to a skill and checks what must always hold.
fn check_diff(diff: &str) -> Result<(), TestCaseError> {
    let change = Change::parse(diff);
    let again = Change::parse(diff);
    prop_assert_eq!(change.as_ref().ok(), again.as_ref().ok());
    let (change, error) = match (change, again) {
        (Ok(change), _) => (change, None),
        (Err(error), Err(again)) => {
            prop_assert_eq!(error.to_string(), again.to_string());
            return Ok(());
        }
        (Err(error), Ok(change)) => (change, Some(error)),
    };
    prop_assert!(error.is_none());
    for path in change.paths() {
        let path = path.as_str();
        let mut components = Path::new(path).components();
        prop_assert!(
            components.all(|component| matches!(component, Component::Normal(_))),
            "{path:?}"
        );
        prop_assert!(!path.contains(['\\', ':', '\0', '\n']), "{path:?}");
        prop_assert!(!path.to_lowercase().contains(".git/"), "{path:?}");
    }
    if let Ok(applied) = apply(&change, &[("SKILL.md", "a\nb\na\n"), ("x", "a")]) {
        prop_assert!(!applied.edits.is_empty());
        prop_assert!(applied.edits.iter().all(|edit| edit.old != edit.new));
        suggest_bump(&applied.edits, "x");
        check_round_trip(&applied.edits)?;
    }
    Ok(())
}

/// Checks that a diff we wrote parses back into the same edits, without repairs.
fn check_round_trip(edits: &[FileEdit]) -> Result<(), TestCaseError> {
    let diff = unified(edits);
    let change =
        Change::parse(&diff).map_err(|error| TestCaseError::fail(format!("{error}\n{diff}")))?;
    prop_assert_eq!(change.repairs(), &[] as &[String]);
    let applied = change.apply(|path| {
        let edit = edits.iter().find(|edit| edit.path.as_str() == path);
        Ok(edit.and_then(|edit| edit.old.clone()))
    });
    let applied = applied.map_err(|error| TestCaseError::fail(format!("{error}\n{diff}")))?;
    prop_assert_eq!(&applied.repairs, &[] as &[String], "{}", diff);
    prop_assert_eq!(&applied.edits, edits, "{}", diff);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn written_diff_round_trips((old, new) in two_texts(), which in 0..4) {
        let path = |text: &str| text.parse().unwrap();
        let bytes = |text: &str| Some(text.as_bytes().to_vec());
        let edit = match which {
            0 => FileEdit::new(path("a b/ä.md"), None, bytes(&new)),
            1 => FileEdit::new(path("a/b"), bytes(&old), None),
            _ => FileEdit::new(path("SKILL.md"), bytes(&old), bytes(&new)),
        };
        if edit.old != edit.new {
            check_round_trip(&[edit, FileEdit::new(path("z"), None, bytes("z\n"))])?;
        }
    }

    #[test]
    fn any_diff_is_parsed_or_refused(diff in any_diff()) {
        check_diff(&diff)?;
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_diff(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn no_path_escapes_the_skill(path in prop_oneof![any::<String>(), "[./ab~:\\\\1 ]{0,12}", "(\\.\\./|/|a/|C:|\\.git/){0,4}x?"]) {
        check_diff(&format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+a\n"))?;
        check_diff(&format!("diff --git {path} {path}\nnew file mode 100644\n"))?;
        check_diff(&format!("--- {path}\n+++ {path}\n@@ -0,0 +1 @@\n+a\n"))?;
    }

    #[test]
    fn merge_with_an_unchanged_side_is_the_other((base, other) in two_texts()) {
        let (base, other) = (base.as_bytes(), other.as_bytes());
        let clean = Merged::Clean(other.to_vec());
        prop_assert_eq!(&merge(base, base, other), &clean);
        prop_assert_eq!(&merge(base, other, base), &clean);
        prop_assert_eq!(&merge(base, other, other), &clean);
    }

    #[test]
    fn clean_merge_contains_only_lines_of_both_sides((base, current) in two_texts(), proposed in any_text()) {
        let proposed = format!("{proposed}{base}");
        let merged = merge(base.as_bytes(), current.as_bytes(), proposed.as_bytes());
        if let Merged::Clean(merged) = merged {
            // The merge also treats a carriage return as a line ending.
            let lines = |text: &str| text.replace('\r', "\n").split('\n').map(str::to_owned).collect::<Vec<_>>();
            let known = [lines(&current), lines(&proposed)].concat();
            for line in lines(&String::from_utf8(merged).unwrap()) {
                prop_assert!(known.contains(&line), "{line:?}");
            }
        }
    }
}

#[test]
fn hostile_text_takes_bounded_time() {
    let bytes = |text: &str| Some(text.as_bytes().to_vec());
    let same = |lines: usize| "a\n".repeat(lines);
    let numbers = |from: usize, lines: usize| -> String {
        let numbers = (from..from + lines).map(|n| n * 7919 % 65_536);
        numbers
            .map(|n| format!("{n:x}\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    // Identical lines, one too few.
    let place = |lines: usize| {
        let hunk = format!("@@\n{}-b\n", " a\n".repeat(lines));
        let change = Change::parse(&hunk).unwrap();
        assert!(apply(&change, &[("SKILL.md", &same(4 * lines))]).is_err());
    };
    let compare = |lines: usize| {
        let (old, new) = (numbers(0, lines), numbers(500_000, lines));
        let edit = FileEdit::new("x".parse().unwrap(), bytes(&old), bytes(&new));
        assert!(!unified(&[edit]).is_empty());
    };
    let merge = |lines: usize| {
        let texts = [
            numbers(0, lines),
            numbers(9, lines),
            numbers(500_000, lines),
        ];
        let [base, current, proposed] = texts.each_ref().map(String::as_bytes);
        merge(base, current, proposed);
    };
    let work: [(&str, &dyn Fn(usize)); 3] =
        [("place", &place), ("compare", &compare), ("merge", &merge)];
    for (name, work) in work {
        let [few, many] = [10_000, 80_000].map(|lines| min_cpu_time(2, || work(lines)));
        // Comparing every pair would make eight times the lines cost 64 times as much.
        assert!(many < 40 * few, "{name}: {few:?} {many:?}");
    }
}
