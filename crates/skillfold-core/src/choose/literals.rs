//! All literal triggers and names of all skills in one automaton.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::choose::message::{Edge, Message, is_word};
use crate::text::fold;

/// Literals, and whose they are.
pub(super) struct Literals {
    automaton: Option<AhoCorasick>,
    /// For each literal and each class of its uses, where these start; one more at the end.
    starts: Vec<u32>,
    uses: Vec<LiteralOwner>,
}

/// Classes of uses: parts of words, whole words, names.
const CLASSES: usize = 3;
/// The class of names.
const NAMES: usize = 2;

/// A literal as one skill uses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralOwner {
    pub(super) slot: u32,
    /// Which of the skill's triggers it is; a name is none.
    pub(super) trigger: Option<u32>,
    pub(super) whole: WordBoundary,
    pub(super) words: WordCount,
}

/// Whether a literal has to stand as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordBoundary {
    /// It may be a part of one.
    No,
    /// Where its own edge is of a word.
    Yes,
}

/// How many words a literal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordCount {
    One,
    Several,
}

/// Literals of skills, collected.
#[derive(Default)]
pub(super) struct LiteralsBuilder {
    numbers: HashMap<Box<str>, u32>,
    uses: Vec<(u32, LiteralOwner)>,
}

impl LiteralsBuilder {
    /// Adds a literal that a skill uses; an empty one matches nothing.
    pub(super) fn add(
        &mut self,
        literal: &str,
        slot: u32,
        trigger: Option<u32>,
        whole: WordBoundary,
    ) {
        let literal = fold(literal.trim());
        if literal.is_empty() {
            return;
        }
        let words = if literal.split_whitespace().nth(1).is_some() {
            WordCount::Several
        } else {
            WordCount::One
        };
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(literal.into()).or_insert(next);
        self.uses.push((
            number,
            LiteralOwner {
                slot,
                trigger,
                whole,
                words,
            },
        ));
    }

    /// Builds the automaton.
    pub(super) fn build(mut self) -> Literals {
        let place = |number: u32, used: &LiteralOwner| number as usize * CLASSES + used.class();
        self.uses.sort_by_key(|(number, used)| place(*number, used));
        let mut starts = vec![0; self.numbers.len() * CLASSES + 1];
        for (number, used) in &self.uses {
            starts[place(*number, used) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut literals: Vec<(Box<str>, u32)> = self.numbers.into_iter().collect();
        literals.sort_by_key(|(_, number)| *number);
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::Standard)
            .build(literals.iter().map(|(literal, _)| literal.as_bytes()));
        Literals {
            // More literals than fit an automaton are more than any host has.
            automaton: automaton.ok().filter(|_| !literals.is_empty()),
            starts,
            uses: self.uses.into_iter().map(|(_, used)| used).collect(),
        }
    }
}

impl LiteralOwner {
    fn class(&self) -> usize {
        match (self.trigger, self.whole) {
            (Some(_), WordBoundary::No) => 0,
            (Some(_), WordBoundary::Yes) => 1,
            (None, _) => NAMES,
        }
    }
}

impl Literals {
    /// Calls `found` with each use of a literal that stands in the message, and where. Only that of a name may be found
    /// again: it counts by what stands around it.
    pub(super) fn find(
        &self,
        message: &Message<'_>,
        mut found: impl FnMut(&LiteralOwner, LiteralMatch),
    ) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        // Uses that were found say nothing new.
        let mut is_done = vec![false; self.starts.len()];
        for hit in automaton.find_overlapping_iter(&*message.folded) {
            let first = hit.pattern().as_usize() * CLASSES;
            if is_done[first] && is_done[first + 1] && self.uses_of(first + NAMES).is_empty() {
                continue;
            }
            let range = hit.start()..hit.end();
            let place = LiteralMatch {
                start: range.start,
                end: range.end,
                is_whole: is_whole(message, range),
            };
            let done = is_done[first..].iter_mut().take(CLASSES);
            for (class, is_done) in done.enumerate() {
                if *is_done || (class > 0 && !place.is_whole) {
                    continue;
                }
                *is_done = class < NAMES;
                for used in self.uses_of(first + class) {
                    found(used, place);
                }
            }
        }
    }

    /// Returns the uses of one class of one literal.
    fn uses_of(&self, class: usize) -> &[LiteralOwner] {
        &self.uses[self.starts[class] as usize..self.starts[class + 1] as usize]
    }
}

/// Where a literal was found in the folded message.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_whole: bool,
}

/// Returns whether no word goes on over an edge of a stretch that is of a word itself.
fn is_whole(message: &Message<'_>, range: std::ops::Range<usize>) -> bool {
    let text = &message.folded[range.clone()];
    let (before, after) = message.edges(range);
    let starts_word = text.chars().next().is_some_and(is_word);
    let ends_word = text.chars().next_back().is_some_and(is_word);
    let goes_on = (starts_word && before == Edge::Inside) || (ends_word && after == Edge::Inside);
    !goes_on
}
