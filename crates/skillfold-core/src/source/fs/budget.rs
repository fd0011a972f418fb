//! A walk budget that several untrusted folders share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::codes::Code;
use crate::error::{Error, Refusal};
use crate::limits::Limits;
use crate::source::{Finding, WalkOptions};

/// Maximum folders without a skill to list in untrusted roots. A typical project has some tens of skills in few
/// folders.
const MAX_FOLDERS: usize = 1_000;
/// Maximum directory entries to visit in untrusted roots.
const MAX_ENTRIES: usize = 20_000;
/// Maximum skills to find in untrusted roots.
const MAX_SKILLS: usize = 1_000;
/// Maximum bytes of long frontmatter to read in untrusted roots, beyond the head of each file.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A budget for walking untrusted folders, shared by all of them. Otherwise each folder would have the full [`Limits`],
/// and a project can name many folders.
///
/// Clones share the budget. Create a new one for each full scan.
#[derive(Clone, Debug)]
pub struct UntrustedBudget(Arc<RemainingBudget>);

#[derive(Debug)]
struct RemainingBudget {
    counts: Mutex<WalkCounts>,
    bytes: AtomicUsize,
}

/// Amounts that remain in the budget, or that a walk used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkCounts {
    pub(super) folders: usize,
    pub(super) entries: usize,
    pub(super) skills: usize,
}

impl Default for UntrustedBudget {
    fn default() -> Self {
        Self(Arc::new(RemainingBudget {
            counts: Mutex::new(WalkCounts {
                folders: MAX_FOLDERS,
                entries: MAX_ENTRIES,
                skills: MAX_SKILLS,
            }),
            bytes: AtomicUsize::new(MAX_BYTES),
        }))
    }
}

impl UntrustedBudget {
    /// Returns the options with limits lowered to the remaining budget.
    pub(super) fn restrict(&self, options: &WalkOptions) -> WalkOptions {
        let left = *self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = &options.limits;
        WalkOptions {
            limits: Limits {
                walk_folders: limits.walk_folders.min(left.folders),
                walk_entries: limits.walk_entries.min(left.entries),
                skills: limits.skills.min(left.skills),
                ..limits.clone()
            },
            ..options.clone()
        }
    }

    /// Deducts what a walk used, and adds a finding if the budget is exhausted.
    pub(super) fn spend(&self, used: WalkCounts, findings: &mut Vec<Finding>) {
        let mut left = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        left.folders = left.folders.saturating_sub(used.folders);
        left.entries = left.entries.saturating_sub(used.entries);
        left.skills = left.skills.saturating_sub(used.skills);
        if left.folders == 0 || left.entries == 0 || left.skills == 0 {
            let what = format!(
                "In untrusted folders, at most {MAX_FOLDERS} folders, {MAX_ENTRIES} entries and {MAX_SKILLS} skills are searched; trust the project to see the rest:"
            );
            findings.push(Finding::new(Code::BoundReached, "", &what));
        }
    }

    /// Deducts bytes before they are read, or refuses the read if too few are left.
    pub(super) fn take_bytes(&self, bytes: usize, what: &str) -> Result<(), Error> {
        let left = &self.0.bytes;
        let deduct = |left: usize| left.checked_sub(bytes);
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, deduct) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::refused(
                what,
                Refusal::TooLarge,
                "Too much frontmatter for an untrusted project; trust it to read the rest",
            )),
        }
    }
}
