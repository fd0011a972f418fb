//! The triggers of one skill.

use crate::read::discover::Skill;
use crate::read::manifest::Triggers;

/// A trigger of a skill.
#[derive(Clone, Copy)]
pub(super) enum Trigger<'a> {
    /// It may be a part of a word.
    Part(&'a str),
    Word(&'a str),
    Pattern(&'a str),
}

/// Returns the triggers of a skill, in their order.
pub(super) fn triggers(all: Option<&Triggers>) -> Vec<Trigger<'_>> {
    fn each<'a>(
        texts: &'a [Box<str>],
        kind: fn(&'a str) -> Trigger<'a>,
    ) -> impl Iterator<Item = Trigger<'a>> {
        texts.iter().map(move |text| kind(text))
    }
    match all {
        None => Vec::new(),
        Some(Triggers::Flat(texts)) => each(texts, Trigger::Part).collect(),
        Some(Triggers::Structured {
            keywords,
            verbs,
            patterns,
        }) => each(keywords, Trigger::Word)
            .chain(each(verbs, Trigger::Word))
            .chain(each(patterns, Trigger::Pattern))
            .collect(),
    }
}

/// Returns a trigger of a skill by its number.
pub(super) fn trigger_text(skill: &Skill, number: u32) -> Option<&str> {
    let all = triggers(skill.manifest.triggers());
    match all.get(number as usize)? {
        Trigger::Part(text) | Trigger::Word(text) | Trigger::Pattern(text) => Some(text),
    }
}
