//! Clips descriptions to a length such that those with a common beginning can still be told apart.

use std::borrow::Cow;

use crate::text::{ELLIPSIS, common_prefix, first_chars, last_words, truncate_at_word};

/// Clips a description to at most `max_characters`.
///
/// The result ends with `…`, after a whole word unless that word takes up half of the length. The first `shared` bytes
/// are the beginning of another description too. If nothing else would be left, the beginning is dropped instead: the
/// result starts with `…` and the first word that differs, or earlier if there is room.
pub(super) fn clip(text: &str, shared: usize, max_characters: usize) -> Cow<'_, str> {
    if fits(text, max_characters) {
        return Cow::Borrowed(text);
    }
    let head = truncate_at_word(text, max_characters.saturating_sub(1));
    if head.len() > shared || shared >= text.len() {
        return Cow::Owned(format!("{head}{ELLIPSIS}"));
    }
    let rest = &text[difference_start(text, shared, max_characters)..];
    if fits(rest, max_characters.saturating_sub(1)) {
        let longer = last_words(text, max_characters.saturating_sub(1));
        let end = if longer.len() > rest.len() {
            longer
        } else {
            rest
        };
        return Cow::Owned(format!("{ELLIPSIS}{end}"));
    }
    let middle = truncate_at_word(rest, max_characters.saturating_sub(2));
    Cow::Owned(format!("{ELLIPSIS}{middle}{ELLIPSIS}"))
}

/// Returns for each text the length in bytes of the longest prefix that it shares with a different text.
pub(super) fn shared_prefix_bytes(texts: &[&str]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_unstable_by_key(|&at| texts[at]);
    let mut shared = vec![0; texts.len()];
    // In sorted order the longest common prefix is with a neighbour. Equal texts form one group.
    let mut previous: Vec<usize> = Vec::new();
    for group in order.chunk_by(|left, right| texts[*left] == texts[*right]) {
        let length = match (previous.first(), group.first()) {
            (Some(&left), Some(&right)) => common_prefix(texts[left], texts[right]).len(),
            _ => 0,
        };
        for &at in previous.iter().chain(group) {
            shared[at] = shared[at].max(length);
        }
        previous.clear();
        previous.extend_from_slice(group);
    }
    shared
}

/// Returns the start of the first word that differs, or of the difference itself if it is far into a long word.
fn difference_start(text: &str, shared: usize, max_characters: usize) -> usize {
    let prefix = &text[..shared];
    let whole_words = prefix.trim_end_matches(|character: char| !character.is_whitespace());
    if fits(&prefix[whole_words.len()..], max_characters / 2) {
        whole_words.len()
    } else {
        shared
    }
}

/// Returns whether a text has at most `max_characters`.
fn fits(text: &str, max_characters: usize) -> bool {
    first_chars(text, max_characters).len() == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], max_characters: usize, expected: &[&str]) {
        let shared = shared_prefix_bytes(texts);
        let clipped: Vec<_> = texts
            .iter()
            .zip(shared)
            .map(|(text, shared)| clip(text, shared, max_characters))
            .collect();
        assert_eq!(clipped, expected);
    }

    #[test]
    fn clip_ends_at_a_word_boundary() {
        check(&["Fills in forms of all kinds"], 16, &["Fills in forms…"]);
        check(&["Fills in forms of all kinds"], 15, &["Fills in forms…"]);
        check(&["Fills in forms of all kinds"], 14, &["Fills in…"]);
    }

    #[test]
    fn text_that_fits_is_not_clipped() {
        check(&["größer – ja"], 11, &["größer – ja"]);
    }

    #[test]
    fn word_longer_than_half_the_budget_is_split() {
        check(&["a 将文档转换为可搜索的文本"], 8, &["a 将文档转换…"]);
    }

    #[test]
    fn shared_prefix_of_siblings_is_dropped() {
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
    fn distinct_part_keeps_preceding_words_that_fit() {
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
    fn difference_late_in_a_long_word_is_kept() {
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
    fn identical_descriptions_are_still_distinguished_from_others() {
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
    fn description_that_is_a_prefix_of_another_keeps_its_start() {
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
