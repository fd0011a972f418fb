//! Descriptions cut to a length, so that those that begin alike can still be told apart.

use std::borrow::Cow;

use crate::text::{MISSING, common_start, first_chars, last_words_within, words_within};

/// Cuts a description to so many characters.
///
/// It ends with a word, unless that word is half of the room, and with `…`. Where all that would be left begins another
/// description too, which `shared` bytes say, the beginning is left out instead: the text starts with `…` and the first word
/// that differs, or before it as far as there is room.
pub(super) fn clip(text: &str, shared: usize, room: usize) -> Cow<'_, str> {
    if fits(text, room) {
        return Cow::Borrowed(text);
    }
    let head = words_within(text, room.saturating_sub(1));
    if head.len() > shared || shared >= text.len() {
        return Cow::Owned(format!("{head}{MISSING}"));
    }
    let difference = difference(text, shared, room);
    let rest = &text[difference..];
    if fits(rest, room.saturating_sub(1)) {
        let longer = last_words_within(text, room.saturating_sub(1));
        let end = if longer.len() > rest.len() {
            longer
        } else {
            rest
        };
        return Cow::Owned(format!("{MISSING}{end}"));
    }
    let middle = words_within(rest, room.saturating_sub(2));
    Cow::Owned(format!("{MISSING}{middle}{MISSING}"))
}

/// Returns for each text how many of its first bytes begin another text that is not the same.
pub(super) fn shared_beginnings(texts: &[&str]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_unstable_by_key(|&at| texts[at]);
    let mut shared = vec![0; texts.len()];
    // Among sorted texts those that share most are neighbours; the same texts stand together and are passed as one.
    let mut before: Vec<usize> = Vec::new();
    for same in order.chunk_by(|left, right| texts[*left] == texts[*right]) {
        let length = match (before.first(), same.first()) {
            (Some(&left), Some(&right)) => common_start(texts[left], texts[right]).len(),
            _ => 0,
        };
        for &at in before.iter().chain(same) {
            shared[at] = shared[at].max(length);
        }
        before.clear();
        before.extend_from_slice(same);
    }
    shared
}

/// Returns where the first word that differs starts, or the difference itself if the word is long before it.
fn difference(text: &str, shared: usize, room: usize) -> usize {
    let before = &text[..shared];
    let word = before.trim_end_matches(|character: char| !character.is_whitespace());
    if fits(&before[word.len()..], room / 2) {
        word.len()
    } else {
        shared
    }
}

/// Returns whether a text has at most so many characters.
fn fits(text: &str, room: usize) -> bool {
    first_chars(text, room).len() == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], room: usize, expected: &[&str]) {
        let shared = shared_beginnings(texts);
        let clipped: Vec<_> = texts
            .iter()
            .zip(shared)
            .map(|(text, shared)| clip(text, shared, room))
            .collect();
        assert_eq!(clipped, expected);
    }

    #[test]
    fn a_clip_ends_with_a_word() {
        check(&["Fills in forms of all kinds"], 16, &["Fills in forms…"]);
        check(&["Fills in forms of all kinds"], 15, &["Fills in forms…"]);
        check(&["Fills in forms of all kinds"], 14, &["Fills in…"]);
    }

    #[test]
    fn what_fits_is_whole() {
        check(&["größer – ja"], 11, &["größer – ja"]);
    }

    #[test]
    fn a_word_that_is_half_of_the_room_is_cut() {
        check(&["a 将文档转换为可搜索的文本"], 8, &["a 将文档转换…"]);
    }

    #[test]
    fn siblings_lose_what_they_share() {
        check(
            &[
                "Use this skill when working with tables of numbers",
                "Use this skill when working with text in columns",
                "Something else that is quite long",
            ],
            20,
            &[
                "…tables of numbers",
                "…text in columns",
                "Something else that…",
            ],
        );
    }

    #[test]
    fn what_differs_keeps_what_stands_before_it_where_there_is_room() {
        check(
            &[
                "One two three four five six",
                "One two three four five seven",
            ],
            18,
            &["…four five six", "…four five seven"],
        );
    }

    #[test]
    fn what_differs_late_in_a_long_word_is_kept() {
        check(
            &[
                "reads configuration-of-machines-a and more of it",
                "reads configuration-of-machines-b and more of it",
            ],
            20,
            &["…a and more of it", "…b and more of it"],
        );
    }

    #[test]
    fn the_same_descriptions_are_told_from_others() {
        check(
            &[
                "Use this skill for one thing",
                "Use this skill for one thing",
                "Use this skill for another thing",
            ],
            16,
            &["…for one thing", "…for one thing", "…another thing"],
        );
    }

    #[test]
    fn a_description_that_begins_another_keeps_its_beginning() {
        check(
            &[
                "Reads many kinds of files",
                "Reads many kinds of files and folders",
            ],
            16,
            &["Reads many…", "…files and…"],
        );
    }
}
