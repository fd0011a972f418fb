//! Ranked full-text search over skills.

pub(crate) mod tokenizer;

pub(crate) mod embedding;
mod fields;

pub(crate) mod document;

pub(crate) mod bm25f;

pub(crate) mod query;

mod features;

pub(crate) mod rank;

mod segment;

pub(crate) mod snippet;

pub(crate) mod index;
