//! One Aho-Corasick automaton over the literal triggers and names of all skills.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::choose::message::{Edge, Message, is_word_char};
use crate::text::fold_case;

/// Literals and the skills that use them.
pub(super) struct Literals {
    automaton: Option<AhoCorasick>,
    /// Start offset in `owners` for each literal and owner class, plus the end of the last.
    starts: Vec<u32>,
    owners: Vec<LiteralOwner>,
}

/// Number of owner classes: substring triggers, whole-word triggers, names.
const OWNER_CLASSES: usize = 3;
/// Owner class of skill names.
const NAME_CLASS: usize = 2;

/// The skill and trigger a literal belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralOwner {
    pub(super) slot: u32,
    /// Index of the trigger in the skill; `None` for its name.
    pub(super) trigger: Option<u32>,
    pub(super) boundary: WordBoundary,
    pub(super) word_count: WordCount,
}

/// Whether a literal must match at word boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordBoundary {
    /// It may match inside a word.
    No,
    /// It must match at a boundary on each side where it starts or ends with a word character.
    Yes,
}

/// Whether a literal has one word or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordCount {
    One,
    Several,
}

/// Collects the literals of all skills for [`Literals`].
#[derive(Default)]
pub(super) struct LiteralsBuilder {
    ids: HashMap<Box<str>, u32>,
    owners: Vec<(u32, LiteralOwner)>,
}

impl LiteralsBuilder {
    /// Adds a literal of a skill. Blank literals are ignored.
    pub(super) fn add(
        &mut self,
        literal: &str,
        slot: u32,
        trigger: Option<u32>,
        boundary: WordBoundary,
    ) {
        let literal = fold_case(literal.trim());
        if literal.is_empty() {
            return;
        }
        let word_count = if literal.split_whitespace().nth(1).is_some() {
            WordCount::Several
        } else {
            WordCount::One
        };
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry(literal.into()).or_insert(next);
        self.owners.push((
            id,
            LiteralOwner {
                slot,
                trigger,
                boundary,
                word_count,
            },
        ));
    }

    pub(super) fn build(mut self) -> Literals {
        let class_index =
            |id: u32, owner: &LiteralOwner| id as usize * OWNER_CLASSES + owner.class();
        self.owners
            .sort_by_key(|(id, owner)| class_index(*id, owner));
        let mut starts = vec![0; self.ids.len() * OWNER_CLASSES + 1];
        for (id, owner) in &self.owners {
            starts[class_index(*id, owner) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut literals: Vec<(Box<str>, u32)> = self.ids.into_iter().collect();
        literals.sort_by_key(|(_, id)| *id);
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::Standard)
            .build(literals.iter().map(|(literal, _)| literal.as_bytes()));
        Literals {
            // Building fails only for more literals than any catalog has.
            automaton: automaton.ok().filter(|_| !literals.is_empty()),
            starts,
            owners: self.owners.into_iter().map(|(_, owner)| owner).collect(),
        }
    }
}

impl LiteralOwner {
    fn class(&self) -> usize {
        match (self.trigger, self.boundary) {
            (Some(_), WordBoundary::No) => 0,
            (Some(_), WordBoundary::Yes) => 1,
            (None, _) => NAME_CLASS,
        }
    }
}

impl Literals {
    /// Calls `on_match` for each owner of a literal in the message. A trigger is reported once; a name is reported at
    /// each occurrence, because its context decides whether it counts.
    pub(super) fn find(
        &self,
        message: &Message<'_>,
        mut on_match: impl FnMut(&LiteralOwner, LiteralMatch),
    ) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        // Trigger classes that have been reported already.
        let mut is_done = vec![false; self.starts.len()];
        for hit in automaton.find_overlapping_iter(&*message.folded) {
            let first = hit.pattern().as_usize() * OWNER_CLASSES;
            if is_done[first]
                && is_done[first + 1]
                && self.owners_of_class(first + NAME_CLASS).is_empty()
            {
                continue;
            }
            let range = hit.start()..hit.end();
            let found = LiteralMatch {
                start: range.start,
                end: range.end,
                is_whole_word: is_whole_word(message, range),
            };
            let classes = is_done[first..].iter_mut().take(OWNER_CLASSES);
            for (class, is_done) in classes.enumerate() {
                if *is_done || (class > 0 && !found.is_whole_word) {
                    continue;
                }
                *is_done = class < NAME_CLASS;
                for owner in self.owners_of_class(first + class) {
                    on_match(owner, found);
                }
            }
        }
    }

    /// Returns the owners in one class of one literal.
    fn owners_of_class(&self, class: usize) -> &[LiteralOwner] {
        &self.owners[self.starts[class] as usize..self.starts[class + 1] as usize]
    }
}

/// The position of a literal in the folded message.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_whole_word: bool,
}

/// Returns whether a range has a word boundary on each side where it starts or ends with a word character.
fn is_whole_word(message: &Message<'_>, range: std::ops::Range<usize>) -> bool {
    let text = &message.folded[range.clone()];
    let (before, after) = message.word_edges(range);
    let starts_word = text.chars().next().is_some_and(is_word_char);
    let ends_word = text.chars().next_back().is_some_and(is_word_char);
    let continues =
        (starts_word && before == Edge::InsideWord) || (ends_word && after == Edge::InsideWord);
    !continues
}
