//! Truncates text at character, word or line boundaries, and folds case for comparison. All truncation in the engine is
//! done here.
//!
//! No function exceeds its limit unless documented, none panics on any text, and each returns a slice of its input
//! unless it adds an ellipsis.
//!
//! ```
//! use skillfold_core::text::{ellipsize, truncate_bytes};
//!
//! assert_eq!(truncate_bytes("größer", 3), "gr");
//! assert_eq!(ellipsize("größer", 3), "grö…");
//! ```

use std::borrow::Cow;
use std::ops::Range;

pub use crate::format_number::FormatNumber;
pub use crate::invisible::{hidden_characters, is_invisible};
pub use crate::time::{utc, utc_ms};

/// Marks text that was left out.
pub const ELLIPSIS: char = '…';

/// Returns the longest prefix of whole characters that is at most `max_bytes` long.
pub fn truncate_bytes(text: &str, max_bytes: usize) -> &str {
    &text[..floor_char_boundary(text, max_bytes)]
}

/// Returns the line that a byte is in, from 1.
pub fn line_number(text: &str, byte: usize) -> usize {
    truncate_bytes(text, byte).matches('\n').count() + 1
}

/// Returns the longest suffix of whole characters that is at most `max_bytes` long.
pub fn last_bytes(text: &str, max_bytes: usize) -> &str {
    &text[ceil_char_boundary(text, text.len().saturating_sub(max_bytes))..]
}

/// Returns the first `max_chars` characters.
pub fn first_chars(text: &str, max_chars: usize) -> &str {
    match text.as_bytes().get(..max_chars) {
        None => text,
        // Most text is ASCII, where characters need not be counted.
        Some(start) if start.is_ascii() => truncate_bytes(text, max_chars),
        Some(_) => truncate_by_cost(text, max_chars, |_| 1),
    }
}

/// Returns the longest prefix whose characters together cost at most `budget`.
pub fn truncate_by_cost(text: &str, budget: usize, cost: impl Fn(char) -> usize) -> &str {
    let mut spent = 0_usize;
    let mut chars = text.char_indices();
    let end = chars.find(|(_, c)| {
        spent = spent.saturating_add(cost(*c));
        spent > budget
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns the text if it has at most `max_chars` characters, else its first `max_chars` characters followed by `…`.
pub fn ellipsize(text: &str, max_chars: usize) -> Cow<'_, str> {
    let start = first_chars(text, max_chars);
    if start.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{start}{ELLIPSIS}"))
}

/// Returns a prefix of at most `max_bytes` bytes that ends after a line feed if it contains one, else after a
/// character.
///
/// If not even the first character fits, returns that character, so that a loop over the parts of a text terminates.
pub fn truncate_at_line(text: &str, max_bytes: usize) -> &str {
    let start = truncate_bytes(text, max_bytes);
    if start.len() == text.len() {
        return text;
    }
    match start.rfind('\n') {
        Some(line_end) => &start[..=line_end],
        None if start.is_empty() => first_chars(text, 1),
        None => start,
    }
}

/// Returns the longest common prefix of two texts, in whole characters.
pub fn common_prefix<'a>(text: &'a str, other: &str) -> &'a str {
    let pairs = text.bytes().zip(other.bytes());
    let equal = pairs.take_while(|(left, right)| left == right).count();
    truncate_bytes(text, equal)
}

/// Returns a prefix of at most `max_chars` characters that ends after a word, unless that would drop more than half of
/// it.
pub(crate) fn truncate_at_word(text: &str, max_chars: usize) -> &str {
    let start = first_chars(text, max_chars);
    let is_word_end = text[start.len()..]
        .chars()
        .next()
        .is_none_or(char::is_whitespace);
    if is_word_end {
        return start.trim_end();
    }
    match start.rfind(char::is_whitespace) {
        Some(space) if space >= start.len() / 2 => start[..space].trim_end(),
        _ => start.trim_end(),
    }
}

/// Returns the text up to the end of its first sentence.
pub(crate) fn first_sentence(text: &str) -> &str {
    let text = text.trim_start();
    let mut chars = text.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let end = offset + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                chars.peek().is_none_or(|(_, next)| next.is_whitespace())
                    && !is_abbreviation(&text[..end])
            }
            // A blank line ends the paragraph and its last sentence.
            '\n' => chars.peek().is_some_and(|(_, next)| *next == '\n'),
            _ => false,
        };
        if ends {
            return &text[..end];
        }
    }
    text
}

/// Returns whether a text ends with a common abbreviation.
fn is_abbreviation(text: &str) -> bool {
    ["e.g.", "i.e.", "etc.", "vs.", "incl.", "approx."]
        .iter()
        .any(|abbreviation| {
            let start = text.len().saturating_sub(abbreviation.len());
            text.get(start..)
                .is_some_and(|end| end.eq_ignore_ascii_case(abbreviation))
                && text[..start]
                    .chars()
                    .next_back()
                    .is_none_or(|c| !c.is_alphanumeric())
        })
}

/// Returns the longest suffix of at most `max_chars` characters that starts at a word.
pub(crate) fn last_words(text: &str, max_chars: usize) -> &str {
    let starts = text.char_indices().rev().map(|(start, _)| start);
    let start = starts.take(max_chars).last().unwrap_or(text.len());
    &text[next_word_start(text, start..text.len())..]
}

/// Returns the offset at which the first word in a range starts, or the end of the range. The range need not lie on
/// character boundaries.
pub(crate) fn next_word_start(text: &str, range: Range<usize>) -> usize {
    let end = floor_char_boundary(text, range.end);
    let start = ceil_char_boundary(text, range.start).min(end);
    if start == 0 || text[..start].ends_with(char::is_whitespace) {
        return start;
    }
    let rest = text[start..end].trim_start_matches(|c: char| !c.is_whitespace());
    end - rest.trim_start().len()
}

/// Returns the offset at which the last word in a range ends, or the start of the range. The range need not lie on
/// character boundaries.
pub(crate) fn previous_word_end(text: &str, range: Range<usize>) -> usize {
    let start = ceil_char_boundary(text, range.start);
    let end = floor_char_boundary(text, range.end).max(start);
    if end == text.len() || text[end..].starts_with(char::is_whitespace) {
        return end;
    }
    let words = text[start..end].trim_end_matches(|c: char| !c.is_whitespace());
    start + words.trim_end().len()
}

/// Folds the case of a text, for comparing names, messages and triggers. The result for a letter does not depend on its
/// neighbours.
pub(crate) fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(fold_char).collect()
}

/// Folds the case of a character. A final sigma equals any other sigma, since both `str::to_lowercase` and people write
/// it in two forms.
pub(crate) fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Returns the FNV-1a hash, which is the same in every process.
pub(crate) fn fnv_hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the last character boundary at or before `offset`.
fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Returns the first character boundary at or after `offset`, at most the length of the text.
fn ceil_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset += 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates text from all of Unicode, with white space of any UTF-8 length.
    fn any_text() -> impl Strategy<Value = String> {
        let spaces: Vec<char> = (char::MIN..=char::MAX)
            .filter(|c| c.is_whitespace())
            .collect();
        let piece = prop_oneof![
            any::<char>(),
            proptest::sample::select(spaces),
            proptest::char::range('a', 'c'),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|chars| chars.into_iter().collect())
    }

    #[test]
    fn cut_falls_on_a_character_boundary() {
        assert_eq!(truncate_bytes("größer", 3), "gr");
        assert_eq!(last_bytes("größer", 3), "er");
        assert_eq!(first_chars("größer", 4), "größ");
        assert_eq!(ellipsize("größer", 6), "größer");
        assert_eq!(truncate_at_line("a\nb\nc", 4), "a\nb\n");
        assert_eq!(truncate_at_line("将", 1), "将");
        assert_eq!(common_prefix("ä", "ö"), "");
    }

    #[test]
    fn word_ends_at_whitespace_of_any_width() {
        assert_eq!(truncate_at_word("abc\u{3000}cd ef", 5), "abc");
        assert_eq!(last_words("ab cd\u{a0}ef", 3), "ef");
        assert_eq!(last_words("ab cd\u{a0}ef", 2), "ef");
        let text = "ab\u{3000}cd\u{a0}ef";
        assert_eq!(&text[next_word_start(text, 1..text.len())..], "cd\u{a0}ef");
        assert_eq!(
            &text[..previous_word_end(text, 0..text.len() - 1)],
            "ab\u{3000}cd"
        );
    }

    #[test]
    fn first_sentence_ends_at_punctuation() {
        assert_eq!(first_sentence("Fills in forms. Use it."), "Fills in forms.");
        assert_eq!(
            first_sentence("Reads v1.2 files, e.g. PDF, and more! Yes"),
            "Reads v1.2 files, e.g. PDF, and more!"
        );
        assert_eq!(first_sentence("处理表格。用于 PDF"), "处理表格。");
        assert_eq!(first_sentence("No mark"), "No mark");
        assert_eq!(first_sentence("A title\n\nText. More"), "A title\n");
    }

    #[test]
    fn fold_ignores_case_and_final_sigma() {
        assert_eq!(fold_case("ΟΔΟΣ"), fold_case("οδος"));
        assert_eq!(fold_case("ΟΔΟΣ"), "οδοσ");
        assert_eq!(fold_case("Über"), "über");
    }

    proptest! {
        #[test]
        fn fold_ignores_case_of_any_text(text in any_text()) {
            prop_assert_eq!(fold_case(&text.to_lowercase()), fold_case(&text));
            prop_assert_eq!(fold_case(&fold_case(&text)), fold_case(&text));
        }

        #[test]
        fn cuts_are_slices_within_their_limit(text in any_text(), other in any_text(), limit in 0_usize..90) {
            prop_assert!(truncate_bytes(&text, limit).len() <= limit);
            prop_assert!(text.starts_with(truncate_bytes(&text, limit)));
            prop_assert!(last_bytes(&text, limit).len() <= limit);
            prop_assert!(text.ends_with(last_bytes(&text, limit)));
            for start in [first_chars(&text, limit), truncate_at_word(&text, limit)] {
                prop_assert!(text.starts_with(start));
                prop_assert!(start.chars().count() <= limit);
            }
            prop_assert!(text.ends_with(last_words(&text, limit)));
            prop_assert!(last_words(&text, limit).chars().count() <= limit);
            prop_assert!(ellipsize(&text, limit).chars().count() <= limit + 1);
            let both = common_prefix(&text, &other);
            prop_assert!(text.starts_with(both) && other.starts_with(both));
        }

        #[test]
        fn loop_over_lines_of_any_text_terminates(text in any_text(), limit in 0_usize..9) {
            let (mut rest, mut parts) = (text.as_str(), 0);
            while !rest.is_empty() {
                let part = truncate_at_line(rest, limit);
                prop_assert!(part.len() <= limit.max(4));
                rest = &rest[part.len()..];
                parts += 1;
            }
            prop_assert!(parts <= text.chars().count());
        }

        #[test]
        fn words_of_any_text_start_and_end_in_range(text in any_text(), start in 0_usize..90, length in 0_usize..90) {
            let range = start..start + length;
            let (from, to) = (next_word_start(&text, range.clone()), previous_word_end(&text, range));
            prop_assert!(text.is_char_boundary(from) && text.is_char_boundary(to));
            prop_assert!(from <= start + length);
            prop_assert!(to >= start.min(text.len()));
        }
    }
}
