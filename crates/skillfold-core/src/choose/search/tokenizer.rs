//! A text as words that can be compared: folded, stemmed, identifiers taken apart.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::{fold_char, start_of};

/// What a word is found by: a number that is the same for all its forms, on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    /// Takes a term from its number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Bytes of a word that count; nobody searches for more.
const WORD_BYTES: usize = 64;
/// Words that are remembered with their terms.
const REMEMBERED: usize = 1 << 16;

/// Words that say nothing of what a text is about.
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

/// Turns words into terms, and remembers those it has seen.
pub(super) struct Terms {
    stemmer: Stemmer,
    seen: HashMap<Box<str>, Option<Term>>,
}

impl Terms {
    pub(super) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            seen: HashMap::new(),
        }
    }

    /// Calls back with each term of a text and the place of its word, in order. A stop word has no term; a word that is
    /// made of several has one of its own and one for each part.
    pub(super) fn each(&mut self, text: &str, mut take: impl FnMut(Term, Range<usize>)) {
        each_word(text, |word, place| {
            if let Some(term) = self.term(word) {
                take(term, place);
            }
        });
    }

    fn term(&mut self, word: &str) -> Option<Term> {
        if let Some(term) = self.seen.get(word) {
            return *term;
        }
        let term = self.made(word);
        if self.seen.len() < REMEMBERED {
            self.seen.insert(word.into(), term);
        }
        term
    }

    fn made(&self, word: &str) -> Option<Term> {
        let folded = folded(start_of(word, WORD_BYTES));
        if STOP_WORDS.contains(&&*folded) {
            return None;
        }
        let is_english = folded.len() > 2 && folded.bytes().all(|byte| byte.is_ascii_lowercase());
        let stem = if is_english {
            self.stemmer.stem(&folded)
        } else {
            folded
        };
        Some(Term(hashed(&stem)))
    }
}

/// Returns a word in lower case and without accents; forms that look alike become one.
fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(word.to_ascii_lowercase())
        } else {
            Cow::Borrowed(word)
        };
    }
    let plain = word.nfkd().filter(|letter| !is_combining_mark(*letter));
    Cow::Owned(plain.flat_map(fold_char).nfc().collect())
}

/// FNV-1a, both halves put together. It is written down in indexes, so it never changes.
fn hashed(stem: &str) -> u32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in stem.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let (bytes, mut folded) = (hash.to_le_bytes(), [0; 4]);
    for (at, byte) in folded.iter_mut().enumerate() {
        *byte = bytes[at] ^ bytes[at + 4];
    }
    u32::from_le_bytes(folded)
}

/// Calls back with each word of a text and its place: runs of letters and digits, the parts of identifiers after the
/// whole, and pairs of signs in scripts that are written without spaces.
fn each_word(text: &str, mut take: impl FnMut(&str, Range<usize>)) {
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        if !letter.is_alphanumeric() {
            continue;
        }
        let is_dense = is_written_without_spaces(letter);
        let mut end = start + letter.len_utf8();
        while let Some((at, next)) = letters.peek().copied() {
            if !next.is_alphanumeric() && !is_combining_mark(next)
                || is_written_without_spaces(next) != is_dense && !is_combining_mark(next)
            {
                break;
            }
            end = at + next.len_utf8();
            letters.next();
        }
        if is_dense {
            each_pair(&text[start..end], start, &mut take);
            continue;
        }
        end += sharp_or_plus(text, start..end);
        take(&text[start..end], start..end);
        each_part(&text[start..end], start, &mut take);
    }
}

/// Returns how many bytes after a word belong to it: `C#`, `C++`.
fn sharp_or_plus(text: &str, word: Range<usize>) -> usize {
    if word.len() > 1 {
        return 0;
    }
    let rest = &text[word.end..];
    ["++", "#"]
        .into_iter()
        .find(|mark| rest.starts_with(mark))
        .map_or(0, str::len)
}

/// Scripts of which a run is many words: those of Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese.
fn is_written_without_spaces(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn each_pair(run: &str, start: usize, take: &mut impl FnMut(&str, Range<usize>)) {
    let mut places = run.char_indices().map(|(at, _)| at).chain([run.len()]);
    let (mut first, mut second) = (places.next(), places.next());
    let third = places.next();
    if third.is_none() {
        take(run, start..start + run.len());
        return;
    }
    for end in third.into_iter().chain(places) {
        if let Some(first) = first {
            take(&run[first..end], start + first..start + end);
        }
        (first, second) = (second, Some(end));
    }
}

/// Calls back with the parts of an identifier, where it has some: `getUserName`, `HTTPRequestError`, `python3`.
///
/// Two parts that both begin with a capital are most often one name (`JavaScript`, `LinkedIn`) and stay together.
fn each_part(word: &str, start: usize, take: &mut impl FnMut(&str, Range<usize>)) {
    if !word.is_ascii() || word.len() < 3 {
        return;
    }
    let bytes = word.as_bytes();
    let is_plain = bytes.iter().all(u8::is_ascii_lowercase);
    if is_plain {
        return;
    }
    let borders: Vec<usize> = (1..bytes.len())
        .filter(|at| is_border(bytes, *at))
        .collect();
    let is_one_name = borders.len() == 1
        && bytes[0].is_ascii_uppercase()
        && bytes[borders[0]].is_ascii_uppercase();
    if borders.is_empty() || is_one_name {
        return;
    }
    let starts = [0].into_iter().chain(borders.iter().copied());
    let ends = borders.iter().copied().chain([bytes.len()]);
    for (from, to) in starts.zip(ends).filter(|(from, to)| to - from > 1) {
        take(&word[from..to], start + from..start + to);
    }
}

/// Returns whether a part of an identifier begins at a place.
fn is_border(word: &[u8], at: usize) -> bool {
    let (before, here) = (word[at - 1], word[at]);
    let is_last_capital = word.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    before.is_ascii_lowercase() && here.is_ascii_uppercase()
        || before.is_ascii_uppercase() && here.is_ascii_uppercase() && is_last_capital
        || before.is_ascii_digit() != here.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, |word, place| {
            assert_eq!(word, &text[place]);
            found.push(word.to_owned());
        });
        found
    }

    #[test]
    fn identifiers_are_taken_apart_and_names_are_not() {
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
    fn scripts_without_spaces_are_taken_by_pairs() {
        assert_eq!(words("表格 处理PDF文件"), ["表格", "处理", "PDF", "文件"]);
        assert_eq!(words("日本語で"), ["日本", "本語", "語で"]);
        assert_eq!(words("码"), ["码"]);
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        let mut terms = Terms::new();
        let mut term = |word: &str| terms.term(word);
        assert_eq!(term("Invoices"), term("invoice"));
        assert_eq!(term("résumé"), term("RESUME"));
        assert_eq!(term("ＰＤＦ"), term("pdf"));
        assert_eq!(term("ΟΔΟΣ"), term("οδός"));
        assert_ne!(term("c++"), term("c#"));
        assert_eq!(term("The"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_words_at_places_in_it(text in "\\PC{0,60}") {
            words(&text);
        }
    }
}
