//! A skill as search sees it: which terms stand in which field, how often.

use crate::choose::search::words::{Term, Terms};
use crate::choose::trigger::{Trigger, triggers};
use crate::limits::start_of;
use crate::read::manifest::Manifest;

/// A part of a skill that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The name.
    Name,
    /// The description.
    Description,
    /// The tags.
    Tags,
    /// The triggers.
    Triggers,
    /// The headings of the instructions.
    Headings,
    /// The rest of the instructions.
    Body,
}

/// How many fields there are.
pub(super) const FIELDS: usize = 6;
/// Bytes of the instructions that are searched. The longest of real skills are manuals, whose start says what they are for.
pub(super) const BODY_BYTES: usize = 8 * 1024;
/// Different terms of a skill at most; a body of so many bytes has fewer, only a description can have more.
const TERMS: usize = u16::MAX as usize;
/// Terms of a name and a description that are kept in order.
const OPENING: usize = 96;

/// How often a term stands in each field; above 255 nothing is gained.
pub(super) type Counts = [u8; FIELDS];
/// How many terms each field has.
pub(super) type Lengths = [u16; FIELDS];

/// A skill as search sees it. It holds numbers of terms and no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// In the order of their numbers.
    terms: Box<[Term]>,
    counts: Box<[Counts]>,
    lengths: Lengths,
    /// The terms of the name and the description, in the order of the text.
    opening: Box<[Term]>,
    /// How many of the opening are the name's.
    name_terms: u16,
}

impl Document {
    /// Returns the terms, in the order of their numbers.
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns how often a term stands in each field, if it does.
    pub(super) fn counts(&self, term: Term) -> Option<&Counts> {
        let at = self.terms.binary_search(&term).ok()?;
        Some(&self.counts[at])
    }

    /// Returns how often each term stands in each field.
    pub(super) fn all_counts(&self) -> impl Iterator<Item = (Term, &Counts)> {
        self.terms.iter().copied().zip(&self.counts)
    }

    /// Returns how many terms each field has.
    pub(super) fn lengths(&self) -> &Lengths {
        &self.lengths
    }

    /// Returns the terms of the name, in its order.
    pub(super) fn name(&self) -> &[Term] {
        &self.opening[..usize::from(self.name_terms)]
    }

    /// Returns the terms of the description, in its order.
    pub(super) fn description(&self) -> &[Term] {
        &self.opening[usize::from(self.name_terms)..]
    }

    /// Writes it down: everything as numbers of fixed width, the smallest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        for count in [
            self.terms.len(),
            self.opening.len(),
            usize::from(self.name_terms),
        ] {
            bytes.extend(u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
        }
        bytes.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        let terms = self.terms.iter().chain(&self.opening);
        bytes.extend(terms.flat_map(|term| term.number().to_le_bytes()));
        bytes.extend(self.counts.iter().flatten());
        bytes
    }

    /// Reads what was written down; nothing, if it is not that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(6 + 2 * FIELDS)?;
        let mut head = head
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let (terms, opening, name_terms) = (head.next()?, head.next()?, head.next()?);
        let mut lengths = Lengths::default();
        lengths
            .iter_mut()
            .zip(head)
            .for_each(|(length, read)| *length = read);
        let all = usize::from(terms) + usize::from(opening);
        let (numbers, counts) = rest.split_at_checked(4 * all)?;
        let mut numbers = numbers
            .chunks_exact(4)
            .map(|four| Term::new(u32::from_le_bytes([four[0], four[1], four[2], four[3]])));
        let terms: Box<[Term]> = numbers.by_ref().take(usize::from(terms)).collect();
        let is_sound = counts.len() == FIELDS * terms.len()
            && name_terms <= opening
            && terms.is_sorted_by(|a, b| a < b);
        let counts = counts.chunks_exact(FIELDS);
        is_sound.then(|| Self {
            terms,
            counts: counts
                .map(|of_term| std::array::from_fn(|field| of_term[field]))
                .collect(),
            lengths,
            opening: numbers.collect(),
            name_terms,
        })
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.terms)
            + size_of_val(&*self.counts)
            + size_of_val(&*self.opening)
    }
}

/// Makes documents, and remembers the words of those it made.
pub struct Documents {
    words: Terms,
    entries: Vec<(Term, Field)>,
}

impl Documents {
    /// Begins.
    pub fn new() -> Self {
        Self {
            words: Terms::new(),
            entries: Vec::new(),
        }
    }

    /// Returns a skill as search sees it: by what it says of itself, and by its instructions where they are at hand.
    pub fn document(&mut self, manifest: &Manifest, body: Option<&str>) -> Document {
        let tags: Vec<&str> = manifest.tags().iter().map(|tag| &**tag).collect();
        let words = triggers(manifest).filter_map(|trigger| match trigger {
            Trigger::Part(text) | Trigger::Word(text) => Some(text),
            Trigger::Pattern(_) => None,
        });
        let words: Vec<&str> = words.collect();
        self.of(&Texts {
            name: manifest.name().as_str(),
            description: manifest.description(),
            tags: &tags,
            triggers: &words,
            body,
        })
    }

    /// Returns texts as search sees them.
    pub fn of(&mut self, texts: &Texts<'_>) -> Document {
        self.entries.clear();
        let mut opening = self.add(texts.name, Field::Name);
        let name_terms = u16::try_from(opening.len()).unwrap_or(u16::MAX);
        opening.extend(self.add(texts.description, Field::Description));
        opening.truncate(OPENING.max(usize::from(name_terms)));
        for tag in texts.tags {
            self.add(tag, Field::Tags);
        }
        for trigger in texts.triggers {
            self.add(trigger, Field::Triggers);
        }
        for (line, field) in lines(start_of(texts.body.unwrap_or_default(), BODY_BYTES)) {
            self.add(line, field);
        }
        self.counted(opening.into(), name_terms)
    }

    fn add(&mut self, text: &str, field: Field) -> Vec<Term> {
        let mut order = Vec::new();
        let entries = &mut self.entries;
        self.words.each(text, |term, _| {
            entries.push((term, field));
            order.push(term);
        });
        order
    }

    fn counted(&mut self, opening: Box<[Term]>, name_terms: u16) -> Document {
        self.entries.sort_unstable_by_key(|(term, _)| *term);
        let (mut terms, mut counts) = (Vec::new(), Vec::<Counts>::new());
        let mut lengths = Lengths::default();
        for (term, field) in &self.entries {
            if terms.last() != Some(term) {
                if terms.len() == TERMS {
                    break;
                }
                terms.push(*term);
                counts.push(Counts::default());
            }
            let field = *field as usize;
            lengths[field] = lengths[field].saturating_add(1);
            if let Some(counts) = counts.last_mut() {
                counts[field] = counts[field].saturating_add(1);
            }
        }
        Document {
            terms: terms.into(),
            counts: counts.into(),
            lengths,
            opening,
            name_terms,
        }
    }
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Documents").finish_non_exhaustive()
    }
}

impl Default for Documents {
    fn default() -> Self {
        Self::new()
    }
}

/// The texts of a skill that are searched.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a benchmark makes them from records that are no skills"
)]
pub struct Texts<'a> {
    /// The name.
    pub name: &'a str,
    /// The description.
    pub description: &'a str,
    /// The tags.
    pub tags: &'a [&'a str],
    /// The triggers.
    pub triggers: &'a [&'a str],
    /// The instructions, where they are at hand.
    pub body: Option<&'a str>,
}

/// Returns the lines of instructions, each with its field.
fn lines(body: &str) -> impl Iterator<Item = (&str, Field)> {
    let mut is_code = false;
    body.lines().map(move |line| {
        let text = line.trim_start();
        if text.starts_with("```") || text.starts_with("~~~") {
            is_code = !is_code;
        }
        let is_heading = !is_code && text.starts_with('#');
        (
            line,
            if is_heading {
                Field::Headings
            } else {
                Field::Body
            },
        )
    })
}
