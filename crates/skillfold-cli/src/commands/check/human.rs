//! Findings for the terminal: the source line, with the span underlined.

use std::cmp::Reverse;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use skillfold::author::CheckedSkill;
use skillfold::core::diagnostic::{Position, Severity, Span, visible};
use skillfold::core::{Code, Diagnostic};

use super::place::SpanLocator;
use super::summary::Summary;
use crate::failure::Failure;
use crate::terminal::finding_counts::FindingCounts;
use crate::terminal::output::{GOOD, Output, display_path, paint};
use crate::terminal::table::wrap_at;

/// Maximum findings of one file that are drawn. Nobody reads a thousand, and drawing takes time.
const MAX_DRAWN: usize = 100;

/// What a hint starts with.
const HINT_HEAD: &str = "= help: ";

/// Maximum characters drawn before, in and after a span.
const CONTEXT_CHARS: usize = 200;

/// What a person gets to see: each finding with its line, or, if several skills have many, a summary.
pub(super) struct HumanReport {
    draws_all: bool,
    /// Skills with findings, while these are few.
    few: Vec<CheckedSkill>,
    summary: Summary,
}

impl HumanReport {
    pub(super) fn new(draws_all: bool) -> Self {
        Self {
            draws_all,
            few: Vec::new(),
            summary: Summary::default(),
        }
    }

    pub(super) fn add(
        &mut self,
        checked: CheckedSkill,
        output: &mut Output,
    ) -> Result<(), Failure> {
        print_fixed(&checked, output)?;
        if self.draws_all {
            return draw(&checked, output);
        }
        if checked.findings.is_empty() {
            return Ok(());
        }
        self.summary.add(&checked);
        if self.summary.fits_a_screen() {
            self.few.push(checked);
        } else {
            // The text of thousands of skills need not be kept.
            self.few.clear();
        }
        Ok(())
    }

    /// Prints what is not printed yet; returns whether findings were only summed up.
    pub(super) fn finish(&self, output: &mut Output) -> Result<bool, Failure> {
        for checked in &self.few {
            draw(checked, output)?;
        }
        let is_summary = !self.summary.fits_a_screen();
        if is_summary {
            self.summary.print(output)?;
        }
        Ok(is_summary)
    }
}

fn print_fixed(checked: &CheckedSkill, output: &mut Output) -> Result<(), Failure> {
    let file = display_path(&checked.file);
    for fixed in &checked.fixed {
        let position = fixed
            .span
            .map_or(String::new(), |span| format!(":{}", span.start));
        let head = paint(GOOD, format!("fixed[{}]", fixed.code));
        output.line(format!("{head}: {} ({}{position})", fixed.message, file))?;
    }
    Ok(())
}

/// Prints each finding of a skill with its line.
fn draw(checked: &CheckedSkill, output: &mut Output) -> Result<(), Failure> {
    let file = display_path(&checked.file);
    let mut findings: Vec<_> = checked.findings.iter().collect();
    findings.sort_by_key(|finding| {
        let comes_first = finding.code.is_about_safety() || finding.code == Code::MoreFindings;
        Reverse((comes_first, finding.severity))
    });
    let rest = findings.split_off(findings.len().min(MAX_DRAWN));
    findings.sort_by_key(|finding| finding.span);
    let mut locator = SpanLocator::new(&checked.text);
    let renderer = match output.columns() {
        Some(columns) => Renderer::styled().term_width(columns),
        None => Renderer::styled(),
    };
    for finding in findings {
        let drawn = render(finding, &file, &mut locator, &renderer);
        output.drawing(match output.columns() {
            Some(columns) => wrap_texts(&drawn, columns),
            None => drawn,
        })?;
        output.line("")?;
    }
    let mut not_drawn = FindingCounts::default();
    for finding in rest {
        not_drawn.add(&checked.file, finding);
    }
    if !not_drawn.is_empty() {
        output.line(format!("{file} has more; `--json` lists them:"))?;
        not_drawn.print("  ", output)?;
        output.line("")?;
    }
    Ok(())
}

/// Wraps the message and the hint of a drawn finding; the lines between them keep their layout.
fn wrap_texts(drawn: &str, columns: usize) -> String {
    let wrap = |(number, line): (usize, &str)| {
        let plain = anstream::adapter::strip_str(line).to_string();
        match plain.find("= ") {
            Some(indent) if plain.trim_start().starts_with("= ") => {
                wrap_at(line, indent + HINT_HEAD.len(), columns)
            }
            _ if number == 0 => wrap_at(line, 2, columns),
            _ => line.to_owned(),
        }
    };
    let lines: Vec<_> = drawn.lines().enumerate().map(wrap).collect();
    lines.join("\n")
}

fn render(
    finding: &Diagnostic,
    file: &str,
    locator: &mut SpanLocator<'_>,
    renderer: &Renderer,
) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        _ => Level::INFO,
    };
    let title = level
        .primary_title(&*finding.message)
        .id(finding.code.number());
    let hint = Level::HELP.message(finding.hint());
    let Some(span) = finding.span else {
        let report = title.element(Origin::path(file)).element(hint);
        return renderer.render(&[report]);
    };
    let source = Excerpt::at(span, locator);
    let drawn_column = source.text[..source.marked.start].chars().count() + 1;
    let mark = AnnotationKind::Primary.span(source.marked);
    let snippet = Snippet::source(source.text)
        .path(file)
        .line_start(span.start.line as usize)
        .annotation(mark);
    let report = renderer.render(&[title.element(snippet).element(hint)]);
    // The renderer counts the column in the drawn text, where the line is shortened and has escapes.
    let Position { line, column } = span.start;
    report.replacen(
        &format!("{file}:{line}:{drawn_column}"),
        &format!("{file}:{line}:{column}"),
        1,
    )
}

/// The line of a span as it is drawn: shortened to what is near the span, with hidden characters escaped.
struct Excerpt {
    text: String,
    /// The bytes of the text that are underlined.
    marked: Range<usize>,
}

impl Excerpt {
    fn at(span: Span, locator: &mut SpanLocator<'_>) -> Self {
        let line = locator.excerpt(span, CONTEXT_CHARS);
        let clean = |text: &str| visible(&text.replace('\t', "    ")).into_owned();
        let (before, marked, after) = (clean(line.before), clean(line.marked), clean(line.after));
        let (start, end) = (ellipsis(line.is_cut_before), ellipsis(line.is_cut_after));
        let from = start.len() + before.len();
        Self {
            marked: from..from + marked.len(),
            text: format!("{start}{before}{marked}{after}{end}"),
        }
    }
}

fn ellipsis(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;
    use crate::commands::check::place::SpanLocator;
    use skillfold::core::diagnostic::{Position, Span};

    fn draw(text: &str, start: (u32, u32), end: (u32, u32)) -> String {
        let at = |(line, column)| Position::new(line, column);
        let span = Span::new(at(start), at(end));
        let source = Excerpt::at(span, &mut SpanLocator::new(text));
        let (text, marked) = (source.text, source.marked);
        format!(
            "{}[{}]{}",
            &text[..marked.start],
            &text[marked.clone()],
            &text[marked.end..]
        )
    }

    #[test]
    fn invisible_characters_are_drawn_as_escapes() {
        let text = "first\na\u{1b}[31m\u{9b}b\tc\u{200b}\u{e0041}d⚠\u{fe0f}\r\nlast";
        assert_eq!(
            draw(text, (2, 11), (2, 11)),
            "a\\u{1b}[31m\\u{9b}b    c[\\u{200b}]\\u{e0041}d⚠\u{fe0f}"
        );
        assert_eq!(draw(text, (1, 3), (2, 2)), "fi[rst]");
        assert_eq!(draw(text, (9, 9), (9, 9)), "last[]");
    }

    #[test]
    fn long_line_is_cut_around_the_finding() {
        let line = format!("{}here{}", "a".repeat(5_000), "b".repeat(5_000));
        let drawn = draw(&line, (1, 5_001), (1, 5_005));
        assert_eq!(
            drawn,
            format!("…{}[here]{}…", "a".repeat(200), "b".repeat(200))
        );
        let drawn = draw(&line, (1, 1), (1, 9_000));
        let part = "a".repeat(200);
        assert_eq!(drawn, format!("[{part}]{part}…"));
    }
}
