//! How near a message comes to the triggers of a skill that it does not ask for.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::choose::message::{Message, is_word};
use crate::choose::patterns::{OF_A_SKILL, compiled};
use crate::choose::trigger::{Trigger, triggers};
use crate::read::manifest::Manifest;
use crate::text::fold;

/// Triggers of one skill that are spoken of.
const TRIGGERS: usize = 50;
/// Words of one trigger that are spoken of.
const WORDS: usize = 20;

/// A trigger that is not in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearMiss {
    /// The trigger.
    pub trigger: Box<str>,
    /// What it is.
    pub kind: TriggerKind,
    /// The words of the trigger that are in the message, though not as it needs them.
    pub found: Vec<Box<str>>,
    /// The words of the trigger that are not.
    pub missing: Vec<Box<str>>,
}

/// What a trigger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriggerKind {
    /// A text that may be a part of a word.
    Part,
    /// Whole words.
    Words,
    /// A regular expression.
    Pattern,
    /// A regular expression that cannot be used.
    BadPattern,
    /// A regular expression that is not used, as the skill has too many.
    UnusedPattern,
}

impl TriggerKind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::Words => "words",
            Self::Pattern => "pattern",
            Self::BadPattern => "bad_pattern",
            Self::UnusedPattern => "unused_pattern",
        }
    }
}

/// Returns the triggers of a skill that a message comes nearest to, nearest first, and how many there are in all.
pub(crate) fn near(manifest: &Manifest, message: &str) -> (Vec<NearMiss>, usize) {
    let message = Message::new(message, super::matcher::MESSAGE_BYTES);
    let words: HashSet<&str> = words(&message.folded).collect();
    let mut patterns = 0;
    let mut all: Vec<(usize, Trigger<'_>, TriggerKind)> = Vec::new();
    for trigger in triggers(manifest) {
        let kind = match trigger {
            Trigger::Part(_) => TriggerKind::Part,
            Trigger::Word(_) => TriggerKind::Words,
            Trigger::Pattern(_) => {
                patterns += 1;
                if patterns > OF_A_SKILL {
                    TriggerKind::UnusedPattern
                } else {
                    TriggerKind::Pattern
                }
            }
        };
        all.push((share(trigger, &message, &words), trigger, kind));
    }
    all.sort_by_key(|(share, ..)| Reverse(*share));
    let shown = all.iter().take(TRIGGERS);
    let near = shown.map(|(_, trigger, kind)| one(*trigger, *kind, &message, &words));
    (near.collect(), all.len())
}

fn one(
    trigger: Trigger<'_>,
    kind: TriggerKind,
    message: &Message<'_>,
    words_of_message: &HashSet<&str>,
) -> NearMiss {
    let (Trigger::Part(text) | Trigger::Word(text) | Trigger::Pattern(text)) = trigger;
    let is_bad = kind == TriggerKind::Pattern && compiled(text).is_err();
    let folded = match trigger {
        Trigger::Pattern(_) => String::new(),
        Trigger::Part(_) | Trigger::Word(_) => fold(text),
    };
    let (found, missing): (Vec<&str>, Vec<&str>) = words(&folded)
        .take(WORDS)
        .partition(|word| is_there(trigger, word, message, words_of_message));
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

/// Returns how much of a trigger matches, in thousandths.
fn share(trigger: Trigger<'_>, message: &Message<'_>, words_of_message: &HashSet<&str>) -> usize {
    let (Trigger::Part(text) | Trigger::Word(text)) = trigger else {
        return 0;
    };
    let folded = fold(text);
    let (mut all, mut found) = (0, 0);
    for word in words(&folded).take(WORDS) {
        all += 1;
        found += usize::from(is_there(trigger, word, message, words_of_message));
    }
    (found * 1_000_usize).checked_div(all).unwrap_or_default()
}

/// Returns whether a word of a trigger is in a message: whole where the trigger is of whole words.
fn is_there(
    trigger: Trigger<'_>,
    word: &str,
    message: &Message<'_>,
    words_of_message: &HashSet<&str>,
) -> bool {
    let is_part = matches!(trigger, Trigger::Part(_)) && message.folded.contains(word);
    is_part || words_of_message.contains(word)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_word(c));
    words.filter(|word| !word.is_empty())
}
