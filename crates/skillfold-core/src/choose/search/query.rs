//! A request as search sees it.

use std::ops::Range;

use hashbrown::HashMap;

use crate::choose::message::Looked;
use crate::choose::search::bm25f::{Averages, Statistics, Worth, rarity};
use crate::choose::search::document::Document;
use crate::choose::search::words::{Term, Terms};

/// Bytes of a request that are looked at: half of them at its start, half at its end.
const QUERY_BYTES: usize = 16 * 1024;
/// Terms of a request that are looked for, the rarest of them.
const TERMS: usize = 48;

/// A request as search sees it: its terms, in their order.
#[derive(Clone, Debug)]
pub struct Query {
    /// Each term once, in the order in which they first stand in the request.
    asked: Vec<Asked>,
    /// All terms of the request, as numbers of `asked`.
    pub(super) order: Vec<u16>,
    unread: Option<Range<usize>>,
}

/// A term of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) term: Term,
    pub(super) times: u16,
}

impl Query {
    /// Takes a request apart.
    pub fn new(request: &str) -> Self {
        let looked = Looked::new(request, QUERY_BYTES);
        let mut numbers: HashMap<Term, u16> = HashMap::new();
        let (mut asked, mut order) = (Vec::new(), Vec::new());
        Terms::new().each(&looked.text, |term, _| {
            let next = u16::try_from(asked.len()).unwrap_or(u16::MAX);
            let number = *numbers.entry(term).or_insert(next);
            if number == next {
                asked.push(Asked { term, times: 0 });
            }
            let times = &mut asked[usize::from(number)].times;
            *times = times.saturating_add(1);
            order.push(number);
        });
        Self {
            asked,
            order,
            unread: looked.unread,
        }
    }

    /// Returns the terms, each once.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Term> {
        self.asked.iter().map(|asked| asked.term)
    }

    /// Returns the bytes in the middle of the request that were not looked at, where it is too long.
    pub fn unread(&self) -> Option<Range<usize>> {
        self.unread.clone()
    }

    /// Returns whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }
}

/// A request, weighed by how rare its terms are among some documents.
#[derive(Clone, Debug)]
pub struct Weighed<'q> {
    query: &'q Query,
    /// The terms that are looked for, in the order of the request.
    terms: Vec<WeighedTerm>,
    averages: Averages,
}

/// A term that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeighedTerm {
    pub(super) term: Term,
    /// Its number in the request.
    pub(super) number: u16,
    /// How much it says.
    pub(super) weight: f32,
}

impl<'q> Weighed<'q> {
    /// Weighs a request by what is known of all documents; `with_term` tells how many of them have a term.
    pub fn new(query: &'q Query, statistics: &Statistics, with_term: impl Fn(Term) -> u64) -> Self {
        let mut terms: Vec<WeighedTerm> = (0..)
            .zip(&query.asked)
            .map(|(number, asked)| WeighedTerm {
                term: asked.term,
                number,
                weight: rarity(statistics.documents(), with_term(asked.term)),
            })
            .collect();
        if terms.len() > TERMS {
            terms.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.number.cmp(&b.number)));
            terms.truncate(TERMS);
            terms.sort_by_key(|term| term.number);
        }
        Self {
            query,
            terms,
            averages: statistics.averages(),
        }
    }

    /// Returns what is looked for: the terms of the request, or the rarest where it has many.
    pub fn wanted(&self) -> impl ExactSizeIterator<Item = Term> {
        self.terms.iter().map(|asked| asked.term)
    }

    /// Returns the terms that are looked for.
    pub(super) fn terms(&self) -> &[WeighedTerm] {
        &self.terms
    }

    /// Returns how well a document answers the request.
    pub(super) fn score(&self, document: &Document) -> f32 {
        let worth = Worth::new(document.lengths(), &self.averages);
        let answered = self.terms.iter().filter_map(|asked| {
            let counts = document.counts(asked.term)?;
            Some(asked.weight * worth.answers(*counts))
        });
        answered.sum()
    }
}
