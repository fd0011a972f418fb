//! What the engine promises, by its public API.
#![expect(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a test fails by panicking, and may be slow with text"
)]

mod attack;
mod bind;
mod cache;
mod catalog;
mod codes;
mod commands;
mod corpus;
mod corpus_fix;
mod costs;
mod determinism;
mod disclose;
mod discover;
mod distrust;
mod envelope;
mod explain;
mod fake_source;
mod files;
mod fix;
mod folders;
mod held;
mod lint;
mod load;
mod log;
mod manifest;
mod match_cache;
mod matching;
mod outcome;
mod publish;
mod race;
mod refresh;
mod render;
mod repair;
mod resources;
mod scale;
mod scan_cache;
mod search;
mod session;
mod show;
mod skill_digest;
mod snippet;
mod suggest;
mod threads;
mod versions;
mod view;
mod yaml;
