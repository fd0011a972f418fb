//! Models that tell what texts mean, from folders that the user names. Nothing is ever fetched.

mod files;

#[cfg(feature = "static-model")]
pub(crate) mod table;

#[cfg(feature = "transformer")]
mod bert;
#[cfg(feature = "transformer")]
pub(crate) mod transformer;
