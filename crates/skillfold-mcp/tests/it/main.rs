//! The server's guarantees, tested with the SDK's own client in the same process.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

/// Leaves out a test where the system refuses the sandbox, and says why.
#[cfg(target_os = "linux")]
macro_rules! needs_sandbox {
    () => {
        skillfold_testkit::needs_sandbox!(skillfold::run::layers())
    };
}

// The counting allocator.
#[path = "../../../../bench/src/allocator.rs"]
mod allocator;
mod client;

mod crowd;
mod hidden;
mod hostile;
mod http;
mod identities;
mod live;
mod observed;
mod pages;
mod prompts;
#[cfg(target_os = "linux")]
mod roots;
#[cfg(target_os = "linux")]
mod scripts;
mod skills;
mod tools;
