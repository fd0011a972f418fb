//! A skill as search sees it: which terms stand in which field, how often.

use crate::choose::search::embedding::QuantizedVector;
use crate::choose::search::fields::{ALL, FIELDS, SearchField, each_of_body, each_of_description};
use crate::choose::search::tokenizer::{Term, Terms};
use crate::choose::trigger::{Trigger, triggers};
use crate::read::manifest::Manifest;
use crate::text::start_of;

/// Bytes of the instructions that are searched. The longest of real skills are manuals, whose start says what they are for.
pub(super) const BODY_BYTES: usize = 8 * 1024;
/// Bytes of a description that are searched.
const DESCRIPTION_BYTES: usize = 8 * 1024;
/// Different terms of a skill at most, so that each has a number.
const TERMS: usize = u16::MAX as usize - 1;
/// Terms of the instructions that are kept in their order.
const SEQUENCE: usize = 700;
/// What stands between two texts in a sequence.
pub(super) const BREAK: u16 = u16::MAX;

/// How often a term stands in each field, up to 15: from there on nothing is gained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldCounts([u8; FIELDS / 2]);

impl FieldCounts {
    fn add(&mut self, field: SearchField) {
        if self.of(field) < 15 {
            self.0[field as usize / 2] += 1 << (field as usize % 2 * 4);
        }
    }

    /// Returns how often it stands in a field.
    pub(super) fn of(self, field: SearchField) -> u8 {
        self.0[field as usize / 2] >> (field as usize % 2 * 4) & 15
    }

    /// Returns how often it stands in each field.
    pub(super) fn each(self) -> [u8; FIELDS] {
        ALL.map(|field| self.of(field))
    }
}

/// How many terms each field has.
pub(super) type Lengths = [u16; FIELDS];

/// A skill as search sees it. It holds numbers of terms and no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// In the order of their numbers.
    terms: Box<[Term]>,
    counts: Box<[FieldCounts]>,
    lengths: Lengths,
    /// Texts as places of their terms above: the name, what describes it, the instructions.
    sequence: Box<[u16]>,
    /// Where the first two of these texts end.
    ends: [u16; 2],
    /// What the name and the description mean, where something tells.
    meaning: Option<QuantizedVector>,
}

impl Document {
    /// Says how documents are made and written: those of another version are not to be compared with these.
    pub const VERSION: &'static str = "2";

    /// Returns the terms, in the order of their numbers.
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the place of a term and how often it stands in each field, if it does.
    pub(super) fn find(&self, term: Term) -> Option<(u16, FieldCounts)> {
        let at = self.terms.binary_search(&term).ok()?;
        Some((u16::try_from(at).ok()?, self.counts[at]))
    }

    /// Returns how often each term stands in each field.
    pub(super) fn all_counts(&self) -> impl Iterator<Item = (Term, FieldCounts)> {
        self.terms.iter().copied().zip(self.counts.iter().copied())
    }

    /// Returns how many terms each field has.
    pub(super) fn lengths(&self) -> &Lengths {
        &self.lengths
    }

    /// Returns the name, what describes the skill and its instructions as places of terms.
    pub(super) fn texts(&self) -> [&[u16]; 3] {
        let [name, described] = self.ends.map(usize::from);
        let texts = &self.sequence;
        [&texts[..name], &texts[name..described], &texts[described..]]
    }

    /// Returns what the name and the description mean, where something told.
    pub fn embedding(&self) -> Option<&QuantizedVector> {
        self.meaning.as_ref()
    }

    /// Says what the name and the description mean.
    #[must_use]
    pub fn with_embedding(mut self, meaning: Option<QuantizedVector>) -> Self {
        self.meaning = meaning;
        self
    }

    /// Writes it down: everything as numbers of fixed width, their least byte first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        let [name, described] = self.ends.map(usize::from);
        for count in [self.terms.len(), self.sequence.len(), name, described] {
            bytes.extend(u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
        }
        bytes.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend(
            self.terms
                .iter()
                .flat_map(|term| term.number().to_le_bytes()),
        );
        bytes.extend(self.counts.iter().flat_map(|counts| counts.0));
        bytes.extend(self.sequence.iter().flat_map(|at| at.to_le_bytes()));
        bytes.extend(self.meaning.iter().flat_map(QuantizedVector::to_bytes));
        bytes
    }

    /// Reads what was written down; nothing, if it is not that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let number = |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]);
        let (head, rest) = bytes.split_at_checked(8 + 2 * FIELDS)?;
        let mut head = head.chunks_exact(2).map(number);
        let (terms, sequence) = (usize::from(head.next()?), usize::from(head.next()?));
        let ends = [head.next()?, head.next()?];
        let mut lengths = Lengths::default();
        (lengths.iter_mut().zip(head)).for_each(|(length, read)| *length = read);
        let (numbers, rest) = rest.split_at_checked(4 * terms)?;
        let (counts, rest) = rest.split_at_checked(FIELDS / 2 * terms)?;
        let (places, meaning) = rest.split_at_checked(2 * sequence)?;
        let numbers = numbers.chunks_exact(4);
        let numbers = numbers.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let counts = counts.chunks_exact(FIELDS / 2);
        let document = Self {
            terms: numbers.map(Term::new).collect(),
            counts: counts
                .map(|of| FieldCounts(std::array::from_fn(|at| of[at])))
                .collect(),
            lengths,
            sequence: places.chunks_exact(2).map(number).collect(),
            ends,
            meaning: (!meaning.is_empty()).then(|| QuantizedVector::from_bytes(meaning)),
        };
        let is_place = |at: &u16| usize::from(*at) < terms || *at == BREAK;
        let is_sound = ends[0] <= ends[1]
            && usize::from(ends[1]) <= sequence
            && document.terms.is_sorted_by(|a, b| a < b)
            && document.sequence.iter().all(is_place);
        is_sound.then_some(document)
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.terms)
            + size_of_val(&*self.counts)
            + size_of_val(&*self.sequence)
    }
}

/// The texts of a skill that are searched.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a benchmark makes them from records that are no skills"
)]
pub struct DocumentTexts<'a> {
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

/// Makes documents, and remembers the words of those it made.
pub struct DocumentBuilder {
    words: Terms,
    /// The terms of the texts of each field, in their order.
    texts: [Vec<Term>; FIELDS],
}

impl DocumentBuilder {
    /// Begins.
    pub fn new() -> Self {
        Self {
            words: Terms::new(),
            texts: Default::default(),
        }
    }

    /// Returns a skill as search sees it: by what it says of itself, and by its instructions where they are at hand.
    pub fn from_manifest(&mut self, manifest: &Manifest, body: Option<&str>) -> Document {
        let tags: Vec<&str> = manifest.tags().iter().map(|tag| &**tag).collect();
        let words = triggers(manifest).filter_map(|trigger| match trigger {
            Trigger::Part(text) | Trigger::Word(text) => Some(text),
            Trigger::Pattern(_) => None,
        });
        let words: Vec<&str> = words.collect();
        self.from_texts(&DocumentTexts {
            name: manifest.name().as_str(),
            description: manifest.description(),
            tags: &tags,
            triggers: &words,
            body,
        })
    }

    /// Returns texts as search sees them.
    pub fn from_texts(&mut self, texts: &DocumentTexts<'_>) -> Document {
        for text in &mut self.texts {
            text.clear();
        }
        self.add(texts.name, SearchField::Name);
        let description = start_of(texts.description, DESCRIPTION_BYTES);
        each_of_description(description, |text, field| self.add(text, field));
        for text in texts.tags.iter().chain(texts.triggers) {
            self.add(text, SearchField::Tags);
        }
        let body = start_of(texts.body.unwrap_or_default(), BODY_BYTES);
        each_of_body(body, |text, field| self.add(text, field));
        self.made()
    }

    fn add(&mut self, text: &str, field: SearchField) {
        let terms = &mut self.texts[field as usize];
        self.words.each(text, |term, _| terms.push(term));
    }

    fn made(&self) -> Document {
        let mut terms: Vec<Term> = self.texts.iter().flatten().copied().collect();
        terms.sort_unstable();
        terms.dedup();
        terms.truncate(TERMS);
        let mut counts = vec![FieldCounts::default(); terms.len()];
        for field in ALL {
            for term in &self.texts[field as usize] {
                if let Ok(at) = terms.binary_search(term) {
                    counts[at].add(field);
                }
            }
        }
        let lengths = |field: usize| u16::try_from(self.texts[field].len()).unwrap_or(u16::MAX);
        let mut sequence = self.sequence(&terms, &[SearchField::Name]);
        let name = sequence.len();
        sequence.extend(self.sequence(
            &terms,
            &[
                SearchField::Description,
                SearchField::Tags,
                SearchField::Excluded,
            ],
        ));
        let described = sequence.len();
        let instructions = [
            SearchField::Opening,
            SearchField::Purpose,
            SearchField::Headings,
            SearchField::Rest,
        ];
        let instructions = self.sequence(&terms, &instructions);
        sequence.extend(instructions.into_iter().take(SEQUENCE));
        sequence.truncate(usize::from(u16::MAX));
        let end = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        Document {
            counts: counts.into(),
            lengths: std::array::from_fn(lengths),
            ends: [end(name), end(described)],
            sequence: sequence.into(),
            terms: terms.into(),
            meaning: None,
        }
    }

    /// Returns the texts of some fields as places of terms.
    fn sequence(&self, terms: &[Term], fields: &[SearchField]) -> Vec<u16> {
        let mut sequence = Vec::new();
        for field in fields {
            if !sequence.is_empty() {
                sequence.push(BREAK);
            }
            let text = self.texts[*field as usize].iter();
            let places = text.filter_map(|term| terms.binary_search(term).ok());
            sequence.extend(places.filter_map(|at| u16::try_from(at).ok()));
        }
        sequence
    }
}

impl std::fmt::Debug for DocumentBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Documents").finish_non_exhaustive()
    }
}

impl Default for DocumentBuilder {
    fn default() -> Self {
        Self::new()
    }
}
