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

pub(crate) mod report;

pub(crate) mod confine;

pub(crate) use spawn::spawn;

#[cfg(test)]
mod tests;
