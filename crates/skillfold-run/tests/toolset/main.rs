//! Toolsets, with the programs that run them.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write files and start programs, and fail by panicking"
)]

/// Leaves out a test where the system refuses the sandbox, and says why.
macro_rules! needs_sandbox {
    () => {
        skillfold_testkit::needs_sandbox!(skillfold_run::layers())
    };
}

mod skill;

mod reference;

mod definition;

mod language;

mod server;

mod loader;

mod hostile;

mod confined;

mod corrections;

mod docs;

mod speed;

#[cfg(feature = "wasm")]
mod component;

#[cfg(feature = "wasm")]
mod wasm;

#[cfg(feature = "wasm")]
mod wasm_hostile;
