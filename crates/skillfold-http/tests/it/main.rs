//! Integration tests.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write files of their own, serve keys on the loopback, and fail by panicking"
)]

mod provider;

mod tokens;

mod wrong_tokens;
