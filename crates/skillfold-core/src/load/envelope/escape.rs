//! Escaping of single-line values.

use std::borrow::Cow;
use std::fmt::Write;

use crate::invisible::hidden_characters;

use super::confusables::is_bracket;

/// Escapes a value for a tagged envelope: `& < > " '` as entities; control and invisible characters and look-alikes of
/// `<` as numeric references (`&#x200B;`).
///
/// Nothing is lost: an XML or HTML parser returns the original value.
pub(crate) fn escape_markup(value: &str) -> Cow<'_, str> {
    let is_markup = |c: char| matches!(c, '&' | '>' | '"' | '\'') || is_bracket(c);
    let mut hidden = hidden_characters(value)
        .map(|(offset, _)| offset)
        .peekable();
    if hidden.peek().is_none() && !value.contains(is_markup) {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len() + 16);
    for (offset, c) in value.char_indices() {
        let is_hidden = hidden.next_if_eq(&offset).is_some();
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&apos;"),
            c if is_hidden || is_bracket(c) => {
                let _ = write!(text, "&#x{:X};", u32::from(c));
            }
            c => text.push(c),
        }
    }
    Cow::Owned(text)
}
