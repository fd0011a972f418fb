//! All calls that change the disk go through here, so tests can count them and make any of them fail.
//!
//! Without the `faults` feature nothing is counted and nothing fails. With it, each thread has its own plan, so tests
//! can run in parallel.

use std::fs::File;
use std::io::{self, Write};

/// A call as the file system sees it. Folders and files are identified by inode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "faults"),
    allow(
        clippy::allow_attributes,
        dead_code,
        unreachable_pub,
        reason = "only tests look at the calls"
    )
)]
#[cfg_attr(
    feature = "faults",
    expect(
        missing_docs,
        clippy::exhaustive_enums,
        reason = "named as the system's calls, and a test has to know each"
    )
)]
pub enum Step {
    CreateFile {
        folder: u64,
        name: String,
        inode: u64,
    },
    CreateFolder {
        folder: u64,
        name: String,
        inode: u64,
    },
    Link {
        folder: u64,
        name: String,
        other: u64,
    },
    LinkTo {
        folder: u64,
        name: String,
        target: String,
    },
    Rename {
        folder: u64,
        from: String,
        to: String,
    },
    Exchange {
        folder: u64,
        one: String,
        other: String,
    },
    Remove {
        folder: u64,
        name: String,
    },
    Write {
        file: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: u64,
        length: u64,
    },
    Flush {
        inode: u64,
    },
}

/// Writes all of `bytes` at the file's current position.
pub(crate) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    let reached = reach(|| Step::Write {
        file: inode(file),
        bytes: bytes.to_owned(),
    });
    match reached {
        // A full disk writes only part of the bytes.
        Err(error) if cfg!(feature = "faults") && error.kind() == io::ErrorKind::WriteZero => {
            file.write_all(&bytes[..bytes.len() / 2])?;
            Err(error)
        }
        reached => reached.and_then(|()| file.write_all(bytes)),
    }
}

/// Truncates the file.
pub(crate) fn truncate(file: &File, length: u64) -> io::Result<()> {
    reach(|| Step::Truncate {
        file: inode(file),
        length,
    })?;
    file.set_len(length)
}

/// Flushes the file to the disk.
pub(crate) fn flush(file: &File) -> io::Result<()> {
    reach(|| Step::Flush { inode: inode(file) })?;
    file.sync_all()
}

#[cfg(unix)]
pub(crate) fn inode(file: &File) -> u64 {
    use std::os::unix::fs::MetadataExt;

    file.metadata().map_or(0, |metadata| metadata.ino())
}

#[cfg(not(unix))]
pub(crate) fn inode(_: &File) -> u64 {
    0
}

/// Fails if a test wants this call to fail.
#[cfg(not(feature = "faults"))]
#[expect(clippy::unnecessary_wraps, reason = "fails in tests")]
pub(crate) fn reach(_: impl FnOnce() -> Step) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
pub use self::plan::{Fault, inject, record, without_exchange};
#[cfg(feature = "faults")]
pub(crate) use self::plan::{can_exchange, created, reach};

#[cfg(feature = "faults")]
mod plan {
    use std::cell::{Cell, RefCell};
    use std::io;

    use rustix::process::{Signal, getpid, kill_process};

    use super::Step;

    /// A fault to inject at a call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Fault {
        /// The process is killed before the call.
        Kill,
        /// The call fails with this OS error number, and no other call does.
        Error(i32),
        /// The call and all later ones that need space fail with this OS error number.
        Lasting(i32),
        /// A write stores half of its bytes. Any other call fails right away.
        ShortWrite,
    }

    #[derive(Default)]
    struct Plan {
        steps: Vec<Step>,
        at: Option<(usize, Fault)>,
    }

    thread_local! {
        static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
        static CAN_EXCHANGE: Cell<bool> = const { Cell::new(true) };
    }

    /// Runs `operation` as on a file system that can only do plain renames: no exchange, no rename without overwriting.
    pub fn without_exchange<T>(operation: impl FnOnce() -> T) -> T {
        CAN_EXCHANGE.set(false);
        let result = operation();
        CAN_EXCHANGE.set(true);
        result
    }

    pub(crate) fn can_exchange() -> bool {
        CAN_EXCHANGE.get()
    }

    /// Runs `operation` and returns its result with the calls it made.
    pub fn record<T>(operation: impl FnOnce() -> T) -> (T, Vec<Step>) {
        run(Plan::default(), operation)
    }

    /// Runs `operation` with a fault at call number `at`, counted from 0. Also returns the calls it made.
    pub fn inject<T>(at: usize, fault: Fault, operation: impl FnOnce() -> T) -> (T, Vec<Step>) {
        let plan = Plan {
            steps: Vec::new(),
            at: Some((at, fault)),
        };
        run(plan, operation)
    }

    fn run<T>(plan: Plan, operation: impl FnOnce() -> T) -> (T, Vec<Step>) {
        PLAN.set(Some(plan));
        let result = operation();
        let plan = PLAN.take().unwrap_or_default();
        (result, plan.steps)
    }

    /// Fails if the plan wants this call to fail.
    pub(crate) fn reach(step: impl FnOnce() -> Step) -> io::Result<()> {
        PLAN.with_borrow_mut(|plan| {
            let Some(plan) = plan else {
                return Ok(());
            };
            let (number, step) = (plan.steps.len(), step());
            let is_write = matches!(step, Step::Write { .. });
            let needs_space = is_write
                || matches!(
                    step,
                    Step::CreateFile { .. } | Step::CreateFolder { .. } | Step::Link { .. }
                );
            plan.steps.push(step);
            let Some((at, fault)) = plan.at else {
                return Ok(());
            };
            match fault {
                Fault::Kill if number == at => {
                    _ = kill_process(getpid(), Signal::KILL);
                    Ok(())
                }
                Fault::Error(error) if number == at => Err(io::Error::from_raw_os_error(error)),
                Fault::Lasting(error) if number == at || (number > at && needs_space) => {
                    Err(io::Error::from_raw_os_error(error))
                }
                Fault::ShortWrite if number == at && is_write => {
                    Err(io::ErrorKind::WriteZero.into())
                }
                Fault::ShortWrite if number == at => Err(io::ErrorKind::StorageFull.into()),
                _ => Ok(()),
            }
        })
    }

    /// Records the inode of the file or folder that the last call created.
    pub(crate) fn created(found: u64) {
        PLAN.with_borrow_mut(|plan| {
            let last = plan.as_mut().and_then(|plan| plan.steps.last_mut());
            if let Some(Step::CreateFile { inode, .. } | Step::CreateFolder { inode, .. }) = last {
                *inode = found;
            }
        });
    }
}
