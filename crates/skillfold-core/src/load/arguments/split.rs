//! Splits arguments as a shell does.

use std::borrow::Cow;

/// Splits a text into words at white space that is not in quotes or after a backslash. An unclosed quote extends to the
/// end of the text.
pub fn split_words(text: &str) -> Vec<Cow<'_, str>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, length) = next_word(rest);
        words.push(word);
        rest = rest[length..].trim_start();
    }
    words
}

/// Returns the first word of a text that starts with one, and the bytes that it takes in the text.
fn next_word(text: &str) -> (Cow<'_, str>, usize) {
    let is_special = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    let plain = text.find(is_special).unwrap_or(text.len());
    let ends_plain = text[plain..].chars().next().is_none_or(char::is_whitespace);
    if ends_plain {
        return (Cow::Borrowed(&text[..plain]), plain);
    }
    let (mut word, mut quote) = (String::new(), None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => return (Cow::Owned(word), at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '\\') => word.extend(chars.next().map(|(_, escaped)| escaped)),
            (Some('"'), '\\') => match chars.next() {
                Some((_, escaped @ ('"' | '\\' | '$' | '`'))) => word.push(escaped),
                escaped => {
                    word.push('\\');
                    word.extend(escaped.map(|(_, c)| c));
                }
            },
            (_, c) => word.push(c),
        }
    }
    (Cow::Owned(word), text.len())
}
