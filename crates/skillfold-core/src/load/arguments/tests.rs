use proptest::prelude::*;

use super::{Arguments, Dialect};
use crate::read::parse::parse;

fn fill(dialect: Dialect, text: &str, arguments: &str) -> String {
    let file = "---\nname: pdf\ndescription: d\narguments: [file, page-range]\n---\n";
    let manifest = parse(file.as_bytes(), "pdf").manifest.unwrap();
    let arguments = Arguments::new(dialect, arguments, &manifest, Some("/skills/pdf"));
    arguments.fill(text, 1_000).unwrap().into_owned()
}

#[test]
fn every_arguments_placeholder_is_replaced() {
    let plain = |text| fill(Dialect::Plain, text, "a.pdf");
    assert_eq!(plain("$ARGUMENTS"), "a.pdf");
    assert_eq!(
        plain("Fill $ARGUMENTS, then close $ARGUMENTS."),
        "Fill a.pdf, then close a.pdf."
    );
    assert_eq!(
        plain("${ARGUMENTS} $arguments $Arguments $ARGUMENTS"),
        "${ARGUMENTS} $arguments $Arguments a.pdf"
    );
    assert_eq!(
        plain("$ARGUMENTSX $ARGUMENTS_1 $ARGUMENTS"),
        "$ARGUMENTSX $ARGUMENTS_1 a.pdf"
    );
    assert_eq!(plain("$$ARGUMENTS"), "$a.pdf");
    assert_eq!(plain(r"\$ARGUMENTS"), r"\a.pdf");
    assert_eq!(plain("$ARGUMENTS[0]"), "a.pdf[0]");
    assert_eq!(plain("ä$ARGUMENTSä"), "äa.pdfä");
}

#[test]
fn substituted_arguments_are_not_expanded_again() {
    for dialect in Dialect::ALL {
        let hostile = "$ARGUMENTS $0 $1 ${X_SKILL_DIR} $file";
        assert_eq!(
            fill(dialect, "<$ARGUMENTS>", hostile),
            format!("<{hostile}>")
        );
    }
    assert_eq!(fill(Dialect::ClaudeCode, "$0$1", "$1 $0"), "$1$0");
    // Two halves that would form a placeholder together.
    assert_eq!(
        fill(Dialect::ClaudeCode, "$0ARGUMENTS $0", "$ x"),
        "$0ARGUMENTS $"
    );
}

#[test]
fn arguments_without_a_placeholder_are_appended() {
    let plain = |text| fill(Dialect::Plain, text, "data.csv");
    assert_eq!(plain("# PDF\n"), "# PDF\n\nARGUMENTS: data.csv\n");
    assert_eq!(plain("# PDF"), "# PDF\n\nARGUMENTS: data.csv\n");
    assert_eq!(plain(""), "ARGUMENTS: data.csv\n");
    assert_eq!(
        fill(Dialect::ClaudeCode, "Costs $9", "a b"),
        "Costs $9\n\nARGUMENTS: a b\n"
    );
    assert_eq!(
        fill(Dialect::ClaudeCode, "In ${CLAUDE_SKILL_DIR}\n", "a"),
        "In /skills/pdf\n\nARGUMENTS: a\n"
    );
}

#[test]
fn empty_arguments_blank_the_placeholders_and_append_nothing() {
    assert_eq!(
        fill(Dialect::Plain, "Fill in $ARGUMENTS now", ""),
        "Fill in  now"
    );
    assert_eq!(fill(Dialect::Plain, "# PDF\n", ""), "# PDF\n");
    assert_eq!(fill(Dialect::Plain, "# PDF\n", "  "), "# PDF\n");
}

#[test]
fn positional_arguments_follow_the_client_syntax() {
    let given = r#"report.pdf "pages 1 2" it\'s"#;
    let claude = |text| fill(Dialect::ClaudeCode, text, given);
    let goose = |text| fill(Dialect::Goose, text, given);
    assert_eq!(claude("$0|$1|$2"), "report.pdf|pages 1 2|it's");
    assert_eq!(goose("$1|$2|$3"), "report.pdf|pages 1 2|it's");
    assert_eq!(goose("$0 $1"), "$0 report.pdf");
    for dialect in [Dialect::ClaudeCode, Dialect::Goose] {
        let fill = |text| fill(dialect, text, given);
        assert_eq!(fill("$ARGUMENTS[0]|$ARGUMENTS[2]"), "report.pdf|it's");
        assert_eq!(
            fill("$file, $page-range, $file-name"),
            "report.pdf, pages 1 2, report.pdf-name"
        );
        assert_eq!(fill("$ARGUMENTS"), given);
    }
}

#[test]
fn placeholder_for_a_missing_argument_is_left_verbatim() {
    let claude = |text| fill(Dialect::ClaudeCode, text, "one");
    assert_eq!(
        claude("$0 $7 $ARGUMENTS[7] $page-range"),
        "one $7 $ARGUMENTS[7] $page-range"
    );
    assert_eq!(
        claude("$0 $99999999999999999999 $ARGUMENTS[99999999999999999999]"),
        "one $99999999999999999999 $ARGUMENTS[99999999999999999999]"
    );
}

#[test]
fn escaped_placeholder_loses_only_its_backslash() {
    let claude = |text| fill(Dialect::ClaudeCode, text, "one");
    assert_eq!(
        claude(r"\$0 is $0, \$ARGUMENTS, \$x, C:\dir"),
        r"$0 is one, $ARGUMENTS, \$x, C:\dir"
    );
    assert_eq!(claude(r"$0\$0"), "one$0");
    // Whether an argument was given does not matter.
    assert_eq!(
        claude(r"\$7 $0 \$page-range \$ARGUMENTS[7]"),
        "$7 one $page-range $ARGUMENTS[7]"
    );
}

#[test]
fn money_and_shell_variables_are_not_placeholders() {
    let claude = |text| fill(Dialect::ClaudeCode, text, "one two");
    assert_eq!(
        claude("$0 costs $1.50 or $1,000; echo $HOME ${HOME} $1st"),
        "one costs $1.50 or $1,000; echo $HOME ${HOME} $1st"
    );
}

#[test]
fn expansion_over_the_limit_is_refused() {
    let manifest = parse(b"---\nname: a\ndescription: d\n---\n", "a")
        .manifest
        .unwrap();
    let long = "x".repeat(100);
    let arguments = Arguments::new(Dialect::Plain, &long, &manifest, None);
    assert!(arguments.fill(&"$ARGUMENTS".repeat(10), 1_000).is_some());
    assert!(arguments.fill(&"$ARGUMENTS".repeat(11), 1_000).is_none());
    assert!(arguments.fill(&"y".repeat(950), 1_000).is_none());
}

proptest! {
    #[test]
    fn exactly_the_placeholders_are_replaced(
        parts in proptest::collection::vec("[^$]{0,8}", 1..6),
        arguments in "\\PC{0,12}",
    ) {
        // A word character after the placeholder would make it another one.
        let parts: Vec<_> = parts.iter().map(|part| format!(" {part}")).collect();
        let filled = fill(Dialect::Plain, &parts.join("$ARGUMENTS"), &arguments);
        if parts.len() > 1 {
            prop_assert_eq!(filled, parts.join(&arguments));
        } else {
            prop_assert!(filled.starts_with(&parts[0]));
        }
    }

    #[test]
    fn hostile_text_never_panics_the_expansion(
        text in "([$\\\\{}\\[\\]0-9]|ARGUMENTS|_SKILL_DIR|file|ä|.){0,24}",
        arguments in "([$'\"\\\\ ]|ARGUMENTS|[a-z0-9]|ä){0,12}",
    ) {
        for dialect in Dialect::ALL {
            fill(dialect, &text, &arguments);
        }
    }
}
