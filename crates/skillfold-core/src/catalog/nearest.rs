//! Suggests the ids that are most similar to an unknown one.

use crate::catalog::canonical::canonical;
use crate::catalog::snapshot::Catalog;
use crate::name::SkillName;
use crate::read::frontmatter::saturating_u32;

/// Minimum similarity, from 0 to 1, for a suggestion.
const MIN_SIMILARITY: f64 = 0.75;

/// Maximum length of a word to compare; a longer one cannot be a misspelled name.
const MAX_WORD_BYTES: usize = SkillName::MAX_BYTES;

/// Maximum character pairs compared per call, which takes a few hundredths of a second. Only candidates that pass the
/// cheap pre-check count; once the limit is reached, the remaining candidates are ignored.
const MAX_PAIRS: usize = 8_000_000;

/// Returns at most `limit` candidates that are most similar to a word, nearest first.
///
/// Takes bounded time: a word longer than any name has no matches, and of very many plausible candidates only the first
/// are compared.
///
/// ```
/// use skillfold_core::catalog::nearest;
///
/// assert_eq!(nearest("precedense", ["links", "precedence"], 1), ["precedence"]);
/// assert!(nearest("zebra", ["links", "precedence"], 1).is_empty());
/// ```
pub fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    if word.len() > MAX_WORD_BYTES {
        return Vec::new();
    }
    let word = WantedWord::new(&canonical(word));
    let mut pairs = 0;
    let mut similar: Vec<(f64, &str)> = Vec::new();
    for candidate in candidates {
        let similarity = word.similarity(&canonical(candidate), &mut pairs);
        if similarity >= MIN_SIMILARITY {
            similar.push((similarity, candidate));
        }
        if pairs > MAX_PAIRS {
            break;
        }
    }
    similar.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    similar.truncate(limit);
    similar
        .into_iter()
        .map(|(_, candidate)| candidate)
        .collect()
}

/// The word to match: as given, and without its qualifier.
struct WantedWord {
    whole: CountedText,
    unqualified: CountedText,
}

/// A text and how often each byte occurs in it.
struct CountedText {
    text: String,
    characters: usize,
    byte_counts: [u16; 256],
}

impl WantedWord {
    fn new(text: &str) -> Self {
        Self {
            whole: CountedText::new(text),
            unqualified: CountedText::new(unqualified(text)),
        }
    }

    /// Returns the similarity to a candidate. One may contain the other, or be qualified by another scope.
    fn similarity(&self, candidate: &str, pairs: &mut usize) -> f64 {
        let word = &*self.whole.text;
        let is_part = word.len() > 2
            && candidate.len() > 2
            && (candidate.contains(word) || word.contains(candidate));
        self.whole
            .similarity(candidate, pairs)
            .max(0.95 * self.unqualified.similarity(unqualified(candidate), pairs))
            .max(if is_part { 0.85 } else { 0.0 })
    }
}

/// Returns an id without its qualifier.
fn unqualified(text: &str) -> &str {
    text.rsplit(':').next().unwrap_or(text)
}

impl CountedText {
    fn new(text: &str) -> Self {
        let mut byte_counts = [0; 256];
        for byte in text.bytes() {
            byte_counts[usize::from(byte)] += 1;
        }
        Self {
            text: text.to_owned(),
            characters: text.chars().count(),
            byte_counts,
        }
    }

    /// Returns the Jaro-Winkler similarity, raised to 0.9 for a few typos (one in a short word). Candidates that cannot
    /// reach the threshold are not compared and return 0.
    fn similarity(&self, candidate: &str, pairs: &mut usize) -> f64 {
        let characters = candidate.chars().count();
        let max_typos = (self.characters / 4).max(1);
        let may_be_typo = self.text.len() > 1 && self.characters.abs_diff(characters) <= max_typos;
        if !may_be_typo && self.max_similarity(candidate) < MIN_SIMILARITY {
            return 0.0;
        }
        *pairs += self.characters * characters;
        let similarity = strsim::jaro_winkler(&self.text, candidate);
        let is_typo = may_be_typo && strsim::osa_distance(&self.text, candidate) <= max_typos;
        if is_typo {
            similarity.max(0.9)
        } else {
            similarity
        }
    }

    /// Returns an upper bound of the Jaro-Winkler similarity, from the shared letters and the common prefix.
    fn max_similarity(&self, candidate: &str) -> f64 {
        // Bytes are characters only in ASCII.
        if !self.text.is_ascii() || !candidate.is_ascii() {
            return 1.0;
        }
        let mut left = self.byte_counts;
        let shared = candidate
            .bytes()
            .filter(|byte| {
                let left = &mut left[usize::from(*byte)];
                let is_shared = *left > 0;
                *left = left.saturating_sub(1);
                is_shared
            })
            .count();
        let start = self.text.bytes().zip(candidate.bytes());
        let start = start.take(4).take_while(|(a, b)| a == b).count();
        let (shared, start) = (
            f64::from(saturating_u32(shared)),
            f64::from(saturating_u32(start)),
        );
        let part = |bytes: usize| (shared / f64::from(saturating_u32(bytes.max(1)))).min(1.0);
        let jaro = (part(self.text.len()) + part(candidate.len()) + 1.0) / 3.0;
        jaro + 0.1 * start * (1.0 - jaro)
    }
}

impl Catalog {
    /// Returns at most `limit` ids that are most similar to a word, nearest first. Compares all skills, so use it only
    /// after a failed lookup.
    pub fn nearest(&self, word: &str, limit: usize) -> Vec<&str> {
        nearest(word, self.entries().map(|entry| entry.id()), limit)
    }
}
