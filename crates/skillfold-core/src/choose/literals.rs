//! The literal triggers and names of all skills, and where they are in a message.
//!
//! The first message is searched for one literal after the other: a process that answers only one would take longer to build an
//! automaton. The second message builds it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::choose::message::Message;
use crate::text::fold_case;

/// Literals and the skills that use them.
pub(super) struct Literals {
    /// The literals, by id.
    texts: Vec<Box<str>>,
    /// Whether a message was searched.
    is_used: AtomicBool,
    automaton: OnceLock<Option<AhoCorasick>>,
    /// Start offset in `owners` for each literal and owner class, plus the end of the last.
    starts: Vec<u32>,
    owners: Vec<LiteralOwner>,
}

/// Maximum bytes of a message that is searched without an automaton.
const MAX_DIRECT_BYTES: usize = 4_096;

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
        Literals {
            texts: literals.into_iter().map(|(literal, _)| literal).collect(),
            is_used: AtomicBool::new(false),
            automaton: OnceLock::new(),
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
        let mut report = self.reporter(message, &mut on_match);
        let is_first = !self.is_used.swap(true, Ordering::Relaxed);
        if is_first && message.folded.len() <= MAX_DIRECT_BYTES {
            for (range, id) in self.find_directly(&message.folded) {
                report(id, range);
            }
        } else if let Some(automaton) = self.automaton() {
            for hit in automaton.find_overlapping_iter(&*message.folded) {
                report(hit.pattern().as_usize(), hit.start()..hit.end());
            }
        }
    }

    /// Returns a function that reports the owners of a literal at a range of the message.
    fn reporter<'l>(
        &'l self,
        message: &'l Message<'_>,
        on_match: &'l mut impl FnMut(&LiteralOwner, LiteralMatch),
    ) -> impl FnMut(usize, Range<usize>) + 'l {
        // Trigger classes that have been reported already.
        let mut is_done = vec![false; self.starts.len()];
        move |id, range| {
            let first = id * OWNER_CLASSES;
            if is_done[first]
                && is_done[first + 1]
                && self.owners_of_class(first + NAME_CLASS).is_empty()
            {
                return;
            }
            let found = LiteralMatch {
                start: range.start,
                end: range.end,
                is_whole_word: message.is_whole_word(range),
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

    fn automaton(&self) -> Option<&AhoCorasick> {
        let build = || {
            let automaton = AhoCorasickBuilder::new()
                .match_kind(MatchKind::Standard)
                .build(self.texts.iter().map(|literal| literal.as_bytes()));
            // Building fails only for more literals than any catalog has.
            automaton.ok().filter(|_| !self.texts.is_empty())
        };
        self.automaton.get_or_init(build).as_ref()
    }

    /// Returns where each literal is in a text, in the order of the automaton: by the end, the longest first.
    fn find_directly(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let pairs = BytePairs::new(text);
        let mut found = Vec::new();
        for (id, literal) in self.texts.iter().enumerate() {
            if !pairs.may_contain(literal) {
                continue;
            }
            let mut from = 0;
            while let Some(at) = text[from..].find(&**literal) {
                let start = from + at;
                found.push((start..start + literal.len(), id));
                from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        found.sort_by_key(|(range, _)| (range.end, range.start));
        found
    }

    /// Returns the owners in one class of one literal.
    fn owners_of_class(&self, class: usize) -> &[LiteralOwner] {
        &self.owners[self.starts[class] as usize..self.starts[class + 1] as usize]
    }
}

/// The pairs of adjacent bytes of a text, to tell at once that most literals are not in it.
struct BytePairs(Vec<u64>);

impl BytePairs {
    fn new(text: &str) -> Self {
        let mut bits = vec![0; (1 << 16) / 64];
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = Self::position([pair[0], pair[1]]);
            bits[word] |= bit;
        }
        Self(bits)
    }

    const fn position(pair: [u8; 2]) -> (usize, u64) {
        let pair = u16::from_le_bytes(pair) as usize;
        (pair / 64, 1 << (pair % 64))
    }

    /// Returns false if a literal is not in the text.
    fn may_contain(&self, literal: &str) -> bool {
        literal.as_bytes().windows(2).all(|pair| {
            let (word, bit) = Self::position([pair[0], pair[1]]);
            self.0[word] & bit != 0
        })
    }
}

/// The position of a literal in the folded message.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_whole_word: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LiteralsBuilder, WordBoundary};
    use crate::text::fold_case;

    proptest! {
        #[test]
        fn automaton_finds_literals_in_the_same_order_as_linear_search(
            texts in proptest::collection::vec(prop_oneof!["[ab ä]{1,4}", "\\PC{1,3}"], 0..12),
            message in prop_oneof!["[ab äÄ]{0,60}", "\\PC{0,60}"],
        ) {
            let mut builder = LiteralsBuilder::default();
            for (slot, text) in (0_u32..).zip(&texts) {
                builder.add(text, slot, Some(0), WordBoundary::No);
            }
            let literals = builder.build();
            // The message contains some of them.
            let message = fold_case(&[&message, &*texts.concat()].concat());
            let automaton = literals.automaton().into_iter();
            let hits = automaton.flat_map(|it| it.find_overlapping_iter(&*message));
            let hits: Vec<_> = hits.map(|hit| (hit.start()..hit.end(), hit.pattern().as_usize())).collect();
            prop_assert_eq!(literals.find_directly(&message), hits);
        }
    }
}
