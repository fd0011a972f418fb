//! Embedding models, loaded from folders that the user configures. Nothing is ever downloaded.

mod files;

#[cfg(feature = "static-model")]
pub(crate) mod static_model;

#[cfg(feature = "transformer")]
mod bert;
#[cfg(feature = "transformer")]
pub(crate) mod transformer;
