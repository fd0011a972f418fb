//! A message, folded once.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use crate::text::{end_of, fold, fold_char, start_of};

/// A message in lower case, and what it was.
pub(super) struct Message<'a> {
    pub(super) looked: Excerpt<'a>,
    pub(super) folded: Cow<'a, str>,
}

/// What is looked at of a message: all of it, or its start and its end, where people put what they want.
pub(super) struct Excerpt<'a> {
    message: &'a str,
    pub(super) text: Cow<'a, str>,
    /// The bytes of the message that are passed over; a line break stands for them.
    pub(super) unread: Option<Range<usize>>,
}

/// Bytes in which a cut looks for the end of a word.
const WORD: usize = 256;

impl<'a> Excerpt<'a> {
    /// Takes a message, or the start and the end of it with at most `limit` bytes together, cut between words.
    pub(super) fn new(message: &'a str, limit: usize) -> Self {
        if message.len() <= limit {
            return Self {
                message,
                text: Cow::Borrowed(message),
                unread: None,
            };
        }
        let start = whole_words(start_of(message, limit / 2));
        let end = words_to_the_end(end_of(message, limit / 2));
        Self {
            message,
            text: Cow::Owned(format!("{start}\n{end}")),
            unread: Some(start.len()..message.len() - end.len()),
        }
    }

    /// Takes less of the same message.
    pub(super) fn shorter(&self, limit: usize) -> Self {
        Self::new(self.message, limit)
    }

    /// Returns the parts of the message that are looked at, one or two.
    pub(super) fn halves(&self) -> impl Iterator<Item = &'a str> {
        let (first, second) = match &self.unread {
            Some(unread) => (
                &self.message[..unread.start],
                Some(&self.message[unread.end..]),
            ),
            None => (self.message, None),
        };
        [Some(first), second].into_iter().flatten()
    }

    /// Returns the place in the message of a stretch of what is looked at.
    fn place(&self, range: Range<usize>) -> Range<usize> {
        let Some(unread) = &self.unread else {
            return range;
        };
        let moved = |at: usize| {
            if at > unread.start {
                at - 1 - unread.start + unread.end
            } else {
                at
            }
        };
        moved(range.start)..moved(range.end)
    }

    /// Returns the place in the message of what a pattern finds first.
    pub(super) fn find(&self, pattern: &Regex) -> Option<Range<usize>> {
        let second = self.unread.as_ref().map_or(0, |unread| unread.end);
        self.halves().zip([0, second]).find_map(|(half, at)| {
            let found = pattern.find(half)?.range();
            Some(found.start + at..found.end + at)
        })
    }
}

/// Returns the start of a message up to the end of a word, where that is near.
fn whole_words(start: &str) -> &str {
    let near = end_of(start, WORD);
    near.rfind(char::is_whitespace)
        .map_or(start, |at| start_of(start, start.len() - near.len() + at))
}

/// Returns the end of a message from the end of a word on, where that is near.
fn words_to_the_end(end: &str) -> &str {
    let near = start_of(end, WORD);
    near.find(char::is_whitespace)
        .map_or(end, |at| end_of(end, end.len() - at))
}

impl<'a> Message<'a> {
    /// Takes a message, of which about `limit` bytes are looked at.
    pub(super) fn new(message: &'a str, limit: usize) -> Self {
        let looked = Excerpt::new(message, limit);
        let is_folded = looked
            .text
            .bytes()
            .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        let folded = match &looked.text {
            Cow::Borrowed(text) if is_folded => Cow::Borrowed(*text),
            text => Cow::Owned(fold(text)),
        };
        Self { looked, folded }
    }

    /// Returns whether a stretch of the folded text begins and ends where a word does.
    pub(super) fn edges(&self, range: Range<usize>) -> (Edge, Edge) {
        let is_word_before = last_char(&self.folded[..range.start]).is_some_and(is_word);
        let is_word_after = first_char(&self.folded[range.end..]).is_some_and(is_word);
        (Edge::new(is_word_before), Edge::new(is_word_after))
    }

    /// Returns the place in the message as it was written of a stretch of the folded text.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        self.looked.place(self.unfolded(range))
    }

    /// Returns the place of a stretch of the folded text in what is looked at.
    fn unfolded(&self, range: Range<usize>) -> Range<usize> {
        let text = &*self.looked.text;
        if text.len() == self.folded.len() && text.is_ascii() {
            return range;
        }
        let (mut at, mut folded) = (0, 0);
        let mut place = 0..text.len();
        for c in text.chars() {
            if folded <= range.start {
                place.start = at;
            }
            at += c.len_utf8();
            folded += fold_char(c).map(char::len_utf8).sum::<usize>();
            if folded >= range.end {
                place.end = at;
                break;
            }
        }
        place
    }
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
        let place = |text: &str, limit: usize| {
            let message = Message::new(text, limit);
            let at = message.folded.find("pdf").unwrap();
            text[message.place(at..at + 3)].to_owned()
        };
        assert_eq!(place("İstanbul'da PDF", 100), "PDF");
        assert_eq!(place("Fill the PDF", 100), "PDF");
        assert_eq!(
            place(&format!("{} the PDF", "long ".repeat(100)), 100),
            "PDF"
        );
        assert_eq!(
            place(&format!("{} the PDF", "läng ".repeat(100)), 100),
            "PDF"
        );
        assert_eq!(place(&format!("PDF {}", "läng ".repeat(100)), 100), "PDF");
    }

    #[test]
    fn long_message_is_looked_at_from_both_ends() {
        let message = Message::new("ääxxöö", 6);
        assert_eq!(message.looked.text, "ä\nö");
        assert_eq!(message.looked.unread, Some(2..8));
        // A word is looked at whole or not at all.
        let message = Message::new("use catalysts and more of them", 24);
        assert_eq!(message.looked.text, "use\n of them");
        assert_eq!(Message::new("ää", 4).looked.unread, None);
    }

    #[test]
    fn word_ends_where_no_letter_follows() {
        let message = Message::new("use pdfs, c++ and ä", 100);
        assert_eq!(message.edges(4..7), (Edge::Free, Edge::Inside));
        assert_eq!(message.edges(10..13), (Edge::Free, Edge::Free));
    }
}
