//! Embedding models, loaded from folders that the user configures. Nothing is ever downloaded.

mod files;

pub(crate) mod static_model;
