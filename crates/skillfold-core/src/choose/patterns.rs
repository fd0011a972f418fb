//! The regular expressions of all skills, in sets.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::hir::{Hir, HirKind};

use crate::choose::message::Excerpt;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};

/// Patterns of one set: what is compiled together grows with all of it.
const SET: usize = 200;
/// Bytes that a compiled pattern may take; all of a set may take so many times that.
const PATTERN_BYTES: usize = 1 << 17;
/// Steps that a pattern may have when its repetitions are written out: each may be taken for each byte of a message.
const PATTERN_STEPS: usize = 300;
/// Steps that all patterns of a skill may have together.
const SKILL_STEPS: usize = 1_000;
/// Patterns of one skill that are used.
pub(super) const OF_A_SKILL: usize = 50;
/// Bytes of a message that patterns look at: a hostile pattern takes time by its size for each.
const WINDOW: usize = 8 * 1024;
/// Nesting of groups.
const NESTING: u32 = 50;

/// Regular expressions and whose they are.
pub(super) struct Patterns {
    sets: Vec<(RegexSet, Vec<PatternOwner>)>,
}

/// Whose a pattern is.
#[derive(Clone, Copy)]
pub(super) struct PatternOwner {
    pub(super) slot: u32,
    /// Which of the skill's triggers it is.
    pub(super) trigger: u32,
}

impl Patterns {
    /// Compiles the patterns of all skills; what is no pattern, or too large, is reported and left out.
    pub(super) fn new(
        all: &[(PatternOwner, &str)],
        mut report: impl FnMut(u32, Diagnostic),
    ) -> Self {
        let mut good: Vec<(PatternOwner, &str)> = Vec::new();
        let mut of_this = (u32::MAX, 0);
        let mut steps_of_this = 0;
        for (owner, pattern) in all {
            of_this = match of_this {
                (slot, count) if slot == owner.slot => (slot, count + 1),
                _ => {
                    steps_of_this = 0;
                    (owner.slot, 1)
                }
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
            let used = compiled(pattern).and_then(|_| {
                let together = steps_of_this + steps(pattern)?;
                within(together, SKILL_STEPS)?;
                steps_of_this = together;
                Ok(())
            });
            match used {
                Ok(()) => good.push((*owner, pattern)),
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
    pub(super) fn owners(&self) -> impl Iterator<Item = PatternOwner> {
        let sets = self.sets.iter();
        sets.flat_map(|(_, owners)| owners.iter().copied())
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Calls `found` with each pattern that matches. None matches over what is passed over.
    pub(super) fn find(&self, message: &Excerpt<'_>, mut found: impl FnMut(PatternOwner)) {
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
pub(super) fn window<'a>(message: &Excerpt<'a>) -> Excerpt<'a> {
    message.shorter(WINDOW)
}

/// Adds a set of patterns, or two halves of it where the whole is too large.
fn add(owners: &[(PatternOwner, &str)], sets: &mut Vec<(RegexSet, Vec<PatternOwner>)>) {
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
    within(steps(pattern)?, PATTERN_STEPS)?;
    RegexBuilder::new(&quick(pattern))
        .case_insensitive(true)
        .nest_limit(NESTING)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build()
}

fn within(steps: usize, limit: usize) -> Result<(), regex::Error> {
    if steps <= limit {
        return Ok(());
    }
    let why = if limit == PATTERN_STEPS {
        "it is too large"
    } else {
        "the patterns of the skill are too large together"
    };
    let why = format!("{why}: {steps} steps with repetitions written out, of at most {limit}");
    Err(regex::Error::Syntax(why))
}

/// Returns how many steps a pattern has when its repetitions are written out.
fn steps(pattern: &str) -> Result<usize, regex::Error> {
    let parsed = regex_syntax::ParserBuilder::new()
        .case_insensitive(true)
        .nest_limit(NESTING)
        .utf8(true)
        .build()
        .parse(&quick(pattern));
    let parsed = parsed.map_err(|error| regex::Error::Syntax(error.to_string()))?;
    Ok(steps_of(&parsed))
}

fn steps_of(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            times.saturating_mul(steps_of(&repetition.sub)).max(times)
        }
        HirKind::Capture(capture) => steps_of(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(steps_of(part))),
    }
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
    use super::{
        OF_A_SKILL, PATTERN_STEPS, PatternOwner, Patterns, SKILL_STEPS, compiled, quick, steps,
    };
    use crate::codes::Code;

    #[test]
    fn edges_of_ascii_words_are_those_of_ascii() {
        assert_eq!(quick(r"\bpdf\b"), r"(?-u:\b)pdf(?-u:\b)");
        for kept in [r"\\b", r"\bä\b", r"\b{start}x", r"x\", "pdf", r"\d+"] {
            assert_eq!(quick(kept), kept);
        }
        let order = compiled(r"\border\s+#\d+\b").unwrap();
        assert!(order.is_match("Où est ORDER #12 ?"));
    }

    fn refused(patterns: &[&str]) -> (usize, Vec<String>) {
        let owner = PatternOwner {
            slot: 0,
            trigger: 0,
        };
        let all: Vec<_> = patterns.iter().map(|pattern| (owner, *pattern)).collect();
        let mut said = Vec::new();
        let used = Patterns::new(&all, |_, finding| {
            assert_eq!(finding.code, Code::TriggerPattern);
            said.push(finding.message.to_string());
        });
        (used.owners().count(), said)
    }

    #[test]
    fn pattern_that_takes_long_for_each_byte_is_refused_and_reported() {
        let (used, said) = refused(&["(?-u)[a-m][a-z]{900}q1"; 50]);
        assert_eq!((used, said.len()), (0, 50));
        insta::assert_snapshot!(said[0], @"Pattern `(?-u)[a-m][a-z]{900}q1` cannot be used: it is too large: 903 steps with repetitions written out, of at most 300");
        // Nested repetitions are as large as they are written out.
        assert!(steps("(?:(?:a{30}){30}){30}").unwrap() > PATTERN_STEPS);
        assert!(compiled("(?:(?:a{30}){30}){30}").is_err());
    }

    #[test]
    fn patterns_of_one_skill_are_bounded_together() {
        let large = ["(?-u)[a-m][a-z]{290}q1"; OF_A_SKILL];
        let (used, said) = refused(&large);
        assert_eq!(used, SKILL_STEPS / steps(large[0]).unwrap());
        assert_eq!(said.len(), OF_A_SKILL - used);
        insta::assert_snapshot!(said[0], @"Pattern `(?-u)[a-m][a-z]{290}q1` cannot be used: the patterns of the skill are too large together: 1172 steps with repetitions written out, of at most 1000");
        // The usual ones are far below.
        let usual = [r"\b(create|make) (a |an )?(new )?(excel|spreadsheet)\b.{0,40}\w+"; 10];
        assert_eq!(refused(&usual).0, 10);
    }
}
