//! How near a message comes to the triggers of a skill that it does not ask for.

use crate::choose::message::{Message, fold, is_word};
use crate::choose::patterns::compiled;
use crate::choose::trigger::{Trigger, triggers};
use crate::read::manifest::Manifest;

/// Triggers of one skill that are spoken of.
const TRIGGERS: usize = 50;

/// A trigger that is not in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Near {
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
}

impl TriggerKind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::Words => "words",
            Self::Pattern => "pattern",
            Self::BadPattern => "bad_pattern",
        }
    }
}

/// Returns the triggers of a skill, the ones that a message comes nearest to first.
pub(crate) fn near(manifest: &Manifest, message: &str) -> Vec<Near> {
    let message = Message::new(message, super::matcher::MESSAGE_BYTES);
    let triggers = triggers(manifest).take(TRIGGERS);
    let mut all: Vec<Near> = triggers.map(|trigger| one(trigger, &message)).collect();
    all.sort_by_key(|near| std::cmp::Reverse(share(near)));
    all
}

fn one(trigger: Trigger<'_>, message: &Message<'_>) -> Near {
    let (text, kind) = match trigger {
        Trigger::Part(text) => (text, TriggerKind::Part),
        Trigger::Word(text) => (text, TriggerKind::Words),
        Trigger::Pattern(text) if compiled(text).is_ok() => (text, TriggerKind::Pattern),
        Trigger::Pattern(text) => (text, TriggerKind::BadPattern),
    };
    let is_literal = matches!(kind, TriggerKind::Part | TriggerKind::Words);
    let folded = if is_literal {
        fold(text)
    } else {
        String::new()
    };
    let words = folded.split(|c: char| !is_word(c));
    let words = words.filter(|word| !word.is_empty());
    let (found, missing): (Vec<&str>, Vec<&str>) =
        words.partition(|word| message.folded.contains(word));
    let boxed = |words: Vec<&str>| words.into_iter().map(Box::from).collect();
    Near {
        trigger: text.into(),
        kind,
        found: boxed(found),
        missing: boxed(missing),
    }
}

/// Returns how much of a trigger is there, in thousandths.
fn share(near: &Near) -> usize {
    let all = near.found.len() + near.missing.len();
    (near.found.len() * 1_000)
        .checked_div(all)
        .unwrap_or_default()
}
