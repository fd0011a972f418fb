//! Why a skill that fits a message is only named, or not even that.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::catalog::entry::Entry;
use crate::diagnostic::visible;
use crate::pattern::compile;
use crate::read::exclusion::exclusions;
use crate::read::trigger::{Trigger, triggers};
use crate::search::common_words::rarity;
use crate::search::fields::purpose_sentences;
use crate::search::query::Query;
use crate::search::tokenizer::{Term, Tokenizer};
use crate::text::{ellipsize, first_chars, truncate_bytes};

/// How rare the words must be that a message shares only with a clause about what a skill is not for, in sum: such as one word
/// that at most one of eight skills has.
const MIN_EXCLUDED_RARITY: u32 = 3;

/// Maximum characters of a clause in a message.
const MAX_CLAUSE_CHARS: usize = 160;

/// Words after "do not use" among which the name of a skill is looked for.
const DENIED_WORDS: usize = 10;

/// Characters after "do not use" that are read.
const MAX_DENIAL_CHARS: usize = 160;

/// Bytes of a message in which denials are looked for.
const MAX_DENIAL_BYTES: usize = 16 * 1024;

/// Maximum denials of a message.
const MAX_DENIALS: usize = 32;

/// Why a model gets no instructions of a skill that fits, but a line about it or about another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restraint {
    /// The message is near this clause, which says what the skill is not for.
    Excluded(Box<str>),
    /// This other skill fits as well.
    Alike(Box<str>),
    /// Nearly any task would start it, and the conversation had it before.
    AnyTask,
    /// The skill is suggested because this one, which the message is about, points to it: its id, and the clause.
    InsteadOf(Box<str>, Box<str>),
}

impl Restraint {
    /// Returns what it means, as a part of a sentence.
    pub fn message(&self) -> String {
        match self {
            Self::Excluded(clause) => format!("near what it is not for: \"{}\"", one_line(clause)),
            Self::Alike(other) => format!("`{}` fits as well", visible(other)),
            Self::AnyTask => {
                "nearly any task would start it, and the conversation had it before".to_owned()
            }
            Self::InsteadOf(other, clause) => {
                format!(
                    "instead of `{}`, which says: \"{}\"",
                    visible(other),
                    one_line(clause)
                )
            }
        }
    }
}

/// Returns a clause on one line, cut if it is long.
fn one_line(clause: &str) -> String {
    let words: Vec<&str> = clause.split_whitespace().collect();
    visible(&ellipsize(&words.join(" "), MAX_CLAUSE_CHARS)).into_owned()
}

/// The clause of a skill that a message is near.
pub(crate) struct NearExclusion {
    /// What the clause says.
    pub(crate) text: Box<str>,
    /// The names of other skills or tools that it points to.
    pub(crate) names: Vec<Box<str>>,
}

/// Returns the clause about what a skill is not for that a message is nearest to, if it is near one: it shares words with the
/// clause that say nothing about what the skill is for.
pub(crate) fn near_exclusion<'q>(
    query: impl FnOnce() -> &'q Query,
    entry: &Entry<'_>,
) -> Option<NearExclusion> {
    let manifest = entry.manifest();
    let description = manifest.description();
    let clauses = exclusions(description);
    if clauses.is_empty() {
        return None;
    }
    let mut tokenizer = Tokenizer::new();
    let mut terms_of = |texts: &[&str]| {
        let mut terms = HashSet::new();
        for text in texts {
            tokenizer.for_each_term(text, |term, _| {
                terms.insert(term);
            });
        }
        terms
    };
    let mut purpose = vec![manifest.name().as_str()];
    purpose.extend(manifest.tags().iter().map(|tag| &**tag));
    purpose.extend(triggers(manifest).filter_map(|trigger| match trigger {
        Trigger::Part(text) | Trigger::Word(text) => Some(text),
        Trigger::Pattern(_) => None,
    }));
    let mut end = 0;
    for clause in &clauses {
        purpose.push(&description[end..clause.range.start]);
        end = clause.range.end;
    }
    purpose.push(&description[end..]);
    let purpose = terms_of(&purpose);
    let wanted: Vec<Term> = query()
        .terms()
        .filter(|term| !purpose.contains(term))
        .collect();
    let sum = |terms: &HashSet<Term>| -> u32 {
        let shared = wanted.iter().filter(|term| terms.contains(term));
        shared.map(|term| u32::from(rarity(*term))).sum()
    };
    let nearest = clauses.iter().map(|clause| {
        let terms = terms_of(&[&description[clause.range.clone()]]);
        (sum(&terms), clause)
    });
    let (nearest, clause) = nearest.max_by_key(|(nearness, _)| *nearness)?;
    if nearest < MIN_EXCLUDED_RARITY {
        return None;
    }
    // A name is for what stands before it, "not for charts (use `plots`), tables (use `sheets`)", and for the same as the name
    // before if there is nothing.
    let (mut start, mut is_meant) = (clause.range.start, true);
    let names = clause.names.iter().filter(|name| {
        let before = terms_of(&[&description[start..name.start]]);
        start = name.end;
        if before.len() > 1 {
            is_meant = sum(&before) > 0;
        }
        is_meant
    });
    let names = names.map(|name| description[name.clone()].into());
    Some(NearExclusion {
        names: names.collect(),
        text: description[clause.range.clone()].into(),
    })
}

/// "Do not use", before the name of a skill.
static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?-u:\b)(?:(?:do\s+not|don['’]?t|never|not\s+to)\s+(?:use|invoke|run|start|load|trigger|call|apply|activate)|without\s+(?:using|invoking|running|starting|loading|triggering|calling|applying|activating))(?-u:\b)",
    )
});

/// Words that end what a message says not to use.
const DENIAL_ENDS: [&str; 8] = [
    "but", "except", "without", "other", "unless", "until", "instead", "anything",
];

/// What a message says not to use.
pub(crate) struct Denials {
    /// The words of the message; none if it denies nothing.
    words: Vec<String>,
    /// The words after each "do not use".
    denied: Vec<Vec<String>>,
}

impl Denials {
    /// Finds what a message says not to use.
    pub(crate) fn new(message: &str) -> Self {
        let message = truncate_bytes(message, MAX_DENIAL_BYTES);
        let denied = DENIAL.find_iter(message).take(MAX_DENIALS).map(|found| {
            let rest = first_chars(&message[found.end()..], MAX_DENIAL_CHARS);
            let words = folded_words(
                rest.split([',', ';', '!', '?', '\n'])
                    .next()
                    .unwrap_or_default(),
            );
            let words = words.take_while(|word| !DENIAL_ENDS.contains(&&**word));
            words.take(DENIED_WORDS).collect()
        });
        let denied: Vec<Vec<String>> = denied.collect();
        let words = if denied.is_empty() {
            Vec::new()
        } else {
            folded_words(message).collect()
        };
        Self { words, denied }
    }

    /// Returns whether the message has the name of a skill only where it says what not to use: "do not invoke the consultant
    /// skill".
    pub(crate) fn has(&self, name: &str) -> bool {
        let name: Vec<String> = folded_words(name).collect();
        if name.is_empty() || self.denied.is_empty() {
            return false;
        }
        let count = |words: &[String]| {
            words
                .windows(name.len())
                .filter(|part| **part == name)
                .count()
        };
        let denied: usize = self.denied.iter().map(|words| count(words)).sum();
        denied > 0 && denied >= count(&self.words)
    }
}

/// Returns the words of a text in lower case.
fn folded_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Says that nearly any task starts a skill: "before implementing any feature", "at the start of every conversation".
static ANY_TASK: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?-u:\b)(?:any|every|each|all)\s+(?:(?:new|single|non-?trivial|coding|development|complex|user|programming|implementation|creative|software|code|production|other)\s+)*(?:features?|bugs?|bug\s?fix(?:es)?|tasks?|requests?|messages?|responses?|replies|conversations?|sessions?|prompts?|turns?|actions?|changes?|work|interactions?|implementation)(?:\s|[,.;:)]|$)",
    )
});

/// Returns whether a skill says that nearly any task starts it.
pub(crate) fn is_for_any_task(entry: &Entry<'_>) -> bool {
    let purpose = purpose_sentences(entry.manifest().description());
    purpose.iter().any(|sentence| ANY_TASK.is_match(sentence))
}
