//! Skills by the words of a request, the best first.

pub(crate) mod words;

pub(crate) mod meaning;
mod parts;

pub(crate) mod document;

pub(crate) mod bm25f;

pub(crate) mod query;

mod features;

pub(crate) mod rank;

mod segment;

pub(crate) mod snippet;

pub(crate) mod index;
