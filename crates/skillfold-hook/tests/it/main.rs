//! Tests of hooks: events in, answers out.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write files and fail by panicking"
)]

mod conversation;
mod events;
mod support;
