//! What the engine promises, by its public API.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a test fails by panicking, says what it skips, and may be slow with text"
)]

mod catalog;
mod codes;
mod corpus;
mod discover;
mod envelope;
mod fix;
mod lint;
mod manifest;
mod refresh;
mod repair;
mod resources;
mod scale;
mod show;
mod snippet;
mod view;
mod yaml;
