//! The regular expressions of all skills, in sets.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::choose::message::Looked;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};

/// Patterns of one set: what is compiled together grows with all of it.
const SET: usize = 200;
/// Bytes that a compiled pattern may take; all of a set may take so many times that.
const PATTERN_BYTES: usize = 1 << 17;
/// Patterns of one skill that are used.
pub(super) const OF_A_SKILL: usize = 50;
/// Bytes of a message that patterns look at: a hostile pattern takes time by its size for each.
const WINDOW: usize = 8 * 1024;
/// Nesting of groups.
const NESTING: u32 = 50;

/// Regular expressions and whose they are.
pub(super) struct Patterns {
    sets: Vec<(RegexSet, Vec<Owner>)>,
}

/// Whose a pattern is.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) slot: u32,
    /// Which of the skill's triggers it is.
    pub(super) trigger: u32,
}

impl Patterns {
    /// Compiles the patterns of all skills; what is no pattern, or too large, is reported and left out.
    pub(super) fn new(all: &[(Owner, &str)], mut report: impl FnMut(u32, Diagnostic)) -> Self {
        let mut good: Vec<(Owner, &str)> = Vec::new();
        let mut of_this = (u32::MAX, 0);
        for (owner, pattern) in all {
            of_this = match of_this {
                (slot, count) if slot == owner.slot => (slot, count + 1),
                _ => (owner.slot, 1),
            };
            if of_this.1 > OF_A_SKILL {
                let message = format!("Pattern {} is one too many", quoted(pattern));
                if of_this.1 == OF_A_SKILL + 1 {
                    report(
                        owner.slot,
                        Diagnostic::new(Code::TriggerPattern, None, message),
                    );
                }
                continue;
            }
            match compiled(pattern) {
                Ok(_) => good.push((*owner, pattern)),
                Err(error) => {
                    let why = error.to_string();
                    let why = why.lines().last().unwrap_or_default().trim();
                    let message = format!("Pattern {} cannot be used: {why}", quoted(pattern));
                    report(
                        owner.slot,
                        Diagnostic::new(Code::TriggerPattern, None, message),
                    );
                }
            }
        }
        let mut sets = Vec::new();
        for owners in good.chunks(SET) {
            add(owners, &mut sets);
        }
        Self { sets }
    }

    /// Returns whose patterns are used.
    pub(super) fn owners(&self) -> impl Iterator<Item = Owner> {
        let sets = self.sets.iter();
        sets.flat_map(|(_, owners)| owners.iter().copied())
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Calls `found` with each pattern that matches. None matches over what is passed over.
    pub(super) fn find(&self, message: &Looked<'_>, mut found: impl FnMut(Owner)) {
        let looked = window(message);
        for half in looked.halves() {
            for (set, owners) in &self.sets {
                for at in set.matches(half) {
                    found(owners[at]);
                }
            }
        }
    }
}

/// Returns what patterns look at of a message.
pub(super) fn window<'a>(message: &Looked<'a>) -> Looked<'a> {
    message.shorter(WINDOW)
}

/// Adds a set of patterns, or two halves of it where the whole is too large.
fn add(owners: &[(Owner, &str)], sets: &mut Vec<(RegexSet, Vec<Owner>)>) {
    let patterns = owners.iter().map(|(_, pattern)| quick(pattern));
    let set = RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .nest_limit(NESTING)
        .size_limit(8 * PATTERN_BYTES)
        .dfa_size_limit(8 * PATTERN_BYTES)
        .build();
    match set {
        Ok(set) => sets.push((set, owners.iter().map(|(owner, _)| *owner).collect())),
        Err(_) if owners.len() > 1 => {
            let (first, second) = owners.split_at(owners.len() / 2);
            add(first, sets);
            add(second, sets);
        }
        // One alone was compiled before.
        Err(_) => {}
    }
}

/// Compiles one pattern within its limits.
pub(super) fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&quick(pattern))
        .case_insensitive(true)
        .nest_limit(NESTING)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build()
}

/// Returns a pattern of ASCII with edges of words (`\b`) that are those of ASCII. Those of Unicode make a pattern many times
/// slower in a message that has one other character, and mean the same to a word of ASCII but for what it stands beside.
fn quick(pattern: &str) -> Cow<'_, str> {
    if !pattern.is_ascii() || !pattern.contains("\\b") {
        return Cow::Borrowed(pattern);
    }
    let mut quick = String::with_capacity(pattern.len() + 32);
    let mut rest = pattern;
    while let Some(at) = rest.find('\\') {
        let escaped = &rest[at + 1..];
        let end = at + 1 + escaped.chars().next().map_or(0, char::len_utf8);
        quick.push_str(&rest[..at]);
        // `\b{start}` is another thing.
        if escaped.starts_with('b') && !escaped.starts_with("b{") {
            quick.push_str(r"(?-u:\b)");
        } else {
            quick.push_str(&rest[at..end]);
        }
        rest = &rest[end..];
    }
    quick.push_str(rest);
    Cow::Owned(quick)
}

#[cfg(test)]
mod tests {
    use super::{compiled, quick};

    #[test]
    fn edges_of_ascii_words_are_those_of_ascii() {
        assert_eq!(quick(r"\bpdf\b"), r"(?-u:\b)pdf(?-u:\b)");
        for kept in [r"\\b", r"\bä\b", r"\b{start}x", r"x\", "pdf", r"\d+"] {
            assert_eq!(quick(kept), kept);
        }
        let order = compiled(r"\border\s+#\d+\b").unwrap();
        assert!(order.is_match("Où est ORDER #12 ?"));
    }
}
