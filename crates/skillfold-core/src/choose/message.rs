//! A message and its case-folded text.

use std::borrow::Cow;
use std::ops::Range;

use crate::excerpt::Excerpt;
use crate::text::{fold_case, fold_char};

/// A message, folded once for all matching.
pub(super) struct Message<'a> {
    pub(super) excerpt: Excerpt<'a>,
    pub(super) folded: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// Folds a message, of which at most about `limit` bytes are used.
    pub(super) fn new(message: &'a str, limit: usize) -> Self {
        let excerpt = Excerpt::new(message, limit);
        let is_folded = excerpt
            .text
            .bytes()
            .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        let folded = match &excerpt.text {
            Cow::Borrowed(text) if is_folded => Cow::Borrowed(*text),
            text => Cow::Owned(fold_case(text)),
        };
        Self { excerpt, folded }
    }

    /// Returns whether no word goes on at either end of a range of the folded text.
    pub(super) fn is_whole_word(&self, range: Range<usize>) -> bool {
        let is_first = |text: &str| text.chars().next().is_some_and(is_word_char);
        let is_last = |text: &str| text.chars().next_back().is_some_and(is_word_char);
        let text = &self.folded[range.clone()];
        !(is_first(text) && is_last(&self.folded[..range.start])
            || is_last(text) && is_first(&self.folded[range.end..]))
    }

    /// Converts a range of the folded text to a range of the original message.
    pub(super) fn original_range(&self, range: Range<usize>) -> Range<usize> {
        self.excerpt.to_message_range(self.unfold_range(range))
    }

    /// Converts a range of the folded text to a range of the excerpt.
    fn unfold_range(&self, range: Range<usize>) -> Range<usize> {
        let text = &*self.excerpt.text;
        if text.len() == self.folded.len() && text.is_ascii() {
            return range;
        }
        let (mut at, mut folded_at) = (0, 0);
        let mut unfolded = 0..text.len();
        for c in text.chars() {
            if folded_at <= range.start {
                unfolded.start = at;
            }
            at += c.len_utf8();
            folded_at += fold_char(c).map(char::len_utf8).sum::<usize>();
            if folded_at >= range.end {
                unfolded.end = at;
                break;
            }
        }
        unfolded
    }
}

/// Returns whether a character is a word character. Those of scripts that are written without spaces, or that attach
/// endings to words of other scripts, are not.
pub(super) fn is_word_char(c: char) -> bool {
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
    // A combining accent belongs to the letter before it.
    let is_accent = matches!(c, '\u{300}'..='\u{36f}');
    (c.is_alphanumeric() && !is_spaceless) || is_accent || c == '_'
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn range_refers_to_the_original_message() {
        let matched_text = |text: &str, limit: usize| {
            let message = Message::new(text, limit);
            let at = message.folded.find("pdf").unwrap();
            text[message.original_range(at..at + 3)].to_owned()
        };
        assert_eq!(matched_text("İstanbul'da PDF", 100), "PDF");
        assert_eq!(matched_text("Fill the PDF", 100), "PDF");
        assert_eq!(
            matched_text(&format!("{} the PDF", "long ".repeat(100)), 100),
            "PDF"
        );
        assert_eq!(
            matched_text(&format!("{} the PDF", "läng ".repeat(100)), 100),
            "PDF"
        );
        assert_eq!(
            matched_text(&format!("PDF {}", "läng ".repeat(100)), 100),
            "PDF"
        );
    }

    #[test]
    fn long_message_is_excerpted_from_both_ends() {
        let message = Message::new("ääxxöö", 6);
        assert_eq!(message.excerpt.text, "ä\nö");
        assert_eq!(message.excerpt.unread, Some(2..8));
        // A word is never cut.
        let message = Message::new("use catalysts and more of them", 24);
        assert_eq!(message.excerpt.text, "use\n of them");
        assert_eq!(Message::new("ää", 4).excerpt.unread, None);
    }

    #[test]
    fn word_edges_are_boundaries_unless_a_letter_follows() {
        let message = Message::new("use pdfs, c++ and ä", 100);
        assert!(!message.is_whole_word(4..7));
        assert!(message.is_whole_word(10..13));
    }
}
