//! Why a skill that fits a message is only named, or not even that.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::catalog::entry::Entry;
use crate::diagnostic::visible;
use crate::read::exclusion::{Exclusion, exclusions};
use crate::search::common_words::rarity;
use crate::search::query::Query;
use crate::search::tokenizer::{Term, Tokenizer};
use crate::text::ellipsize;

/// How rare the words must be that a message shares only with a clause about what a skill is not for, in sum: one word that at
/// most one of eight skills has.
const MIN_EXCLUDED_RARITY: u32 = 3;

/// Maximum characters of a clause in a message.
const MAX_CLAUSE_CHARS: usize = 160;

/// Words after "do not use" among which the name of the skill is looked for.
const DENIED_WORDS: usize = 6;

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
    let mut nearness = |clause: &Exclusion| -> u32 {
        let terms = terms_of(&[&description[clause.range.clone()]]);
        let shared = wanted.iter().filter(|term| terms.contains(term));
        shared.map(|term| u32::from(rarity(*term))).sum()
    };
    let clauses = clauses.iter().map(|clause| (nearness(clause), clause));
    let (nearness, clause) = clauses.max_by_key(|(nearness, _)| *nearness)?;
    (nearness >= MIN_EXCLUDED_RARITY).then(|| NearExclusion {
        text: description[clause.range.clone()].into(),
        names: clause
            .names
            .iter()
            .map(|name| description[name.clone()].into())
            .collect(),
    })
}

/// "Do not use", before the name of a skill.
static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?-u:\b)(?:(?:do\s+not|don['’]?t|never|not\s+to)\s+(?:use|invoke|run|start|load|trigger|call|apply|activate)|without\s+(?:using|invoking|running|starting|loading|triggering|calling|applying|activating))(?-u:\b)",
    )
    .expect("patterns of the engine are tested")
});

/// Returns whether a message says not to use a skill: "do not invoke the consultant skill".
pub(crate) fn is_denied(message: &str, name: &str) -> bool {
    let fold = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let name = fold(name);
    if name.is_empty() {
        return false;
    }
    DENIAL.find_iter(message).any(|found| {
        let rest = &message[found.end()..];
        let end = rest
            .find(['.', ',', ';', '!', '?', '\n'])
            .unwrap_or(rest.len());
        let mut words = fold(&rest[..end]);
        words.truncate(DENIED_WORDS + name.len());
        words.windows(name.len()).any(|part| part == name)
    })
}

/// Says that nearly any task starts a skill: "before implementing any feature", "at the start of every conversation".
static ANY_TASK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?-u:\b)(?:any|every|each|all)\s+(?:(?:new|single|non-?trivial|coding|development|complex|user|programming|implementation|creative|software|code|production|other)\s+)*(?:features?|bugs?|bug\s?fix(?:es)?|tasks?|requests?|messages?|responses?|replies|conversations?|sessions?|prompts?|turns?|actions?|changes?|work|interactions?|implementation)(?:\s|[,.;:)]|$)",
    )
    .expect("patterns of the engine are tested")
});

/// Returns whether a skill says that nearly any task starts it.
pub(crate) fn is_for_any_task(entry: &Entry<'_>) -> bool {
    ANY_TASK.is_match(entry.manifest().description())
}
