//! What the caches promise.

mod metadata;
