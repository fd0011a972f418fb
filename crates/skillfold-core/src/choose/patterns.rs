//! The regular expressions of all skills, in sets.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};

/// Patterns of one set: what is compiled together grows with all of it.
const SET: usize = 200;
/// Bytes that a compiled pattern may take; all of a set may take so many times that.
const PATTERN_BYTES: usize = 1 << 20;
/// Nesting of groups.
const NESTING: u32 = 50;

/// Regular expressions and whose they are.
pub(super) struct Patterns {
    sets: Vec<(RegexSet, Vec<Owner>)>,
}

/// A pattern of a skill.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) slot: u32,
    pub(super) pattern: Box<str>,
}

impl Patterns {
    /// Compiles the patterns of all skills; what is no pattern, or too large, is reported and left out.
    pub(super) fn new(
        all: impl Iterator<Item = Owner>,
        mut report: impl FnMut(u32, Diagnostic),
    ) -> Self {
        let mut good: Vec<Owner> = Vec::new();
        for owner in all {
            match compiled(&owner.pattern) {
                Ok(_) => good.push(owner),
                Err(error) => {
                    let why = error.to_string();
                    let why = why.lines().last().unwrap_or_default().trim();
                    let message =
                        format!("Pattern {} cannot be used: {why}", quoted(&owner.pattern));
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

    /// Calls `found` with each pattern that matches.
    pub(super) fn find<'p>(&'p self, message: &str, mut found: impl FnMut(&'p Owner)) {
        for (set, owners) in &self.sets {
            for at in set.matches(message) {
                found(&owners[at]);
            }
        }
    }
}

/// Adds a set of patterns, or two halves of it where the whole is too large.
fn add(owners: &[Owner], sets: &mut Vec<(RegexSet, Vec<Owner>)>) {
    let patterns = owners.iter().map(|owner| &*owner.pattern);
    let set = RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .nest_limit(NESTING)
        .size_limit(8 * PATTERN_BYTES)
        .dfa_size_limit(8 * PATTERN_BYTES)
        .build();
    match set {
        Ok(set) => sets.push((set, owners.to_vec())),
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
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .nest_limit(NESTING)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build()
}
