//! What the caches promise.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod disk;
