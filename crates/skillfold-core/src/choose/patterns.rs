//! The regular expressions of all skills, compiled into sets.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::hir::{Hir, HirKind};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::excerpt::Excerpt;

/// Maximum patterns per set, since the compiled size grows with the whole set.
const PATTERNS_PER_SET: usize = 200;
/// Maximum compiled size of a pattern; a set may take eight times that.
const MAX_PATTERN_BYTES: usize = 1 << 17;
/// Maximum steps of a pattern with its repetitions expanded: each step may run for each byte of a message.
const MAX_PATTERN_STEPS: usize = 300;
/// Maximum steps of all patterns of a skill together.
const MAX_SKILL_STEPS: usize = 1_000;
/// Maximum patterns used per skill.
pub(super) const MAX_SKILL_PATTERNS: usize = 50;
/// Bytes of a message that patterns search. A hostile pattern costs time proportional to its size for each byte.
const WINDOW_BYTES: usize = 8 * 1024;
/// Maximum nesting of groups.
const MAX_NESTING: u32 = 50;

/// Regular expressions and the skills they belong to.
pub(super) struct Patterns {
    sets: Vec<(RegexSet, Vec<PatternOwner>)>,
}

/// The skill and trigger a pattern belongs to.
#[derive(Clone, Copy)]
pub(super) struct PatternOwner {
    pub(super) slot: u32,
    /// Index of the trigger in the skill.
    pub(super) trigger: u32,
}

impl Patterns {
    /// Compiles the patterns of all skills. Invalid or too large ones are reported and left out. Patterns of one skill
    /// are adjacent.
    pub(super) fn new(
        all: &[(PatternOwner, &str)],
        mut report: impl FnMut(u32, Diagnostic),
    ) -> Self {
        let mut usable: Vec<(PatternOwner, &str)> = Vec::new();
        // The current skill's slot and number of patterns.
        let mut current = (u32::MAX, 0);
        let mut skill_steps = 0;
        for (owner, pattern) in all {
            current = match current {
                (slot, count) if slot == owner.slot => (slot, count + 1),
                _ => {
                    skill_steps = 0;
                    (owner.slot, 1)
                }
            };
            if current.1 > MAX_SKILL_PATTERNS {
                let message = format!("Pattern {} exceeds the limit", quoted(pattern));
                if current.1 == MAX_SKILL_PATTERNS + 1 {
                    report(
                        owner.slot,
                        Diagnostic::new(Code::TriggerPattern, None, message),
                    );
                }
                continue;
            }
            let result = compile_pattern(pattern).and_then(|_| {
                let total = skill_steps + count_steps(pattern)?;
                check_steps(total, MAX_SKILL_STEPS)?;
                skill_steps = total;
                Ok(())
            });
            match result {
                Ok(()) => usable.push((*owner, pattern)),
                Err(error) => {
                    let cause = error.to_string();
                    let cause = cause.lines().last().unwrap_or_default().trim();
                    let message = format!("Pattern {} cannot be used: {cause}", quoted(pattern));
                    report(
                        owner.slot,
                        Diagnostic::new(Code::TriggerPattern, None, message),
                    );
                }
            }
        }
        let mut sets = Vec::new();
        for owners in usable.chunks(PATTERNS_PER_SET) {
            add_set(owners, &mut sets);
        }
        Self { sets }
    }

    /// Returns the owners of all usable patterns.
    pub(super) fn owners(&self) -> impl Iterator<Item = PatternOwner> {
        let sets = self.sets.iter();
        sets.flat_map(|(_, owners)| owners.iter().copied())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Calls `on_match` for each pattern that matches. No match spans the omitted middle of a message.
    pub(super) fn find(&self, message: &Excerpt<'_>, mut on_match: impl FnMut(PatternOwner)) {
        let excerpt = pattern_window(message);
        for part in excerpt.parts() {
            for (set, owners) in &self.sets {
                for index in set.matches(part) {
                    on_match(owners[index]);
                }
            }
        }
    }
}

/// Returns the part of a message that patterns search.
pub(super) fn pattern_window<'a>(message: &Excerpt<'a>) -> Excerpt<'a> {
    message.shorten(WINDOW_BYTES)
}

/// Compiles patterns into one set, or into halves if that is too large.
fn add_set(owners: &[(PatternOwner, &str)], sets: &mut Vec<(RegexSet, Vec<PatternOwner>)>) {
    let patterns = owners
        .iter()
        .map(|(_, pattern)| use_ascii_boundaries(pattern));
    let set = RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .nest_limit(MAX_NESTING)
        .size_limit(8 * MAX_PATTERN_BYTES)
        .dfa_size_limit(8 * MAX_PATTERN_BYTES)
        .build();
    match set {
        Ok(set) => sets.push((set, owners.iter().map(|(owner, _)| *owner).collect())),
        Err(_) if owners.len() > 1 => {
            let (first, second) = owners.split_at(owners.len() / 2);
            add_set(first, sets);
            add_set(second, sets);
        }
        // Cannot happen: each pattern has been compiled alone.
        Err(_) => {}
    }
}

/// Compiles one pattern within the limits.
pub(super) fn compile_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    check_steps(count_steps(pattern)?, MAX_PATTERN_STEPS)?;
    RegexBuilder::new(&use_ascii_boundaries(pattern))
        .case_insensitive(true)
        .nest_limit(MAX_NESTING)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .build()
}

/// Fails if there are more steps than `limit`.
fn check_steps(steps: usize, limit: usize) -> Result<(), regex::Error> {
    if steps <= limit {
        return Ok(());
    }
    let why = if limit == MAX_PATTERN_STEPS {
        "it is too large"
    } else {
        "the skill's patterns are too large together"
    };
    let why = format!("{why}: {steps} steps with repetitions written out, of at most {limit}");
    Err(regex::Error::Syntax(why))
}

/// Returns the number of steps of a pattern with its repetitions expanded.
fn count_steps(pattern: &str) -> Result<usize, regex::Error> {
    let parsed = regex_syntax::ParserBuilder::new()
        .case_insensitive(true)
        .nest_limit(MAX_NESTING)
        .utf8(true)
        .build()
        .parse(&use_ascii_boundaries(pattern));
    let parsed = parsed.map_err(|error| regex::Error::Syntax(error.to_string()))?;
    Ok(count_hir_steps(&parsed))
}

fn count_hir_steps(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            times
                .saturating_mul(count_hir_steps(&repetition.sub))
                .max(times)
        }
        HirKind::Capture(capture) => count_hir_steps(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(count_hir_steps(part))),
    }
}

/// Replaces the Unicode word boundaries (`\b`) of an ASCII pattern with ASCII ones. A single non-ASCII character in a
/// message makes Unicode boundaries many times slower, and for an ASCII word they differ only next to a non-ASCII
/// letter.
fn use_ascii_boundaries(pattern: &str) -> Cow<'_, str> {
    if !pattern.is_ascii() || !pattern.contains("\\b") {
        return Cow::Borrowed(pattern);
    }
    let mut replaced = String::with_capacity(pattern.len() + 32);
    let mut rest = pattern;
    while let Some(backslash) = rest.find('\\') {
        let escaped = &rest[backslash + 1..];
        let end = backslash + 1 + escaped.chars().next().map_or(0, char::len_utf8);
        replaced.push_str(&rest[..backslash]);
        // `\b{start}` and the like are different assertions.
        if escaped.starts_with('b') && !escaped.starts_with("b{") {
            replaced.push_str(r"(?-u:\b)");
        } else {
            replaced.push_str(&rest[backslash..end]);
        }
        rest = &rest[end..];
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

#[cfg(test)]
mod tests {
    use super::{
        MAX_PATTERN_STEPS, MAX_SKILL_PATTERNS, MAX_SKILL_STEPS, PatternOwner, Patterns,
        compile_pattern, count_steps, use_ascii_boundaries,
    };
    use crate::codes::Code;

    #[test]
    fn ascii_patterns_use_ascii_word_boundaries() {
        assert_eq!(use_ascii_boundaries(r"\bpdf\b"), r"(?-u:\b)pdf(?-u:\b)");
        for unchanged in [r"\\b", r"\bä\b", r"\b{start}x", r"x\", "pdf", r"\d+"] {
            assert_eq!(use_ascii_boundaries(unchanged), unchanged);
        }
        let order = compile_pattern(r"\border\s+#\d+\b").unwrap();
        assert!(order.is_match("Où est ORDER #12 ?"));
    }

    fn compile_all(patterns: &[&str]) -> (usize, Vec<String>) {
        let owner = PatternOwner {
            slot: 0,
            trigger: 0,
        };
        let inputs: Vec<_> = patterns.iter().map(|pattern| (owner, *pattern)).collect();
        let mut messages = Vec::new();
        let compiled = Patterns::new(&inputs, |_, finding| {
            assert_eq!(finding.code, Code::TriggerPattern);
            messages.push(finding.message.to_string());
        });
        (compiled.owners().count(), messages)
    }

    #[test]
    fn oversized_pattern_is_refused_and_reported() {
        let (used, messages) = compile_all(&["(?-u)[a-m][a-z]{900}q1"; 50]);
        assert_eq!((used, messages.len()), (0, 50));
        insta::assert_snapshot!(messages[0], @"Pattern `(?-u)[a-m][a-z]{900}q1` cannot be used: it is too large: 903 steps with repetitions written out, of at most 300");
        // Nested repetitions multiply.
        assert!(count_steps("(?:(?:a{30}){30}){30}").unwrap() > MAX_PATTERN_STEPS);
        assert!(compile_pattern("(?:(?:a{30}){30}){30}").is_err());
    }

    #[test]
    fn patterns_of_one_skill_share_a_size_limit() {
        let large = ["(?-u)[a-m][a-z]{290}q1"; MAX_SKILL_PATTERNS];
        let (used, messages) = compile_all(&large);
        assert_eq!(used, MAX_SKILL_STEPS / count_steps(large[0]).unwrap());
        assert_eq!(messages.len(), MAX_SKILL_PATTERNS - used);
        insta::assert_snapshot!(messages[0], @"Pattern `(?-u)[a-m][a-z]{290}q1` cannot be used: the skill's patterns are too large together: 1172 steps with repetitions written out, of at most 1000");
        // Ordinary patterns are far below the limit.
        let usual = [r"\b(create|make) (a |an )?(new )?(excel|spreadsheet)\b.{0,40}\w+"; 10];
        assert_eq!(compile_all(&usual).0, 10);
    }
}
