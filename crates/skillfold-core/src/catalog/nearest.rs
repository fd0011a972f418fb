//! What a person or a model may have meant.

use crate::catalog::key::canonical;
use crate::catalog::snapshot::Catalog;
use crate::name::SkillName;

/// Likeness, from 0 to 1, below which a word was not meant.
const ALIKE: f64 = 0.75;

/// Bytes of a word that is compared; what is longer than any name was not meant to be one.
const LONGEST: usize = SkillName::MAX_BYTES;

/// Pairs of characters that one look for what was meant compares at most: a few hundredths of a second. Likely candidates
/// alone count; among more of them than that, the first ones are compared.
const PAIRS: usize = 8_000_000;

/// Returns the candidates that are most like a word, the nearest first, at most `limit`. It takes a bounded time: a word that
/// is longer than any name is like none, and among very many candidates that could be meant only the first are compared.
///
/// ```
/// use skillfold_core::nearest;
///
/// assert_eq!(nearest("precedense", ["links", "precedence"], 1), ["precedence"]);
/// assert!(nearest("zebra", ["links", "precedence"], 1).is_empty());
/// ```
pub fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    if word.len() > LONGEST {
        return Vec::new();
    }
    let word = Word::new(&canonical(word));
    let mut pairs = 0;
    let mut alike: Vec<(f64, &str)> = Vec::new();
    for candidate in candidates {
        let likeness = word.likeness(&canonical(candidate), &mut pairs);
        if likeness >= ALIKE {
            alike.push((likeness, candidate));
        }
        if pairs > PAIRS {
            break;
        }
    }
    alike.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    alike.truncate(limit);
    alike.into_iter().map(|(_, candidate)| candidate).collect()
}

/// A word that was asked for: whole, and without a scope before it.
struct Word {
    whole: Letters,
    tail: Letters,
}

/// A text, and how often each byte is in it.
struct Letters {
    text: String,
    characters: usize,
    bytes: [u16; 256],
}

impl Word {
    fn new(text: &str) -> Self {
        Self {
            whole: Letters::new(text),
            tail: Letters::new(tail(text)),
        }
    }

    /// Returns how alike a candidate is. What was meant may be only a part of the word, or qualified by another scope.
    fn likeness(&self, candidate: &str, pairs: &mut usize) -> f64 {
        let word = &*self.whole.text;
        let is_part = word.len() > 2
            && candidate.len() > 2
            && (candidate.contains(word) || word.contains(candidate));
        self.whole
            .likeness(candidate, pairs)
            .max(0.95 * self.tail.likeness(tail(candidate), pairs))
            .max(if is_part { 0.85 } else { 0.0 })
    }
}

/// Returns an id without what qualifies it.
fn tail(text: &str) -> &str {
    text.rsplit(':').next().unwrap_or(text)
}

impl Letters {
    fn new(text: &str) -> Self {
        let mut bytes = [0; 256];
        for byte in text.bytes() {
            bytes[usize::from(byte)] += 1;
        }
        Self {
            text: text.to_owned(),
            characters: text.chars().count(),
            bytes,
        }
    }

    /// Returns how alike two words are by their letters; a slip of the fingers in a short word is one too. Words that cannot
    /// be alike are not compared.
    fn likeness(&self, candidate: &str, pairs: &mut usize) -> f64 {
        let characters = candidate.chars().count();
        let slips = (self.characters / 4).max(1);
        let may_slip = self.text.len() > 1 && self.characters.abs_diff(characters) <= slips;
        if !may_slip && self.most(candidate) < ALIKE {
            return 0.0;
        }
        *pairs += self.characters * characters;
        let likeness = strsim::jaro_winkler(&self.text, candidate);
        let is_slip = may_slip && strsim::osa_distance(&self.text, candidate) <= slips;
        if is_slip { likeness.max(0.9) } else { likeness }
    }

    /// Returns how alike two words are at most, by the letters that they share and by their starts.
    fn most(&self, candidate: &str) -> f64 {
        // Bytes tell of characters where each is one.
        if !self.text.is_ascii() || !candidate.is_ascii() {
            return 1.0;
        }
        let mut left = self.bytes;
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
        let (shared, start) = (f64::from(small(shared)), f64::from(small(start)));
        let part = |bytes: usize| (shared / f64::from(small(bytes.max(1)))).min(1.0);
        let jaro = (part(self.text.len()) + part(candidate.len()) + 1.0) / 3.0;
        jaro + 0.1 * start * (1.0 - jaro)
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Catalog {
    /// Returns the ids that are most like a word, the nearest first, at most `limit`. Looks at all skills: it is for the
    /// answer to what was not found.
    pub fn nearest(&self, word: &str, limit: usize) -> Vec<&str> {
        nearest(word, self.entries().map(|entry| entry.id()), limit)
    }
}
