//! What was found in a file, where, and what to do about it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::codes::{Code, Severity};
use crate::invisible::hidden_characters;

/// A place in a file: line and column, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a position is two numbers and will stay so"
)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Creates a position.
    pub const fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }

    /// Returns the byte offset of this place in `text`; the end of the line or of the text where the place is past it.
    pub fn offset_in(self, text: &str) -> usize {
        let mut start = 0;
        for _ in 1..self.line {
            let Some(length) = text[start..].find('\n') else {
                return text.len();
            };
            start += length + 1;
        }
        let line = text[start..].split('\n').next().unwrap_or_default();
        // A byte-order mark takes a place in the text and none on the screen.
        let mark = if self.line == 1 && line.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let column = self.column.saturating_sub(1) as usize;
        line[mark..]
            .char_indices()
            .nth(column)
            .map_or(start + line.len(), |(offset, _)| start + mark + offset)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// A stretch of a file, from `start` up to and without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a span is two positions and will stay so"
)]
pub struct Span {
    /// The first character.
    pub start: Position,
    /// The first character after it.
    pub end: Position,
}

impl Span {
    /// Creates a span between two positions.
    pub const fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }

    /// Creates an empty span at a position.
    pub const fn at(start: Position) -> Self {
        Self { start, end: start }
    }

    /// Returns the bytes of `text` that the span covers; one character where the span is empty.
    ///
    /// The range is always inside `text` and on character boundaries, so that a face can underline it.
    pub fn bytes_in(self, text: &str) -> Range<usize> {
        let start = self.start.offset_in(text);
        let end = self.end.offset_in(text);
        if end > start {
            return start..end;
        }
        let next = text[start..].chars().next().filter(|c| *c != '\n');
        start..start + next.map_or(0, char::len_utf8)
    }
}

/// One finding: what, how bad, where, and the way out.
///
/// ```
/// use skillfold_core::{Code, parse};
///
/// let parsed = parse(b"---\nname: pdf\n---\n", "pdf");
/// let finding = &parsed.diagnostics[0];
/// assert_eq!(finding.code, Code::MissingDescription);
/// assert_eq!(finding.to_string(), "error[SF007]: Skill has no `description`");
/// assert_eq!(finding.span.unwrap().start.line, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What it is about.
    pub code: Code,
    /// How bad it is; a profile may differ from the code's own severity.
    pub severity: Severity,
    /// What was found, in one line, with the value it is about.
    pub message: Box<str>,
    /// Where in the file. Findings about folders have none.
    pub span: Option<Span>,
}

impl Diagnostic {
    /// Creates a finding with the code's own severity. What a terminal would obey is escaped in the message.
    pub fn new(code: Code, span: impl Into<Option<Span>>, message: impl Into<Box<str>>) -> Self {
        let message = message.into();
        let escaped = match visible(&message) {
            Cow::Borrowed(_) => None,
            Cow::Owned(escaped) => Some(escaped.into_boxed_str()),
        };
        Self {
            code,
            severity: code.severity(),
            message: escaped.unwrap_or(message),
            span: span.into(),
        }
    }

    /// Returns what the author can do about it.
    pub fn hint(&self) -> &'static str {
        self.code.hint()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}[{}]: {}",
            self.severity, self.code, self.message
        )
    }
}

/// Returns a text as it may be shown on a terminal: on one line, with control and invisible characters escaped, but for
/// those that emoji and some scripts need (see [`hidden`]).
///
/// ```
/// assert_eq!(skillfold_core::visible("a\u{1b}[31m\u{202e}b"), "a\\u{1b}[31m\\u{202e}b");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut copied) = (String::new(), 0);
    for (offset, c) in hidden_characters(text) {
        shown.push_str(&text[copied..offset]);
        shown.extend(c.escape_unicode());
        copied = offset + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// Returns a value as it is shown in a message: in backticks, on one line, cut at 60 characters.
///
/// Control and invisible characters are escaped: a message may go to a terminal.
pub(crate) fn quoted(text: &str) -> String {
    const WIDTH: usize = 60;
    let text = text.trim();
    let (text, dots) = match text.char_indices().nth(WIDTH) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let line = text.replace(['\n', '\t'], " ");
    format!("`{}{dots}`", visible(&line))
}

/// Returns a path as it is shown in a message: in backticks, escaped, and whole, because half a path names nothing.
pub(crate) fn whole(path: &str) -> String {
    format!("`{}`", visible(path))
}

/// Returns whether a text is of ASCII that everybody sees, as most is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{Position, Span, quoted};

    #[test]
    fn span_past_the_end_stays_inside_the_text() {
        let text = "ab\nçd";
        assert_eq!(Span::at(Position::new(9, 9)).bytes_in(text), 6..6);
        assert_eq!(Span::at(Position::new(1, 9)).bytes_in(text), 2..2);
        assert_eq!(
            Span::new(Position::new(2, 1), Position::new(2, 2)).bytes_in(text),
            3..5
        );
    }

    #[test]
    fn byte_order_mark_takes_no_column() {
        assert_eq!(Position::new(1, 2).offset_in("\u{feff}abc"), 4);
    }

    #[test]
    fn message_cannot_carry_a_terminal_escape() {
        assert_eq!(quoted("a\u{1b}[31m\u{202e}b"), "`a\\u{1b}[31m\\u{202e}b`");
    }
}
