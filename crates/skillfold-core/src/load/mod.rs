//! Instructions for a model: one skill, whole, on demand.
//!
//! Reading order is dependency order.

pub(crate) mod envelope;
