//! Findings for people: the line, with the place underlined.

use std::cmp::Reverse;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use skillfold::CheckedSkill;
use skillfold::core::{Code, Diagnostic, Position, Severity, Span, visible};

use super::place::Places;
use crate::failure::Failure;
use crate::output::{GOOD, Output, Unshown, painted, shown};

/// Findings of one file that are drawn. Nobody reads a thousand, and drawing takes time.
const DRAWN: usize = 100;

/// Characters of a line that are drawn before, in and after a place.
const AROUND: usize = 200;

pub(super) fn print(checked: &CheckedSkill, output: &mut Output) -> Result<(), Failure> {
    let file = shown(&checked.file);
    for fixed in &checked.fixed {
        let place = fixed
            .span
            .map_or(String::new(), |span| format!(":{}", span.start));
        let head = painted(GOOD, format!("corrected[{}]", fixed.code));
        output.line(format!("{head}: {} ({}{place})", fixed.message, file))?;
    }
    let mut findings: Vec<_> = checked.findings.iter().collect();
    findings.sort_by_key(|finding| {
        let comes_first = finding.code.is_about_safety() || finding.code == Code::MoreFindings;
        Reverse((comes_first, finding.severity))
    });
    let rest = findings.split_off(findings.len().min(DRAWN));
    findings.sort_by_key(|finding| finding.span);
    let mut places = Places::new(&checked.text);
    for finding in findings {
        output.line(drawn(finding, &file, &mut places))?;
        output.line("")?;
    }
    let mut unshown = Unshown::default();
    for finding in rest {
        unshown.add(finding);
    }
    if !unshown.is_empty() {
        output.line(format!("{file} has more, which `--json` lists:"))?;
        unshown.print("  ", output)?;
        output.line("")?;
    }
    Ok(())
}

fn drawn(finding: &Diagnostic, file: &str, places: &mut Places<'_>) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        _ => Level::INFO,
    };
    let title = level
        .primary_title(&*finding.message)
        .id(finding.code.number());
    let hint = Level::HELP.message(finding.hint());
    let renderer = Renderer::styled();
    let Some(span) = finding.span else {
        let report = title.element(Origin::path(file)).element(hint);
        return renderer.render(&[report]);
    };
    let source = Source::at(span, places);
    let drawn_column = source.text[..source.marked.start].chars().count() + 1;
    let mark = AnnotationKind::Primary.span(source.marked);
    let snippet = Snippet::source(source.text)
        .path(file)
        .line_start(span.start.line as usize)
        .annotation(mark);
    let report = renderer.render(&[title.element(snippet).element(hint)]);
    // The column is counted in what is drawn, where the line is cut and has escapes.
    let Position { line, column } = span.start;
    report.replacen(
        &format!("{file}:{line}:{drawn_column}"),
        &format!("{file}:{line}:{column}"),
        1,
    )
}

/// The line of a place as it may be shown: cut to what is near the place, with hidden characters escaped.
struct Source {
    text: String,
    /// The bytes of the text that are underlined.
    marked: Range<usize>,
}

impl Source {
    fn at(span: Span, places: &mut Places<'_>) -> Self {
        let line = places.around(span, AROUND);
        let clean = |text: &str| visible(&text.replace('\t', "    ")).into_owned();
        let (before, place, after) = (clean(line.before), clean(line.place), clean(line.after));
        let (start, end) = (cut(line.is_cut_before), cut(line.is_cut_after));
        let from = start.len() + before.len();
        Self {
            marked: from..from + place.len(),
            text: format!("{start}{before}{place}{after}{end}"),
        }
    }
}

fn cut(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::check::place::Places;
    use skillfold::core::{Position, Span};

    fn drawn(text: &str, start: (u32, u32), end: (u32, u32)) -> String {
        let at = |(line, column)| Position::new(line, column);
        let span = Span::new(at(start), at(end));
        let source = Source::at(span, &mut Places::new(text));
        let (text, marked) = (source.text, source.marked);
        format!(
            "{}[{}]{}",
            &text[..marked.start],
            &text[marked.clone()],
            &text[marked.end..]
        )
    }

    #[test]
    fn what_nobody_sees_is_drawn_as_an_escape() {
        let text = "first\na\u{1b}[31m\u{9b}b\tc\u{200b}\u{e0041}d⚠\u{fe0f}\r\nlast";
        assert_eq!(
            drawn(text, (2, 11), (2, 11)),
            "a\\u{1b}[31m\\u{9b}b    c[\\u{200b}]\\u{e0041}d⚠\u{fe0f}"
        );
        assert_eq!(drawn(text, (1, 3), (2, 2)), "fi[rst]");
        assert_eq!(drawn(text, (9, 9), (9, 9)), "last[]");
    }

    #[test]
    fn long_line_is_cut_around_the_place() {
        let line = format!("{}here{}", "a".repeat(5_000), "b".repeat(5_000));
        let shown = drawn(&line, (1, 5_001), (1, 5_005));
        assert_eq!(
            shown,
            format!("…{}[here]{}…", "a".repeat(200), "b".repeat(200))
        );
        let shown = drawn(&line, (1, 1), (1, 9_000));
        let part = "a".repeat(200);
        assert_eq!(shown, format!("[{part}]{part}…"));
    }
}
