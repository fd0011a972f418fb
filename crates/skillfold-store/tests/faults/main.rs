//! What the store promises when calls fail, when it is killed, when the power goes, and when others act at the same time.
//!
//! docs/testing.md says what is tried and what came of it.
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
