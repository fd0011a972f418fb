//! What the library promises a host.
#![expect(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "a test fails by panicking and may be slow with text"
)]

/// Leaves out a test where the system refuses the sandbox, and says why.
#[cfg(all(feature = "run", target_os = "linux"))]
macro_rules! needs_sandbox {
    () => {
        skillfold_testkit::needs_sandbox!(skillfold::run::layers())
    };
}

mod attack;
mod bind;
#[cfg(feature = "reports")]
mod conformance;
#[cfg(all(feature = "run", target_os = "linux"))]
mod corrections;
mod counting;
mod examples;
mod flows;
#[cfg(feature = "tokio")]
mod futures;
#[cfg(all(feature = "run", target_os = "linux"))]
mod grants;
mod hidden;
mod injection;
mod keyword;
mod load;
mod load_skill;
mod meaning;
mod model;
#[cfg(all(feature = "run", target_os = "linux"))]
mod network;
#[cfg(feature = "reports")]
mod overlap;
#[cfg(all(feature = "run", target_os = "linux"))]
mod packages;
#[cfg(feature = "store")]
mod pins;
#[cfg(feature = "registry")]
mod policy;
#[cfg(all(feature = "run", target_os = "linux"))]
mod project;
#[cfg(feature = "store")]
mod proposals;
mod race;
mod reads;
#[cfg(feature = "registry")]
mod registry;
mod roots;
#[cfg(feature = "index")]
mod scan_cache;
#[cfg(all(feature = "run", target_os = "linux"))]
mod scripts;
#[cfg(feature = "index")]
mod search_disk;
mod settings;
mod snapshots;
#[cfg(feature = "reports")]
mod stats;
mod tools;
#[cfg(feature = "store")]
mod trust;
#[cfg(feature = "store")]
mod trusted_skills;
#[cfg(unix)]
mod untrusted;
mod versions;
#[cfg(feature = "watch")]
mod warnings;
mod watch;
mod world;
