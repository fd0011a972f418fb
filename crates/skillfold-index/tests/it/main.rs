//! What the caches promise.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the files of a cache, damage them, and start processes"
)]

mod disk;
mod metadata;
#[cfg(feature = "static-model")]
mod model;
mod vectors;
