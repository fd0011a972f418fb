//! Hook tests: events in, responses out.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write files and fail by panicking"
)]

mod conversation;
mod events;
mod learned;
mod log;
mod support;
