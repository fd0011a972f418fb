//! What a person or a model may have meant.

use crate::catalog::key::canonical;
use crate::catalog::snapshot::Catalog;
use crate::name::SkillName;

/// Likeness, from 0 to 1, below which a word was not meant.
const ALIKE: f64 = 0.75;

/// Returns the candidates that are most like a word, the nearest first, at most `limit`.
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
    // What is longer than any name was not meant to be one; comparing takes time by both lengths.
    if word.len() > 2 * SkillName::MAX_BYTES {
        return Vec::new();
    }
    let word = canonical(word);
    let mut alike: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (likeness(&word, &canonical(candidate)), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    alike.truncate(limit);
    alike.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns how alike two words are. What was meant may be only a part of the word, or qualified by another scope.
fn likeness(word: &str, candidate: &str) -> f64 {
    let tail = |text: &str| text.rfind(':').map_or(0, |colon| colon + 1);
    let by_tail = 0.95 * by_letters(&word[tail(word)..], &candidate[tail(candidate)..]);
    let is_part = word.len() > 2
        && candidate.len() > 2
        && (candidate.contains(word) || word.contains(candidate));
    by_letters(word, candidate)
        .max(by_tail)
        .max(if is_part { 0.85 } else { 0.0 })
}

/// Returns how alike two words are by their letters; a slip of the fingers in a short word is one too.
fn by_letters(word: &str, candidate: &str) -> f64 {
    let slips = strsim::osa_distance(word, candidate);
    let is_slip = slips <= (word.chars().count() / 4).max(1) && word.len() > 1;
    let likeness = strsim::jaro_winkler(word, candidate);
    if is_slip { likeness.max(0.9) } else { likeness }
}

impl Catalog {
    /// Returns the ids that are most like a word, the nearest first, at most `limit`. Looks at all skills: it is for the
    /// answer to what was not found.
    pub fn nearest(&self, word: &str, limit: usize) -> Vec<&str> {
        nearest(word, self.entries().map(|entry| entry.id()), limit)
    }
}
