//! What a person sees who types `skillfold`.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_collect,
    reason = "tests start the command, may be slow with text, and fail by panicking"
)]

mod client_views;
mod command;

mod access;
mod attack;
mod check;
mod compose;
mod config;
mod conformance;
mod damage;
mod formats;
mod formats_of_sources;
mod hidden;
mod hook;
mod improve;
mod list;
mod load;
mod overlap;
mod proposals;
mod reference;
mod report;
mod revoke;
mod run;
mod search;
mod serve;
mod sessions;
mod setup;
mod setup_hook;
mod setup_list;
#[cfg(target_os = "linux")]
mod source;
mod stats;
mod terminal;
mod test_command;
mod trust;
mod trust_skills;
mod update;
mod why;
#[cfg(target_os = "linux")]
mod writing;
