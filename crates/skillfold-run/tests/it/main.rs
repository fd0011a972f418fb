//! What the sandbox guarantees, tested from the inside.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read and write files of their own, start processes, and fail at any error"
)]

/// Leaves out a test where the system refuses the sandbox, and says why.
macro_rules! needs_sandbox {
    () => {
        skillfold_testkit::needs_sandbox!(crate::skill::report())
    };
}

mod host;
mod skill;

mod arguments;
mod copies;
mod grants;
mod guard;
mod guard_attacks;
mod hostile;
mod network;
mod packages;
mod probes;
mod project_attacks;
mod scripts;
