//! Times that no program can set.
//!
//! Creating and renaming sets the change time. So something that was last changed before a run was there before it, even
//! if the search missed it because somebody renamed a folder just then.

use std::os::fd::BorrowedFd;

#[cfg(target_os = "linux")]
use rustix::time::{ClockId, clock_gettime};

use super::folders::{FileNumber, inode_of};

/// File systems whose times are those of this machine: ext4, XFS, Btrfs, F2FS, ZFS, tmpfs, overlays.
#[cfg(target_os = "linux")]
const OWN_CLOCK: [u32; 7] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0x0102_1994,
    0x794c_7630,
];

/// The start of a run, by the clock of a file system.
#[derive(Debug)]
pub(super) struct RunStart {
    device: u64,
    /// In nanoseconds; `None` if the file system has a clock of its own.
    time: Option<i128>,
}

impl RunStart {
    pub(super) fn on(folder: BorrowedFd<'_>) -> Self {
        Self {
            device: inode_of(folder).map_or(0, |(device, _)| device),
            time: now_on(folder),
        }
    }

    /// Returns whether something was last changed before the run. Other file systems have other clocks.
    pub(super) fn is_after(&self, (device, _): FileNumber, changed: i128) -> bool {
        device == self.device && self.time.is_some_and(|time| time > changed)
    }
}

#[cfg(target_os = "linux")]
fn now_on(folder: BorrowedFd<'_>) -> Option<i128> {
    let kind = rustix::fs::fstatfs(folder).ok()?.f_type;
    let has_own_clock = OWN_CLOCK.iter().any(|known| i64::from(*known) == kind);
    let now = clock_gettime(ClockId::Realtime);
    // The kernel's clock for files is a few milliseconds behind.
    has_own_clock.then(|| nanoseconds(now.tv_sec, now.tv_nsec) - 100_000_000)
}

#[cfg(not(target_os = "linux"))]
fn now_on(_: BorrowedFd<'_>) -> Option<i128> {
    None
}

pub(super) fn nanoseconds(seconds: impl Into<i128>, rest: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + rest.into()
}
