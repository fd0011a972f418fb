//! Ranked full-text search over skills.

pub(crate) mod tokenizer;

pub(crate) mod embedding;
pub(crate) mod fields;

pub(crate) mod document;

pub(crate) mod bm25f;

pub(crate) mod query;

mod features;

pub(crate) mod common_words;

pub(crate) mod shared_terms;

pub(crate) mod activation;

pub(crate) mod rank;

mod segment;

pub(crate) mod snippet;

pub(crate) mod index;

pub use bm25f::CorpusStatistics;
pub use document::{DocumentBuilder, DocumentTexts, SearchDocument};
pub use embedding::{Embedder, QuantizedVector};
pub use fields::purpose_sentences;
pub use index::{IndexResults, SearchCoverage, SearchHit, SearchIndex};
pub use query::{Query, WeightedQuery};
pub use rank::{MAX_CANDIDATES, Ranked};
pub use shared_terms::{SharedTerm, shared_terms};
pub use snippet::Snippet;
pub use tokenizer::Term;
