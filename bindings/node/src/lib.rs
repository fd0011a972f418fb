//! The native half of the Node package: calls of the engine, and their answers as JSON. `js/` is the half that people see.

// Node tests it: what JavaScript calls has no caller here.
#![cfg(not(test))]
#![expect(
    unreachable_pub,
    missing_debug_implementations,
    clippy::needless_pass_by_value,
    reason = "what JavaScript calls is public, takes values, and is shown there"
)]

mod promise;

mod instructions;

mod watcher;

mod session;

mod agent;

mod skills;

mod stats;
