//! The triggers of a skill that a message nearly matches.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::choose::message::{Message, is_word_char};
use crate::choose::patterns::{MAX_SKILL_PATTERNS, compile_pattern};
use crate::read::manifest::Manifest;
use crate::read::trigger::{Trigger, triggers};
use crate::text::fold_case;

/// Maximum triggers reported per skill.
const MAX_TRIGGERS: usize = 50;
/// Maximum words compared per trigger.
const MAX_TRIGGER_WORDS: usize = 20;

/// A trigger that the request does not match.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "NearTrigger")]
#[non_exhaustive]
pub struct NearMiss {
    /// The trigger.
    pub trigger: Box<str>,
    /// `part` (matches inside words too), `words` (whole words), `pattern`, `bad_pattern` (invalid) or `unused_pattern`
    /// (the skill has too many).
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: TriggerKind,
    /// Its words that are in the request; none for a pattern.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Box<str>>,
    /// Its words that are not in the request; none for a pattern.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Box<str>>,
}

words! {
    /// The kind of a trigger.
    #[derive(serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TriggerKind {
        /// Text that may match inside a word.
        Part = "part",
        /// Whole words.
        Words = "words",
        /// A regular expression.
        Pattern = "pattern",
        /// A regular expression that cannot be used.
        BadPattern = "bad_pattern",
        /// A regular expression that is not used because the skill has too many.
        UnusedPattern = "unused_pattern",
    }
}

/// Returns the triggers of a skill, closest to the message first, and the total number of triggers.
pub(crate) fn near_misses(manifest: &Manifest, message: &str) -> (Vec<NearMiss>, usize) {
    let message = Message::new(message, super::matcher::MAX_MESSAGE_BYTES);
    let words: HashSet<&str> = words(&message.folded).collect();
    let mut patterns = 0;
    let mut all: Vec<(usize, Trigger<'_>, TriggerKind)> = Vec::new();
    for trigger in triggers(manifest) {
        let kind = match trigger {
            Trigger::Part(_) => TriggerKind::Part,
            Trigger::Word(_) => TriggerKind::Words,
            Trigger::Pattern(_) => {
                patterns += 1;
                if patterns > MAX_SKILL_PATTERNS {
                    TriggerKind::UnusedPattern
                } else {
                    TriggerKind::Pattern
                }
            }
        };
        all.push((matched_permille(trigger, &message, &words), trigger, kind));
    }
    all.sort_by_key(|(permille, ..)| Reverse(*permille));
    let reported = all.iter().take(MAX_TRIGGERS);
    let misses = reported.map(|(_, trigger, kind)| near_miss(*trigger, *kind, &message, &words));
    (misses.collect(), all.len())
}

fn near_miss(
    trigger: Trigger<'_>,
    kind: TriggerKind,
    message: &Message<'_>,
    message_words: &HashSet<&str>,
) -> NearMiss {
    let (Trigger::Part(text) | Trigger::Word(text) | Trigger::Pattern(text)) = trigger;
    let is_bad = kind == TriggerKind::Pattern && compile_pattern(text).is_err();
    let folded = match trigger {
        Trigger::Pattern(_) => String::new(),
        Trigger::Part(_) | Trigger::Word(_) => fold_case(text),
    };
    let (found, missing): (Vec<&str>, Vec<&str>) = words(&folded)
        .take(MAX_TRIGGER_WORDS)
        .partition(|word| has_word(trigger, word, message, message_words));
    let boxed = |words: Vec<&str>| words.into_iter().map(Box::from).collect();
    NearMiss {
        trigger: text.into(),
        kind: if is_bad {
            TriggerKind::BadPattern
        } else {
            kind
        },
        found: boxed(found),
        missing: boxed(missing),
    }
}

/// Returns how many of a trigger's words are in the message, in thousandths.
fn matched_permille(
    trigger: Trigger<'_>,
    message: &Message<'_>,
    message_words: &HashSet<&str>,
) -> usize {
    let (Trigger::Part(text) | Trigger::Word(text)) = trigger else {
        return 0;
    };
    let folded = fold_case(text);
    let (mut total, mut found) = (0, 0);
    for word in words(&folded).take(MAX_TRIGGER_WORDS) {
        total += 1;
        found += usize::from(has_word(trigger, word, message, message_words));
    }
    (found * 1_000_usize).checked_div(total).unwrap_or_default()
}

/// Returns whether a message has a word of a trigger, as a whole word if the trigger requires it.
fn has_word(
    trigger: Trigger<'_>,
    word: &str,
    message: &Message<'_>,
    message_words: &HashSet<&str>,
) -> bool {
    let is_substring = matches!(trigger, Trigger::Part(_)) && message.folded.contains(word);
    is_substring || message_words.contains(word)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_word_char(c));
    words.filter(|word| !word.is_empty())
}
