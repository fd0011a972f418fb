//! How common words are in real skills, whatever skills are searched.
//!
//! Among few skills any word looks rare. The table was counted by `skillfold-bench words`.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::search::tokenizer::{Term, Tokenizer};

/// The rarity of a word that is not in the table.
pub(super) const MAX_RARITY: u8 = 6;

/// The rarity up to which a word is common: one of sixteen skills has it.
const COMMON_RARITY: u8 = 4;

/// The words: the hash of a term and its rarity per line.
const WORDS_TSV: &str = include_str!("common_words.tsv");

static WORDS: LazyLock<HashMap<u32, u8>> = LazyLock::new(|| {
    let lines = WORDS_TSV.lines().filter_map(|line| {
        let (hash, rarity) = line.split_once('\t')?;
        Some((u32::from_str_radix(hash, 16).ok()?, rarity.parse().ok()?))
    });
    lines.collect()
});

/// Returns how rare a word is: one of 2ⁿ skills has it, from 0 for a word of nearly all skills to [`MAX_RARITY`].
pub(crate) fn rarity(term: Term) -> u8 {
    WORDS.get(&term.hash()).copied().unwrap_or(MAX_RARITY)
}

/// Returns whether a text is one word that many messages have, whatever they are about.
pub(crate) fn is_common_word(text: &str) -> bool {
    let mut terms = Vec::new();
    Tokenizer::new().for_each_term(text, |term, _| terms.push(term));
    match terms[..] {
        // A stop word.
        [] => text.chars().any(char::is_alphanumeric),
        [term] => rarity(term) <= COMMON_RARITY,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_parsed() {
        assert_eq!(WORDS.len(), WORDS_TSV.lines().count());
        assert!(WORDS.values().all(|rarity| *rarity < MAX_RARITY));
    }

    #[test]
    fn common_words_are_known() {
        for word in ["merge", "review", "Tests", "fix", "the"] {
            assert!(is_common_word(word), "{word}");
        }
        for word in ["bonjour", "pandas", "merge two files", "pdf-forms", ""] {
            assert!(!is_common_word(word), "{word}");
        }
    }
}
