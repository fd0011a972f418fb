//! Findings for people: the line, with the place underlined.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use skillfold::Checked;
use skillfold::core::{Diagnostic, Severity};

use crate::failure::Failure;
use crate::output::{GOOD, Output, painted, shown};

pub(super) fn print(checked: &[Checked], output: &mut Output) -> Result<(), Failure> {
    let renderer = Renderer::styled();
    for one in checked {
        let file = shown(&one.file);
        for fixed in &one.fixed {
            let place = fixed
                .span
                .map_or(String::new(), |span| format!(":{}", span.start));
            let head = painted(GOOD, format!("corrected[{}]", fixed.code));
            output.line(format!("{head}: {} ({}{place})", fixed.message, file))?;
        }
        let text = safe(&one.text);
        for finding in &one.findings {
            let report = drawn(finding, &file, &text);
            output.line(renderer.render(&[report]))?;
            output.line("")?;
        }
    }
    Ok(())
}

fn drawn<'a>(finding: &'a Diagnostic, file: &'a str, text: &'a str) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        _ => Level::INFO,
    };
    let title = level
        .primary_title(&*finding.message)
        .id(finding.code.number());
    let hint = Level::HELP.message(finding.hint());
    match finding.span {
        Some(span) => {
            let place = AnnotationKind::Primary.span(span.bytes_in(text));
            let snippet = Snippet::source(text).path(file).annotation(place);
            title.element(snippet).element(hint)
        }
        None => title
            .element(annotate_snippets::Origin::path(file))
            .element(hint),
    }
}

/// Returns the text without characters that a terminal obeys; each is replaced by one of the same length, so that places
/// stay what they are.
fn safe(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() && c.len_utf8() == 1 => '?',
        c if c.is_control() => '·',
        c => c,
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn what_a_terminal_obeys_is_replaced_in_its_place() {
        let text = "a\u{1b}[31m\u{9b}b\tc\n";
        assert_eq!(safe(text), "a?[31m·b\tc\n");
        assert_eq!(safe(text).len(), text.len());
    }
}
