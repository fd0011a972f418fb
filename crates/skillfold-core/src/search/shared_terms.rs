//! The terms that several texts share and another text lacks.

use std::collections::{BTreeMap, BTreeSet};

use crate::search::common_words::is_common_word;
use crate::search::tokenizer::{Term, Tokenizer};

/// A word that several requests have.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SharedTerm {
    /// The shortest form of the word in the requests, in lower case.
    pub word: String,
    /// How many of the requests have it, in any form.
    pub requests: usize,
}

/// Returns the words that at least two of the requests have and no known text has, most frequent first; of a single request, all
/// such words. Forms of one word count as the same, and words that requests of any kind have are left out. At most `limit`.
///
/// ```
/// use skillfold_core::search::shared_terms;
///
/// let requests = ["Reconcile the ledger of May", "The ledgers do not reconcile"];
/// let terms = shared_terms(&requests, &["Reconciles bank accounts"], 5);
/// assert_eq!((terms.len(), &*terms[0].word, terms[0].requests), (1, "ledger", 2));
/// ```
pub fn shared_terms(requests: &[&str], known: &[&str], limit: usize) -> Vec<SharedTerm> {
    let mut tokenizer = Tokenizer::new();
    let mut known_terms = BTreeSet::new();
    for text in known {
        tokenizer.for_each_term(text, |term, _| {
            known_terms.insert(term.hash());
        });
    }
    let mut found: BTreeMap<u32, SharedTerm> = BTreeMap::new();
    for request in requests {
        let mut own = BTreeSet::new();
        tokenizer.for_each_term(request, |term: Term, range| {
            let word = request[range].to_lowercase();
            let shared = found.entry(term.hash()).or_insert_with(|| SharedTerm {
                word: word.clone(),
                requests: 0,
            });
            shared.requests += usize::from(own.insert(term.hash()));
            if (word.len(), &word) < (shared.word.len(), &shared.word) {
                shared.word = word;
            }
        });
    }
    let enough = requests.len().min(2);
    let is_new = |(hash, term): &(u32, SharedTerm)| {
        term.requests >= enough && !known_terms.contains(hash) && !is_common_word(&term.word)
    };
    let found = found.into_iter().filter(is_new);
    let mut found: Vec<_> = found.map(|(_, term)| term).collect();
    found.sort_by(|one, other| {
        let by_count = other.requests.cmp(&one.requests);
        by_count.then_with(|| one.word.cmp(&other.word))
    });
    found.truncate(limit);
    found
}
