//! The triggers of one skill.

use crate::read::manifest::{Manifest, Triggers};

/// A trigger of a skill.
#[derive(Clone, Copy)]
pub(crate) enum Trigger<'a> {
    /// Text that may match inside a word.
    Part(&'a str),
    /// Text that matches whole words.
    Word(&'a str),
    /// A regular expression.
    Pattern(&'a str),
}

/// Returns the triggers of a skill. Positions in this iterator identify them.
pub(crate) fn triggers(manifest: &Manifest) -> impl Iterator<Item = Trigger<'_>> {
    let none: &[Box<str>] = &[];
    let (parts, words, patterns) = match manifest.triggers() {
        None => (none, [none; 2], none),
        Some(Triggers::Flat(texts)) => (&**texts, [none; 2], none),
        Some(Triggers::Structured {
            keywords,
            verbs,
            patterns,
        }) => (none, [&**keywords, &**verbs], &**patterns),
    };
    let parts = parts.iter().map(|text| Trigger::Part(text));
    let words = words.into_iter().flatten().map(|text| Trigger::Word(text));
    let patterns = patterns.iter().map(|text| Trigger::Pattern(text));
    parts.chain(words).chain(patterns)
}

/// Returns the text of the trigger at an index of [`triggers`].
pub(crate) fn trigger_text(manifest: &Manifest, index: u32) -> Option<&str> {
    match triggers(manifest).nth(index as usize)? {
        Trigger::Part(text) | Trigger::Word(text) | Trigger::Pattern(text) => Some(text),
    }
}
