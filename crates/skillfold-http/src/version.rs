//! Numbers for versions of what a token is checked by.

use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a number that was not returned before.
pub(crate) fn next_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
