//! The sandbox on Linux.
#![expect(
    unsafe_code,
    reason = "system calls of the sandbox, each with its reason"
)]

pub(crate) mod sys;

mod landlock;

mod seccomp;

mod cgroup;

mod kernel_mounts;

mod loopback;

mod plan;

mod child;

mod spawn;

mod cause;

mod report;

mod confine;

mod plain;

mod built_in;

mod bubblewrap;

pub use bubblewrap::Bubblewrap;
pub use built_in::BuiltIn;

#[cfg(test)]
mod tests;
