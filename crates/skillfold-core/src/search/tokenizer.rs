//! Tokenization: words are folded and stemmed, and identifiers are split.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::{fnv_hash, fold_char, truncate_bytes};

/// A hashed word stem. It is the same for all forms of a word and on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    /// Creates a term from its hash.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the hash.
    pub const fn hash(self) -> u32 {
        self.0
    }
}

/// Maximum bytes of a word to use; nobody searches for longer words.
const MAX_WORD_BYTES: usize = 64;
/// Maximum words in the cache of a tokenizer.
const MAX_CACHED_WORDS: usize = 1 << 16;

/// Words that carry no information about the topic of a text.
const STOP_WORDS: [&str; 96] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has",
    "have", "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "let", "like", "me", "more", "most", "my", "no", "not", "of", "on", "one", "only", "or", "our",
    "out", "over", "please", "she", "should", "so", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us", "very",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with",
    "would", "you", "your", "am", "im", "ive",
];

/// Turns words into terms, with a cache.
pub(crate) struct Tokenizer {
    stemmer: Stemmer,
    cache: HashMap<Box<str>, Option<Term>>,
}

impl Tokenizer {
    pub(crate) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            cache: HashMap::new(),
        }
    }

    /// Calls `emit` with each term of a text and the byte range of its word, in order. A stop word has no term; an
    /// identifier has one term for the whole and one for each part.
    pub(crate) fn for_each_term(&mut self, text: &str, mut emit: impl FnMut(Term, Range<usize>)) {
        for_each_word(text, |word, range| {
            if let Some(term) = self.term(word) {
                emit(term, range);
            }
        });
    }

    fn term(&mut self, word: &str) -> Option<Term> {
        if let Some(term) = self.cache.get(word) {
            return *term;
        }
        let term = self.compute_term(word);
        if self.cache.len() < MAX_CACHED_WORDS {
            self.cache.insert(word.into(), term);
        }
        term
    }

    fn compute_term(&self, word: &str) -> Option<Term> {
        let folded = fold_word(truncate_bytes(word, MAX_WORD_BYTES));
        if STOP_WORDS.contains(&&*folded) {
            return None;
        }
        let is_english = folded.len() > 2 && folded.bytes().all(|byte| byte.is_ascii_lowercase());
        let stem = if is_english {
            self.stemmer.stem(&folded)
        } else {
            folded
        };
        Some(Term(hash_stem(&stem)))
    }
}

/// Folds case, strips accents and normalizes compatibility forms.
fn fold_word(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(word.to_ascii_lowercase())
        } else {
            Cow::Borrowed(word)
        };
    }
    let base = word.nfkd().filter(|c| !is_combining_mark(*c));
    Cow::Owned(base.flat_map(fold_char).nfc().collect())
}

/// 64-bit FNV-1a, XOR-folded to 32 bits. Indexes on disk contain it, so it must never change.
fn hash_stem(stem: &str) -> u32 {
    let hash = fnv_hash(stem.bytes()).to_le_bytes();
    u32::from_le_bytes(std::array::from_fn(|index| hash[index] ^ hash[index + 4]))
}

/// Calls `emit` with each word of a text and its byte range: runs of letters and digits, the parts of an identifier
/// after the whole, and character bigrams in scripts that are written without spaces.
fn for_each_word(text: &str, mut emit: impl FnMut(&str, Range<usize>)) {
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if !c.is_alphanumeric() {
            continue;
        }
        let is_spaceless_run = is_spaceless(c);
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = chars.peek().copied() {
            if !next.is_alphanumeric() && !is_combining_mark(next)
                || is_spaceless(next) != is_spaceless_run && !is_combining_mark(next)
            {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        if is_spaceless_run {
            for_each_bigram(&text[start..end], start, &mut emit);
            continue;
        }
        end += language_suffix_len(text, start..end);
        emit(&text[start..end], start..end);
        for_each_subword(&text[start..end], start, &mut emit);
    }
}

/// Returns the number of bytes after a word that belong to it, as in `C#` and `C++`.
fn language_suffix_len(text: &str, word: Range<usize>) -> usize {
    if word.len() > 1 {
        return 0;
    }
    let rest = &text[word.end..];
    ["++", "#"]
        .into_iter()
        .find(|suffix| rest.starts_with(suffix))
        .map_or(0, str::len)
}

/// Returns whether a run of such characters may be several words: Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese.
fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Calls `emit` with each pair of adjacent characters, or with the whole run if it has only one or two.
fn for_each_bigram(run: &str, start: usize, emit: &mut impl FnMut(&str, Range<usize>)) {
    let mut offsets = run
        .char_indices()
        .map(|(offset, _)| offset)
        .chain([run.len()]);
    let (mut first, mut second) = (offsets.next(), offsets.next());
    let third = offsets.next();
    if third.is_none() {
        emit(run, start..start + run.len());
        return;
    }
    for end in third.into_iter().chain(offsets) {
        if let Some(first) = first {
            emit(&run[first..end], start + first..start + end);
        }
        (first, second) = (second, Some(end));
    }
}

/// Calls `emit` with the parts of an identifier, if it has several: `getUserName`, `HTTPRequestError`, `python3`.
///
/// Two parts that both start with a capital are usually one name (`JavaScript`, `LinkedIn`) and are not split.
fn for_each_subword(word: &str, start: usize, emit: &mut impl FnMut(&str, Range<usize>)) {
    if !word.is_ascii() || word.len() < 3 {
        return;
    }
    let bytes = word.as_bytes();
    let is_plain = bytes.iter().all(u8::is_ascii_lowercase);
    if is_plain {
        return;
    }
    let boundaries: Vec<usize> = (1..bytes.len())
        .filter(|offset| is_subword_start(bytes, *offset))
        .collect();
    let is_one_name = boundaries.len() == 1
        && bytes[0].is_ascii_uppercase()
        && bytes[boundaries[0]].is_ascii_uppercase();
    if boundaries.is_empty() || is_one_name {
        return;
    }
    let starts = [0].into_iter().chain(boundaries.iter().copied());
    let ends = boundaries.iter().copied().chain([bytes.len()]);
    for (part_start, part_end) in starts
        .zip(ends)
        .filter(|(part_start, part_end)| part_end - part_start > 1)
    {
        emit(
            &word[part_start..part_end],
            start + part_start..start + part_end,
        );
    }
}

/// Returns whether a part of an identifier starts at an offset.
fn is_subword_start(word: &[u8], offset: usize) -> bool {
    let (previous, current) = (word[offset - 1], word[offset]);
    let is_last_capital = word.get(offset + 1).is_some_and(u8::is_ascii_lowercase);
    previous.is_ascii_lowercase() && current.is_ascii_uppercase()
        || previous.is_ascii_uppercase() && current.is_ascii_uppercase() && is_last_capital
        || previous.is_ascii_digit() != current.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word, range| {
            assert_eq!(word, &text[range]);
            words.push(word.to_owned());
        });
        words
    }

    #[test]
    fn identifiers_are_split_but_names_are_not() {
        assert_eq!(words("pdf-form_filler"), ["pdf", "form", "filler"]);
        assert_eq!(words("getUserName"), ["getUserName", "get", "User", "Name"]);
        assert_eq!(
            words("HTTPRequestError"),
            ["HTTPRequestError", "HTTP", "Request", "Error"]
        );
        assert_eq!(
            words("JavaScript on S3, python3"),
            ["JavaScript", "on", "S3", "python3", "python"]
        );
        assert_eq!(words("C++ and c#."), ["C++", "and", "c#"]);
    }

    #[test]
    fn spaceless_scripts_become_bigrams() {
        assert_eq!(words("表格 处理PDF文件"), ["表格", "处理", "PDF", "文件"]);
        assert_eq!(words("日本語で"), ["日本", "本語", "語で"]);
        assert_eq!(words("码"), ["码"]);
    }

    #[test]
    fn inflections_of_a_word_are_one_term() {
        let mut tokenizer = Tokenizer::new();
        let mut term = |word: &str| tokenizer.term(word);
        assert_eq!(term("Invoices"), term("invoice"));
        assert_eq!(term("résumé"), term("RESUME"));
        assert_eq!(term("ＰＤＦ"), term("pdf"));
        assert_eq!(term("ΟΔΟΣ"), term("οδός"));
        assert_ne!(term("c++"), term("c#"));
        assert_eq!(term("The"), None);
    }

    proptest::proptest! {
        #[test]
        fn token_ranges_point_at_their_words(text in "\\PC{0,60}") {
            words(&text);
        }
    }
}
