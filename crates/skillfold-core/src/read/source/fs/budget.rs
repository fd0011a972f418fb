//! What the searches of several folders may do together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::codes::Code;
use crate::error::Error;
use crate::limits::Limits;
use crate::read::source::{Finding, WalkOptions};

/// Folders without a skill that are listed in what is not trusted. A project has some tens of skills, in few folders.
const FOLDERS: usize = 1_000;
/// Directory entries that are looked at there.
const ENTRIES: usize = 20_000;
/// Skills that are found there.
const SKILLS: usize = 1_000;
/// Bytes of long frontmatter that are read there, beyond the start of each file.
const BYTES: usize = 4 * 1024 * 1024;

/// What the searches of all folders may do together that nobody trusted. Without it each of them has the whole of
/// [`Limits`], and a project can name many.
///
/// A clone is the same budget. It is made anew for each look at all roots.
#[derive(Clone, Debug)]
pub struct UntrustedBudget(Arc<RemainingBudget>);

#[derive(Debug)]
struct RemainingBudget {
    walks: Mutex<WalkCounts>,
    bytes: AtomicUsize,
}

/// What is left, or what was used, of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkCounts {
    pub(super) folders: usize,
    pub(super) entries: usize,
    pub(super) skills: usize,
}

impl Default for UntrustedBudget {
    fn default() -> Self {
        Self(Arc::new(RemainingBudget {
            walks: Mutex::new(WalkCounts {
                folders: FOLDERS,
                entries: ENTRIES,
                skills: SKILLS,
            }),
            bytes: AtomicUsize::new(BYTES),
        }))
    }
}

impl UntrustedBudget {
    /// Returns the same walk, which may do no more than what is left.
    pub(super) fn bounded(&self, walk: &WalkOptions) -> WalkOptions {
        let left = *self.0.walks.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = &walk.limits;
        WalkOptions {
            limits: Limits {
                walk_folders: limits.walk_folders.min(left.folders),
                walk_entries: limits.walk_entries.min(left.entries),
                skills: limits.skills.min(left.skills),
                ..limits.clone()
            },
            ..walk.clone()
        }
    }

    /// Notes what a walk did, and says so where the next one can do nothing more.
    pub(super) fn spend(&self, used: WalkCounts, findings: &mut Vec<Finding>) {
        let mut left = self.0.walks.lock().unwrap_or_else(PoisonError::into_inner);
        left.folders = left.folders.saturating_sub(used.folders);
        left.entries = left.entries.saturating_sub(used.entries);
        left.skills = left.skills.saturating_sub(used.skills);
        if left.folders == 0 || left.entries == 0 || left.skills == 0 {
            let what = format!(
                "In untrusted folders, at most {FOLDERS} folders, {ENTRIES} entries and {SKILLS} skills are searched; trust the project to see the rest:"
            );
            findings.push(Finding::new(Code::BoundReached, "", &what));
        }
    }

    /// Takes bytes that are to be read of a file; refuses them where there are no more.
    pub(super) fn take(&self, bytes: usize, what: &str) -> Result<(), Error> {
        let left = &self.0.bytes;
        let less = |left: usize| left.checked_sub(bytes);
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::refused(
                what,
                "Too much frontmatter for an untrusted project; trust it to read the rest",
            )),
        }
    }
}
