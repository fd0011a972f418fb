//! A skill as indexed for search: the frequency of each term in each field.

use crate::read::manifest::Manifest;
use crate::read::trigger::{Trigger, triggers};
use crate::search::embedding::QuantizedVector;
use crate::search::fields::{
    FIELD_COUNT, METADATA_FIELDS, SearchField, split_body, split_description,
};
use crate::search::tokenizer::{Term, Tokenizer};
use crate::text::truncate_bytes;

/// Bytes of the instructions to index. The longest ones in real skills are manuals, whose start states their purpose.
pub(super) const BODY_BYTES: usize = 8 * 1024;
/// Bytes of a description to index.
const DESCRIPTION_BYTES: usize = 8 * 1024;
/// Maximum distinct terms per skill, so that a `u16` can index them.
const MAX_TERMS: usize = u16::MAX as usize - 1;
/// Maximum terms of the instructions kept in order.
const MAX_BODY_SEQUENCE: usize = 700;
/// Separates two fields in a sequence.
pub(super) const FIELD_BREAK: u16 = u16::MAX;

/// Frequency of a term in each field, in four bits each. It stops at 15, beyond which the score hardly changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldCounts([u8; FIELD_COUNT / 2]);

impl FieldCounts {
    fn add(&mut self, field: SearchField) {
        if self.get(field) < 15 {
            self.0[field as usize / 2] += 1 << (field as usize % 2 * 4);
        }
    }

    pub(super) fn get(self, field: SearchField) -> u8 {
        self.0[field as usize / 2] >> (field as usize % 2 * 4) & 15
    }

    pub(super) fn to_array(self) -> [u8; FIELD_COUNT] {
        SearchField::ALL.map(|field| self.get(field))
    }
}

/// Number of terms in each field.
pub(super) type FieldLengths = [u16; FIELD_COUNT];

/// A skill as indexed for search. It has hashed terms and no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchDocument {
    /// Sorted.
    terms: Box<[Term]>,
    counts: Box<[FieldCounts]>,
    lengths: FieldLengths,
    /// The name, the metadata and the instructions as indices into `terms`, in reading order.
    sequence: Box<[u16]>,
    /// Where the name and the metadata end in `sequence`.
    ends: [u16; 2],
    /// Embedding of the name and the description, if there is an embedder.
    embedding: Option<QuantizedVector>,
}

impl SearchDocument {
    /// Version of the tokenization and the serialized format. Documents of different versions cannot be compared.
    pub const VERSION: &'static str = "3";

    /// Returns the terms, sorted.
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the index of a term and its field counts, if the document has it.
    pub(super) fn find_term(&self, term: Term) -> Option<(u16, FieldCounts)> {
        let index = self.terms.binary_search(&term).ok()?;
        Some((u16::try_from(index).ok()?, self.counts[index]))
    }

    /// Returns each term with its field counts.
    pub(super) fn term_counts(&self) -> impl Iterator<Item = (Term, FieldCounts)> {
        self.terms.iter().copied().zip(self.counts.iter().copied())
    }

    /// Returns the number of terms in each field.
    pub(super) fn lengths(&self) -> &FieldLengths {
        &self.lengths
    }

    /// Returns the name, the metadata and the instructions as term indices.
    pub(super) fn sequences(&self) -> [&[u16]; 3] {
        let [name, metadata] = self.ends.map(usize::from);
        let sequence = &self.sequence;
        [
            &sequence[..name],
            &sequence[name..metadata],
            &sequence[metadata..],
        ]
    }

    /// Returns the clauses that say what the skill is not for, as term indices.
    pub(super) fn excluded_clauses(&self) -> impl Iterator<Item = &[u16]> {
        let metadata = self.sequences()[1].split(|index| *index == FIELD_BREAK);
        // The description and the tags come first.
        metadata.skip(METADATA_FIELDS.len() - 2)
    }

    /// Returns the embedding of the name and the description, if any.
    pub fn embedding(&self) -> Option<&QuantizedVector> {
        self.embedding.as_ref()
    }

    /// Sets the embedding of the name and the description.
    #[must_use]
    pub fn with_embedding(mut self, embedding: Option<QuantizedVector>) -> Self {
        self.embedding = embedding;
        self
    }

    /// Serializes the document as fixed-width little-endian integers.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        let [name, metadata] = self.ends.map(usize::from);
        for count in [self.terms.len(), self.sequence.len(), name, metadata] {
            bytes.extend(u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
        }
        bytes.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend(self.terms.iter().flat_map(|term| term.hash().to_le_bytes()));
        bytes.extend(self.counts.iter().flat_map(|counts| counts.0));
        bytes.extend(self.sequence.iter().flat_map(|index| index.to_le_bytes()));
        bytes.extend(self.embedding.iter().flat_map(QuantizedVector::to_bytes));
        bytes
    }

    /// Deserializes a document, or returns `None` if the bytes are not valid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let read_u16 = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        let (head, rest) = bytes.split_at_checked(8 + 2 * FIELD_COUNT)?;
        let mut head = head.chunks_exact(2).map(read_u16);
        let (terms, sequence) = (usize::from(head.next()?), usize::from(head.next()?));
        let ends = [head.next()?, head.next()?];
        let mut lengths = FieldLengths::default();
        (lengths.iter_mut().zip(head)).for_each(|(length, value)| *length = value);
        let (hashes, rest) = rest.split_at_checked(4 * terms)?;
        let (counts, rest) = rest.split_at_checked(FIELD_COUNT / 2 * terms)?;
        let (indices, embedding) = rest.split_at_checked(2 * sequence)?;
        let hashes = hashes.chunks_exact(4);
        let hashes =
            hashes.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let counts = counts.chunks_exact(FIELD_COUNT / 2);
        let document = Self {
            terms: hashes.map(Term::new).collect(),
            counts: counts
                .map(|packed| FieldCounts(std::array::from_fn(|byte| packed[byte])))
                .collect(),
            lengths,
            sequence: indices.chunks_exact(2).map(read_u16).collect(),
            ends,
            embedding: (!embedding.is_empty()).then(|| QuantizedVector::from_bytes(embedding)),
        };
        let is_index = |index: &u16| usize::from(*index) < terms || *index == FIELD_BREAK;
        let is_valid = ends[0] <= ends[1]
            && usize::from(ends[1]) <= sequence
            && document.terms.is_sorted_by(|a, b| a < b)
            && document.sequence.iter().all(is_index);
        is_valid.then_some(document)
    }

    /// Returns the memory size in bytes, without the embedding.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.terms)
            + size_of_val(&*self.counts)
            + size_of_val(&*self.sequence)
    }
}

/// The texts of a skill to index.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DocumentTexts<'a> {
    /// The name.
    pub name: &'a str,
    /// The description.
    pub description: &'a str,
    /// The tags.
    pub tags: &'a [&'a str],
    /// The triggers.
    pub triggers: &'a [&'a str],
    /// The instructions, if they are indexed.
    pub body: Option<&'a str>,
}

setters! {
    DocumentTexts<'a> {
        with_name(name: &'a str),
        with_description(description: &'a str),
        with_tags(tags: &'a [&'a str]),
        with_triggers(triggers: &'a [&'a str]),
        with_body(body: Option<&'a str>),
    }
}

/// Builds documents. It caches the terms of words across documents.
pub struct DocumentBuilder {
    tokenizer: Tokenizer,
    /// The terms of each field of the current document, in reading order.
    field_terms: [Vec<Term>; FIELD_COUNT],
    /// Where each clause after the first begins in the terms of what the skill is not for.
    clause_starts: Vec<usize>,
}

impl DocumentBuilder {
    /// Creates a builder with an empty cache.
    pub fn new() -> Self {
        Self {
            tokenizer: Tokenizer::new(),
            field_terms: Default::default(),
            clause_starts: Vec::new(),
        }
    }

    /// Builds the document of a skill from its manifest and, if given, its instructions.
    pub fn from_manifest(&mut self, manifest: &Manifest, body: Option<&str>) -> SearchDocument {
        let tags: Vec<&str> = manifest.tags().iter().map(|tag| &**tag).collect();
        let texts = triggers(manifest).filter_map(|trigger| match trigger {
            Trigger::Part(text) | Trigger::Word(text) => Some(text),
            Trigger::Pattern(_) => None,
        });
        let texts: Vec<&str> = texts.collect();
        self.from_texts(&DocumentTexts {
            name: manifest.name().as_str(),
            description: manifest.description(),
            tags: &tags,
            triggers: &texts,
            body,
        })
    }

    /// Builds the document of a skill from its texts.
    pub fn from_texts(&mut self, texts: &DocumentTexts<'_>) -> SearchDocument {
        for terms in &mut self.field_terms {
            terms.clear();
        }
        self.clause_starts.clear();
        self.add(texts.name, SearchField::Name);
        let description = truncate_bytes(texts.description, DESCRIPTION_BYTES);
        split_description(description, |text, field| {
            let excluded = self.field_terms[SearchField::Excluded as usize].len();
            if field == SearchField::Excluded && excluded > 0 {
                self.clause_starts.push(excluded);
            }
            self.add(text, field);
        });
        for text in texts.tags.iter().chain(texts.triggers) {
            self.add(text, SearchField::Tags);
        }
        let body = truncate_bytes(texts.body.unwrap_or_default(), BODY_BYTES);
        split_body(body, |text, field| self.add(text, field));
        self.build()
    }

    fn add(&mut self, text: &str, field: SearchField) {
        let terms = &mut self.field_terms[field as usize];
        self.tokenizer
            .for_each_term(text, |term, _| terms.push(term));
    }

    fn build(&self) -> SearchDocument {
        let mut terms: Vec<Term> = self.field_terms.iter().flatten().copied().collect();
        terms.sort_unstable();
        terms.dedup();
        terms.truncate(MAX_TERMS);
        let mut counts = vec![FieldCounts::default(); terms.len()];
        for field in SearchField::ALL {
            for term in &self.field_terms[field as usize] {
                if let Ok(index) = terms.binary_search(term) {
                    counts[index].add(field);
                }
            }
        }
        let lengths =
            |field: usize| u16::try_from(self.field_terms[field].len()).unwrap_or(u16::MAX);
        let mut sequence = self.term_sequence(&terms, &METADATA_FIELDS[..1]);
        let name = sequence.len();
        sequence.extend(self.term_sequence(&terms, &METADATA_FIELDS[1..]));
        let metadata = sequence.len();
        let instructions = [
            SearchField::Opening,
            SearchField::Purpose,
            SearchField::Headings,
            SearchField::Rest,
        ];
        let instructions = self.term_sequence(&terms, &instructions);
        sequence.extend(instructions.into_iter().take(MAX_BODY_SEQUENCE));
        sequence.truncate(usize::from(u16::MAX));
        let end = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        SearchDocument {
            counts: counts.into(),
            lengths: std::array::from_fn(lengths),
            ends: [end(name), end(metadata)],
            sequence: sequence.into(),
            terms: terms.into(),
            embedding: None,
        }
    }

    /// Returns some fields as indices into `terms`, with a [`FIELD_BREAK`] between them.
    fn term_sequence(&self, terms: &[Term], fields: &[SearchField]) -> Vec<u16> {
        let mut sequence = Vec::new();
        for (number, field) in fields.iter().enumerate() {
            if number > 0 {
                sequence.push(FIELD_BREAK);
            }
            let is_excluded = *field == SearchField::Excluded;
            for (place, term) in self.field_terms[*field as usize].iter().enumerate() {
                if is_excluded && self.clause_starts.contains(&place) {
                    sequence.push(FIELD_BREAK);
                }
                let index = terms.binary_search(term).ok();
                sequence.extend(index.and_then(|index| u16::try_from(index).ok()));
            }
        }
        sequence
    }
}

debug!(DocumentBuilder, "DocumentBuilder", |_it| );

impl Default for DocumentBuilder {
    fn default() -> Self {
        Self::new()
    }
}
