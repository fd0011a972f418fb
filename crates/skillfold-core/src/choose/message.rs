//! A message, folded once.

use std::borrow::Cow;
use std::ops::Range;

use crate::limits::start_of;

/// A message in lower case, and what it was.
pub(super) struct Message<'a> {
    pub(super) original: &'a str,
    pub(super) folded: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// Takes the start of a message, at most `limit` bytes.
    pub(super) fn new(message: &'a str, limit: usize) -> Self {
        let original = start_of(message, limit);
        let is_folded = original
            .bytes()
            .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        Self {
            original,
            folded: if is_folded {
                Cow::Borrowed(original)
            } else {
                Cow::Owned(fold(original))
            },
        }
    }

    /// Returns whether a stretch of the folded text begins and ends where a word does.
    pub(super) fn edges(&self, range: Range<usize>) -> (Edge, Edge) {
        let is_word_before = last_char(&self.folded[..range.start]).is_some_and(is_word);
        let is_word_after = first_char(&self.folded[range.end..]).is_some_and(is_word);
        (Edge::new(is_word_before), Edge::new(is_word_after))
    }

    /// Returns the place in the message as it was written of a stretch of the folded text.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        if self.original.len() == self.folded.len() && self.original.is_ascii() {
            return range;
        }
        let (mut at, mut folded) = (0, 0);
        let mut place = 0..self.original.len();
        for c in self.original.chars() {
            if folded <= range.start {
                place.start = at;
            }
            at += c.len_utf8();
            folded += c.to_lowercase().map(char::len_utf8).sum::<usize>();
            if folded >= range.end {
                place.end = at;
                break;
            }
        }
        place
    }
}

/// Returns a text as it is compared: in lower case, character by character, whatever stands around it.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

/// What stands at one end of a stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The word goes on.
    Inside,
    /// A word may end here.
    Free,
}

impl Edge {
    fn new(is_inside: bool) -> Self {
        if is_inside { Self::Inside } else { Self::Free }
    }
}

/// Returns whether a character is part of a word that ends where no such character follows. Scripts that write without
/// spaces, or put endings to a word of another script, have no such words.
pub(super) fn is_word(c: char) -> bool {
    let is_spaceless = matches!(
        c,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    );
    // An accent that stands by itself goes on with its letter.
    let is_accent = matches!(c, '\u{300}'..='\u{36f}');
    (c.is_alphanumeric() && !is_spaceless) || is_accent || c == '_'
}

fn first_char(text: &str) -> Option<char> {
    text.chars().next()
}

fn last_char(text: &str) -> Option<char> {
    text.chars().next_back()
}

#[cfg(test)]
mod tests {
    use super::{Edge, Message};

    #[test]
    fn place_is_that_of_the_message_as_it_was_written() {
        let message = Message::new("İstanbul'da PDF", 100);
        let at = message.folded.find("pdf").unwrap();
        let place = message.place(at..at + 3);
        assert_eq!(&message.original[place], "PDF");
        let ascii = Message::new("Fill the PDF", 100);
        assert_eq!(&ascii.original[ascii.place(9..12)], "PDF");
    }

    #[test]
    fn long_message_is_cut_between_characters() {
        assert_eq!(Message::new("ää", 3).original, "ä");
    }

    #[test]
    fn word_ends_where_no_letter_follows() {
        let message = Message::new("use pdfs, c++ and ä", 100);
        assert_eq!(message.edges(4..7), (Edge::Free, Edge::Inside));
        assert_eq!(message.edges(10..13), (Edge::Free, Edge::Free));
    }
}
