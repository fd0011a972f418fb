//! What the library promises a host.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod roots;
mod settings;
mod snapshots;
mod world;
