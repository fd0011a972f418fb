//! What the crate promises with real repositories.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests make repositories, and change files"
)]

mod world;

mod address;

mod age;

mod damage;

mod fetch;

mod folder;

mod http;
