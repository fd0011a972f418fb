//! Options for running scripts, toolsets and installers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::installed::find;
use crate::layers::Accept;
use crate::limits::RunLimits;
use crate::network::{ConnectionObserver, Resolver};
use crate::permissions::Permissions;
use crate::sandbox::Sandbox;
use crate::scripts::Script;
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
    pub(crate) sandbox: Option<Arc<dyn Sandbox>>,
    pub(crate) search: Vec<PathBuf>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) cancel: Cancel,
    pub(crate) resolver: Resolver,
    pub(crate) connections: Option<ConnectionObserver>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            limits: RunLimits::default(),
            permissions: Permissions::default(),
            accept: Accept::default(),
            sandbox: None,
            search: SYSTEM_FOLDERS.map(PathBuf::from).into(),
            directory: None,
            cancel: Cancel::default(),
            resolver: Resolver::default(),
            connections: None,
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

    /// Sets the sandbox. By default it is the first of this system's [sandboxes](crate::sandboxes) that has all layers.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: impl Sandbox + 'static) -> Self {
        self.sandbox = Some(Arc::new(sandbox));
        self
    }

    /// Sets the folders that programs are looked up in.
    #[must_use]
    pub fn with_search_path(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.search = folders.into_iter().collect();
        self
    }

    /// Sets the working directory, a path of the host. A run sees in it what it was granted there. By default it is the
    /// skill's folder.
    #[must_use]
    pub fn with_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the cancellation token. A cancelled toolset answers every call with `cancelled`.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the function that looks up the names of [hosts](Permissions::with_hosts).
    #[must_use]
    pub fn with_resolver(mut self, resolver: Resolver) -> Self {
        self.resolver = resolver;
        self
    }

    /// Sets the function that receives connections to [hosts](Permissions::with_hosts), and those that are refused. The
    /// [`Outcome`](crate::Outcome) has them too.
    #[must_use]
    pub fn with_connection_observer(mut self, observer: ConnectionObserver) -> Self {
        self.connections = Some(observer);
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

    /// Returns the working directory, if it is not the skill's folder.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Returns the parts of a home that a script's runs see with its interpreter, read-only, although nobody granted
    /// them: the program or its version's folder. Programs that the user
    /// [named](crate::Permissions::with_interpreter) are not among them.
    pub fn home_folders(&self, script: &Script) -> Vec<PathBuf> {
        let (wanted, path) = (&script.interpreters, &script.path);
        let Ok(found) = find(wanted, &self.search, &self.permissions, path) else {
            return Vec::new();
        };
        let home = self.permissions.protected().home_of(&found.path);
        if home.is_none() || !found.named.is_empty() {
            return Vec::new();
        }
        if found.folders.is_empty() {
            return vec![found.path];
        }
        found.folders
    }

    /// Returns the cancellation token.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}
