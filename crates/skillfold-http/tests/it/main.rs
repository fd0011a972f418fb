//! Integration tests.
#![expect(
    clippy::disallowed_methods,
    reason = "tests write files of their own, and serve keys on the loopback"
)]

mod provider;

mod tokens;

mod wrong_tokens;
