//! What stays read-only in the folders that a run may write: repositories, settings of clients, skills.
//!
//! Only one run at a time writes to a folder: two that help each other could hide from the search what is in it.
//! Where such a thing exists, the sandbox mounts it read-only. Where it does not, no file system can forbid a name; what
//! a run created is moved aside before anybody gets the run's answer. Links are no way around: what they lead to stays
//! read-only, and after the run they must lead to the same.

mod correction;

#[cfg(unix)]
mod folders;

#[cfg(unix)]
mod clock;

#[cfg(unix)]
mod aside;

#[cfg(unix)]
mod locks;

#[cfg(unix)]
mod search;

#[cfg(unix)]
mod lead;

#[cfg(unix)]
mod watch;

use std::path::PathBuf;

pub use correction::Correction;

use crate::approved_path::OpenedPath;
use crate::error::RunError;
use crate::protected::Protected;

/// Something in a writable folder that stays read-only.
#[derive(Debug)]
pub(crate) struct ReadOnlyPart {
    /// The path without links.
    pub(crate) real: PathBuf,
    /// Where the run sees it.
    pub(crate) path: PathBuf,
    pub(crate) inode: (u64, u64),
}

/// Watches over the folders that a run may write.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub(crate) parts: Vec<ReadOnlyPart>,
    #[cfg(unix)]
    watched: Option<watch::Watched>,
}

impl Guard {
    /// Finds what stays read-only in the writable folders. Waits until no other run writes to them, or `is_over`.
    #[cfg(unix)]
    pub(crate) fn new(
        granted: &[OpenedPath],
        protected: &Protected,
        is_over: impl Fn() -> bool,
    ) -> Result<Self, RunError> {
        let watched = watch::Watched::new(granted, protected, &is_over)?;
        let parts = watched.iter().flat_map(watch::Watched::read_only_parts);
        let parts = parts.map(|(real, path, inode)| ReadOnlyPart { real, path, inode });
        Ok(Self {
            parts: parts.collect(),
            watched,
        })
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
    pub(crate) fn new(
        _: &[OpenedPath],
        _: &Protected,
        _: impl Fn() -> bool,
    ) -> Result<Self, RunError> {
        Ok(Self::default())
    }

    /// Moves aside what the run created that stays read-only, and puts links back. Call it when every process of the run
    /// has ended, or the next one is created behind its back.
    pub(crate) fn check(&self) -> Vec<Correction> {
        #[cfg(unix)]
        return self
            .watched
            .as_ref()
            .map_or_else(Vec::new, watch::Watched::check);
        #[cfg(not(unix))]
        Vec::new()
    }
}
