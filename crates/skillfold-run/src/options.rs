//! Options for running scripts, toolsets and installers.

use std::path::PathBuf;

use crate::layers::Accept;
use crate::limits::RunLimits;
use crate::permissions::Permissions;
use crate::supervise::Cancel;

/// The folders that programs are looked up in by default.
pub const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Limits, permissions and other options. By default: the limits of [`RunLimits`], no permissions, no layer may be
/// missing, programs from the [`SYSTEM_FOLDERS`].
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub(crate) limits: RunLimits,
    pub(crate) permissions: Permissions,
    pub(crate) accept: Accept,
    pub(crate) search: Vec<PathBuf>,
    pub(crate) cancel: Cancel,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            limits: RunLimits::default(),
            permissions: Permissions::default(),
            accept: Accept::default(),
            search: SYSTEM_FOLDERS.map(PathBuf::from).into(),
            cancel: Cancel::default(),
        }
    }
}

impl RunOptions {
    /// Sets the limits. For a toolset, [`wall_time`](RunLimits::wall_time) applies to each call, and to the start.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what it may access beyond its skill.
    #[must_use]
    pub fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Sets the sandbox layers that may be missing.
    #[must_use]
    pub fn with_accepted(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// Sets the folders that programs are looked up in.
    #[must_use]
    pub fn with_search_path(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.search = folders.into_iter().collect();
        self
    }

    /// Sets the cancellation token. A cancelled toolset answers every call with `cancelled`.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Returns the limits.
    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Returns what it may access beyond its skill.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Returns the cancellation token.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}
