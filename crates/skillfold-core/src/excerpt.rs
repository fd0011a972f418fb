//! The part of a too long text that is read: its start and its end.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use crate::text::{last_bytes, truncate_bytes};

/// The part of a message that is matched: all of it or, if it is too long, its start and end, which usually state the
/// request.
pub(crate) struct Excerpt<'a> {
    message: &'a str,
    pub(crate) text: Cow<'a, str>,
    /// Byte range of the message left out of `text`, where a line break replaces it.
    pub(crate) unread: Option<Range<usize>>,
}

/// Maximum bytes a cut may move to fall between words.
const MAX_CUT_BYTES: usize = 256;

impl<'a> Excerpt<'a> {
    /// Takes the whole message, or at most `limit` bytes from its start and end, cut between words.
    pub(crate) fn new(message: &'a str, limit: usize) -> Self {
        if message.len() <= limit {
            return Self {
                message,
                text: Cow::Borrowed(message),
                unread: None,
            };
        }
        let start = trim_to_word_end(truncate_bytes(message, limit / 2));
        let end = trim_to_word_start(last_bytes(message, limit / 2));
        Self {
            message,
            text: Cow::Owned(format!("{start}\n{end}")),
            unread: Some(start.len()..message.len() - end.len()),
        }
    }

    /// Returns a shorter excerpt of the same message.
    pub(crate) fn shorten(&self, limit: usize) -> Self {
        Self::new(self.message, limit)
    }

    /// Returns the one or two contiguous parts of the message in the excerpt.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &'a str> {
        let (first, second) = match &self.unread {
            Some(unread) => (
                &self.message[..unread.start],
                Some(&self.message[unread.end..]),
            ),
            None => (self.message, None),
        };
        [Some(first), second].into_iter().flatten()
    }

    /// Converts a range of `text` to a range of the message.
    pub(crate) fn to_message_range(&self, range: Range<usize>) -> Range<usize> {
        let Some(unread) = &self.unread else {
            return range;
        };
        let convert = |offset: usize| {
            if offset > unread.start {
                offset - 1 - unread.start + unread.end
            } else {
                offset
            }
        };
        convert(range.start)..convert(range.end)
    }

    /// Returns the range in the message of the first match of a pattern.
    pub(crate) fn find(&self, pattern: &Regex) -> Option<Range<usize>> {
        let second_start = self.unread.as_ref().map_or(0, |unread| unread.end);
        self.parts()
            .zip([0, second_start])
            .find_map(|(part, start)| {
                let found = pattern.find(part)?.range();
                Some(found.start + start..found.end + start)
            })
    }
}

/// Cuts the start of a message at a word boundary if one is near.
fn trim_to_word_end(start: &str) -> &str {
    let near = last_bytes(start, MAX_CUT_BYTES);
    near.rfind(char::is_whitespace).map_or(start, |offset| {
        truncate_bytes(start, start.len() - near.len() + offset)
    })
}

/// Cuts the end of a message at a word boundary if one is near.
fn trim_to_word_start(end: &str) -> &str {
    let near = truncate_bytes(end, MAX_CUT_BYTES);
    near.find(char::is_whitespace)
        .map_or(end, |offset| last_bytes(end, end.len() - offset))
}
