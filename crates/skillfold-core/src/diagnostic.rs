//! Diagnostics: what was found in a file, where, and how to fix it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};

use crate::invisible::hidden_characters;

pub use crate::codes::{Code, Severity};
pub use crate::findings::LimitedFindings;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "PositionView")]
#[expect(
    clippy::exhaustive_structs,
    reason = "a position will always be a line and a column"
)]
pub struct Position {
    /// The line, starting at 1.
    pub line: u32,
    /// The column in characters, starting at 1.
    pub column: u32,
}

impl Position {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Creates a position.
    pub const fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }

    /// Returns the byte offset of this position in `text`. A position past the end of its line or of the text is
    /// clamped to that end.
    pub fn offset_in(self, text: &str) -> usize {
        let mut start = 0;
        for _ in 1..self.line {
            let Some(length) = text[start..].find('\n') else {
                return text.len();
            };
            start += length + 1;
        }
        let line = text[start..].split('\n').next().unwrap_or_default();
        // A byte-order mark takes up bytes but no column.
        let bom_bytes = if self.line == 1 && line.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let column = self.column.saturating_sub(1) as usize;
        line[bom_bytes..]
            .char_indices()
            .nth(column)
            .map_or(start + line.len(), |(offset, _)| start + bom_bytes + offset)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// A range of a file, from `start` up to but excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "SpanView")]
#[expect(
    clippy::exhaustive_structs,
    reason = "a span will always be two positions"
)]
pub struct Span {
    /// The first character.
    pub start: Position,
    /// The first character after the range.
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

    /// Returns the byte range of `text` that the span covers. An empty span covers one character, except at the end of
    /// a line.
    ///
    /// The range always lies within `text` and on character boundaries, so that it can be underlined.
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

/// One finding: its code, severity, message and position.
///
/// ```
/// use skillfold_core::Code;
/// use skillfold_core::read::parse;
///
/// let parsed = parse(b"---\nname: pdf\n---\n", "pdf");
/// let finding = &parsed.diagnostics[0];
/// assert_eq!(finding.code, Code::MissingDescription);
/// assert_eq!(finding.to_string(), "error[SF007]: Skill has no `description`");
/// assert_eq!(finding.span.unwrap().start.line, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// The severity. A [`Profile`](crate::read::Profile) may change it from the code's default.
    pub severity: Severity,
    /// What was found, on one line, including the value in question.
    #[serde(deserialize_with = "deserialize_visible")]
    pub message: Box<str>,
    /// Where in the file; `None` for findings about folders.
    pub span: Option<Span>,
}

impl Diagnostic {
    /// Creates a finding with the code's default severity. Control and invisible characters in the message are escaped.
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

    /// Returns what the author of the file can do about it.
    pub fn hint(&self) -> &'static str {
        self.code.hint()
    }
}

/// Adds findings to a list.
pub(crate) trait Report {
    fn report(&mut self, code: Code, span: impl Into<Option<Span>>, message: impl Into<Box<str>>);
}

impl Report for Vec<Diagnostic> {
    fn report(&mut self, code: Code, span: impl Into<Option<Span>>, message: impl Into<Box<str>>) {
        self.push(Diagnostic::new(code, span, message));
    }
}

fn deserialize_visible<'de, D: Deserializer<'de>>(from: D) -> Result<Box<str>, D::Error> {
    let text = Box::<str>::deserialize(from)?;
    let escaped = visible(&text);
    Ok(match escaped {
        Cow::Borrowed(_) => text,
        Cow::Owned(escaped) => escaped.into(),
    })
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

/// Returns a text that is safe to show on a terminal: on one line, with control and invisible characters escaped,
/// except those that emoji and some scripts need (see [`hidden_characters`]).
///
/// ```
/// assert_eq!(skillfold_core::diagnostic::visible("a\u{1b}[31m\u{202e}b"), "a\\u{1b}[31m\\u{202e}b");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) {
        return Cow::Borrowed(text);
    }
    let (mut escaped, mut copied) = (String::new(), 0);
    for (offset, c) in hidden_characters(text) {
        escaped.push_str(&text[copied..offset]);
        escaped.extend(c.escape_unicode());
        copied = offset + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

/// Formats a value for a message: in backticks, on one line, cut to 60 characters.
///
/// Control and invisible characters are escaped because a message may be printed on a terminal.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let text = text.trim();
    let (text, ellipsis) = match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let line = text.replace(['\n', '\t'], " ");
    format!("`{}{ellipsis}`", visible(&line))
}

/// Formats a path for a message: in backticks, escaped, and never shortened, because half a path is useless.
pub(crate) fn quoted_path(path: &str) -> String {
    format!("`{}`", visible(path))
}

/// Returns whether a text is printable ASCII, as most text is. Fast path of [`visible`].
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{Position, Span, quoted};

    #[test]
    fn span_past_the_end_is_clamped_to_the_text() {
        let text = "ab\nçd";
        assert_eq!(Span::at(Position::new(9, 9)).bytes_in(text), 6..6);
        assert_eq!(Span::at(Position::new(1, 9)).bytes_in(text), 2..2);
        assert_eq!(
            Span::new(Position::new(2, 1), Position::new(2, 2)).bytes_in(text),
            3..5
        );
    }

    #[test]
    fn byte_order_mark_does_not_shift_columns() {
        assert_eq!(Position::new(1, 2).offset_in("\u{feff}abc"), 4);
    }

    #[test]
    fn message_cannot_carry_a_terminal_escape() {
        assert_eq!(quoted("a\u{1b}[31m\u{202e}b"), "`a\\u{1b}[31m\\u{202e}b`");
    }
}
