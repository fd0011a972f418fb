//! Where text is cut: between characters, words or lines; and how it is compared. Every cut of the engine is made here.
//!
//! A limit is never passed, and no cut panics, whatever the text: each returns a part of the text as it was given.
//!
//! ```
//! use skillfold_core::text::{shortened, start_of};
//!
//! assert_eq!(start_of("größer", 3), "gr");
//! assert_eq!(shortened("größer", 3), "grö…");
//! ```

use std::borrow::Cow;
use std::ops::Range;

/// What stands where text is missing.
pub const MISSING: char = '…';

/// Returns the start of a text: at most so many bytes, up to the end of a character.
pub fn start_of(text: &str, bytes: usize) -> &str {
    &text[..floor(text, bytes)]
}

/// Returns the end of a text: at most so many bytes, from the start of a character on.
pub fn end_of(text: &str, bytes: usize) -> &str {
    &text[ceiling(text, text.len().saturating_sub(bytes))..]
}

/// Returns the start of a text: at most so many characters.
pub fn first_chars(text: &str, characters: usize) -> &str {
    match text.as_bytes().get(..characters) {
        None => text,
        // Most text is ASCII, where characters need not be counted.
        Some(start) if start.is_ascii() => start_of(text, characters),
        Some(_) => start_within(text, characters, |_| 1),
    }
}

/// Returns the start of a text of which all characters together cost no more than there is.
pub fn start_within(text: &str, room: usize, cost: impl Fn(char) -> usize) -> &str {
    let mut taken = 0_usize;
    let mut starts = text.char_indices();
    let end = starts.find(|(_, c)| {
        taken = taken.saturating_add(cost(*c));
        taken > room
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns a text of at most so many characters as it is, and of a longer one the start and `…`.
pub fn shortened(text: &str, characters: usize) -> Cow<'_, str> {
    let start = first_chars(text, characters);
    if start.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{start}{MISSING}"))
}

/// Returns the start of a text: at most so many bytes, up to the end of a line if one ends there, else of a character.
///
/// A text of which no character fits gives its first one, so that a loop over the parts of a text comes to its end.
pub fn lines_within(text: &str, bytes: usize) -> &str {
    let start = start_of(text, bytes);
    if start.len() == text.len() {
        return text;
    }
    match start.rfind('\n') {
        Some(line_end) => &start[..=line_end],
        None if start.is_empty() => first_chars(text, 1),
        None => start,
    }
}

/// Returns what a text begins with that another begins with too, in whole characters.
pub fn common_start<'a>(text: &'a str, other: &str) -> &'a str {
    let pairs = text.bytes().zip(other.bytes());
    let alike = pairs.take_while(|(one, other)| one == other).count();
    start_of(text, alike)
}

/// Returns the start of a text: at most so many characters, up to the end of a word, unless that word takes more than
/// half of the room.
pub(crate) fn words_within(text: &str, characters: usize) -> &str {
    let within = first_chars(text, characters);
    let is_word_end = text[within.len()..]
        .chars()
        .next()
        .is_none_or(char::is_whitespace);
    if is_word_end {
        return within.trim_end();
    }
    match within.rfind(char::is_whitespace) {
        Some(blank) if blank >= within.len() / 2 => within[..blank].trim_end(),
        _ => within.trim_end(),
    }
}

/// Returns the end of a text: at most so many characters, from the start of a word on.
pub(crate) fn last_words_within(text: &str, characters: usize) -> &str {
    let starts = text.char_indices().rev().map(|(start, _)| start);
    let start = starts.take(characters).last().unwrap_or(text.len());
    &text[word_start(text, start..text.len())..]
}

/// Returns where the first word in a range starts, or where the range ends. Both ends of the range may stand inside of
/// characters.
pub(crate) fn word_start(text: &str, range: Range<usize>) -> usize {
    let end = floor(text, range.end);
    let start = ceiling(text, range.start).min(end);
    if start == 0 || text[..start].ends_with(char::is_whitespace) {
        return start;
    }
    let rest = text[start..end].trim_start_matches(|c: char| !c.is_whitespace());
    end - rest.trim_start().len()
}

/// Returns where the last word in a range ends, or where the range starts. Both ends of the range may stand inside of
/// characters.
pub(crate) fn word_end(text: &str, range: Range<usize>) -> usize {
    let start = ceiling(text, range.start);
    let end = floor(text, range.end).max(start);
    if end == text.len() || text[end..].starts_with(char::is_whitespace) {
        return end;
    }
    let within = text[start..end].trim_end_matches(|c: char| !c.is_whitespace());
    start + within.trim_end().len()
}

/// Returns a text as names, requests and triggers are compared: in lower case, whatever stands around a letter.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(fold_char).collect()
}

/// Returns a character as it is compared. A sigma at the end of a word is like any other, since `str::to_lowercase` and
/// people write it in two forms.
pub(crate) fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Returns the last place up to `at` where a character starts or the text ends.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the first place from `at` on where a character starts or the text ends.
fn ceiling(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text of all of Unicode, with white space of any width in it.
    fn any_text() -> impl Strategy<Value = String> {
        let spaces: Vec<char> = (char::MIN..=char::MAX)
            .filter(|c| c.is_whitespace())
            .collect();
        let piece = prop_oneof![
            any::<char>(),
            proptest::sample::select(spaces),
            proptest::char::range('a', 'c'),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|all| all.into_iter().collect())
    }

    #[test]
    fn cut_is_between_characters() {
        assert_eq!(start_of("größer", 3), "gr");
        assert_eq!(end_of("größer", 3), "er");
        assert_eq!(first_chars("größer", 4), "größ");
        assert_eq!(shortened("größer", 6), "größer");
        assert_eq!(lines_within("a\nb\nc", 4), "a\nb\n");
        assert_eq!(lines_within("将", 1), "将");
        assert_eq!(common_start("ä", "ö"), "");
    }

    #[test]
    fn word_ends_at_white_space_of_any_width() {
        assert_eq!(words_within("abc\u{3000}cd ef", 5), "abc");
        assert_eq!(last_words_within("ab cd\u{a0}ef", 3), "ef");
        assert_eq!(last_words_within("ab cd\u{a0}ef", 2), "ef");
        let text = "ab\u{3000}cd\u{a0}ef";
        assert_eq!(&text[word_start(text, 1..text.len())..], "cd\u{a0}ef");
        assert_eq!(&text[..word_end(text, 0..text.len() - 1)], "ab\u{3000}cd");
    }

    #[test]
    fn text_is_compared_without_regard_to_case_and_to_where_a_sigma_stands() {
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("ΟΔΟΣ"), "οδοσ");
        assert_eq!(fold("Über"), "über");
    }

    proptest! {
        #[test]
        fn text_in_capitals_is_compared_as_in_small_letters(text in any_text()) {
            prop_assert_eq!(fold(&text.to_lowercase()), fold(&text));
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }

        #[test]
        fn cut_of_any_text_is_a_part_of_it_within_its_limit(text in any_text(), other in any_text(), limit in 0_usize..90) {
            prop_assert!(start_of(&text, limit).len() <= limit);
            prop_assert!(text.starts_with(start_of(&text, limit)));
            prop_assert!(end_of(&text, limit).len() <= limit);
            prop_assert!(text.ends_with(end_of(&text, limit)));
            for start in [first_chars(&text, limit), words_within(&text, limit)] {
                prop_assert!(text.starts_with(start));
                prop_assert!(start.chars().count() <= limit);
            }
            prop_assert!(text.ends_with(last_words_within(&text, limit)));
            prop_assert!(last_words_within(&text, limit).chars().count() <= limit);
            prop_assert!(shortened(&text, limit).chars().count() <= limit + 1);
            let both = common_start(&text, &other);
            prop_assert!(text.starts_with(both) && other.starts_with(both));
        }

        #[test]
        fn lines_of_any_text_come_to_its_end(text in any_text(), limit in 0_usize..9) {
            let (mut rest, mut parts) = (text.as_str(), 0);
            while !rest.is_empty() {
                let part = lines_within(rest, limit);
                prop_assert!(part.len() <= limit.max(4));
                rest = &rest[part.len()..];
                parts += 1;
            }
            prop_assert!(parts <= text.chars().count());
        }

        #[test]
        fn words_of_any_text_start_and_end_in_its_range(text in any_text(), start in 0_usize..90, length in 0_usize..90) {
            let range = start..start + length;
            let (from, to) = (word_start(&text, range.clone()), word_end(&text, range));
            prop_assert!(text.is_char_boundary(from) && text.is_char_boundary(to));
            prop_assert!(from <= start + length);
            prop_assert!(to >= start.min(text.len()));
        }
    }
}
