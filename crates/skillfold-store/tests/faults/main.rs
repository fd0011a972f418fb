//! What the store guarantees when calls fail, when it is killed, when power is lost, and under concurrent access.
//!
//! docs/testing.md says what is tested, and the results.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks at the disk behind the store's back"
)]

mod tree;

mod home;

mod scenario;

mod check;

mod points;

mod disk;
mod random;

mod replay;

mod race;

mod many;
