//! A request as search sees it.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::choose::message::Excerpt;
use crate::choose::search::bm25f::{AverageLengths, CorpusStatistics, rarity, real};
use crate::choose::search::embedding::QuantizedVector;
use crate::choose::search::tokenizer::{Term, Terms};
use crate::error::Error;

/// Bytes of a request that are looked at: half of them at its start, half at its end.
const QUERY_BYTES: usize = 16 * 1024;
/// Terms of a request that are looked for: those that say the most.
const TERMS: usize = 60;
/// After so many words a word says half as much: people say first what they want.
const HALF: f32 = 40.0;

/// A request as search sees it: its terms, in their order.
#[derive(Clone, Debug)]
pub struct Query {
    /// Each term once, in the order in which they first stand in the request.
    terms: Vec<Term>,
    /// All terms of the request in its order, as numbers of the above.
    order: Vec<u16>,
    unread: Option<Range<usize>>,
    /// What the request means, where something tells.
    meaning: Option<QuantizedVector>,
    /// Why nothing tells, where something should.
    problem: Option<Arc<str>>,
}

impl Query {
    /// Takes a request apart.
    pub fn new(request: &str) -> Self {
        let looked = Excerpt::new(request, QUERY_BYTES);
        let mut numbers: HashMap<Term, u16> = HashMap::new();
        let (mut terms, mut order) = (Vec::new(), Vec::new());
        Terms::new().each(&looked.text, |term, _| {
            let next = u16::try_from(terms.len()).unwrap_or(u16::MAX);
            let number = *numbers.entry(term).or_insert(next);
            if number == next {
                terms.push(term);
            }
            order.push(number);
        });
        Self {
            terms,
            order,
            unread: looked.unread,
            meaning: None,
            problem: None,
        }
    }

    /// Says what the request means.
    #[must_use]
    pub fn with_embedding(mut self, meaning: Option<QuantizedVector>) -> Self {
        self.meaning = meaning;
        self
    }

    /// Says why it is not known what the request means.
    pub(super) fn without_meaning(mut self, problem: &Error) -> Self {
        self.problem = Some(problem.with_cause().into());
        self
    }

    /// Returns why it is not known what the request means, where something should have told: words alone are compared.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns what the request means, where something told.
    pub fn embedding(&self) -> Option<&QuantizedVector> {
        self.meaning.as_ref()
    }

    /// Returns the terms, each once.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Term> {
        self.terms.iter().copied()
    }

    /// Returns the bytes in the middle of the request that were not looked at, where it is too long.
    pub fn unread(&self) -> Option<Range<usize>> {
        self.unread.clone()
    }

    /// Returns whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// A request, weighed by how rare its terms are among some documents.
#[derive(Clone, Debug)]
pub struct WeightedQuery {
    /// The terms that are looked for, in the order of the request.
    pub(super) terms: Vec<WeightedTerm>,
    /// The pairs of these terms that follow each other in the request, each once and in order.
    pub(super) pairs: Vec<(u8, u8)>,
    pub(super) averages: AverageLengths,
    /// What the request means, where something tells.
    pub(super) meaning: Option<QuantizedVector>,
}

/// A term that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightedTerm {
    pub(super) term: Term,
    /// How much it says.
    pub(super) rarity: f32,
    /// The same, less the later it stands in the request.
    pub(super) weight: f32,
}

impl WeightedQuery {
    /// Weighs a request by what is known of all documents; `with_term` tells how many of them have a term.
    pub fn new(
        query: &Query,
        statistics: &CorpusStatistics,
        with_term: impl Fn(Term) -> u64,
    ) -> Self {
        let mut first = vec![0_u64; query.terms.len()];
        for (at, number) in query.order.iter().enumerate().rev() {
            first[usize::from(*number)] = at as u64;
        }
        let weighed = |(number, term): (u16, &Term)| {
            let rarity = rarity(statistics.documents(), with_term(*term));
            let weight = rarity / (1.0 + real(first[usize::from(number)]) / HALF);
            let term = WeightedTerm {
                term: *term,
                rarity,
                weight,
            };
            (number, term)
        };
        let mut terms: Vec<(u16, WeightedTerm)> = (0..).zip(&query.terms).map(weighed).collect();
        if terms.len() > TERMS {
            terms.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(&b.0)));
            terms.truncate(TERMS);
            terms.sort_by_key(|(number, _)| *number);
        }
        Self {
            pairs: pairs(&query.order, &terms),
            terms: terms.into_iter().map(|(_, term)| term).collect(),
            averages: statistics.averages(),
            meaning: query.meaning.clone(),
        }
    }

    /// Returns the terms that are looked for, each with how much it says.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (Term, f32)> {
        self.terms.iter().map(|asked| (asked.term, asked.weight))
    }
}

/// Returns the pairs of terms that follow each other in a request, by their places among those that are looked for.
fn pairs(order: &[u16], terms: &[(u16, WeightedTerm)]) -> Vec<(u8, u8)> {
    let place = |number: &u16| {
        let at = terms.binary_search_by_key(number, |(number, _)| *number);
        u8::try_from(at.ok()?).ok()
    };
    let both = order.windows(2).filter(|two| two[0] != two[1]);
    let both = both.filter_map(|two| Some((place(&two[0])?, place(&two[1])?)));
    let mut pairs: Vec<(u8, u8)> = both.collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
