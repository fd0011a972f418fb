//! What the library promises a host.
#![expect(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "a test fails by panicking and may be slow with text"
)]

mod attack;
mod bind;
mod conformance;
mod counting;
mod examples;
mod flows;
mod hidden;
mod injection;
mod keyword;
mod load;
mod load_skill;
mod meaning;
mod model;
mod overlap;
mod race;
mod reads;
#[cfg(feature = "index")]
mod remember;
mod roots;
#[cfg(feature = "index")]
mod search_disk;
mod settings;
mod snapshots;
mod stats;
mod tools;
#[cfg(feature = "store")]
mod trust;
#[cfg(unix)]
mod untrusted;
#[cfg(feature = "watch")]
mod watch;
mod world;
