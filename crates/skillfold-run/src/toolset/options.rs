//! What a toolset is loaded with.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use skillfold_core::name::ResourcePath;

use super::reference::ToolsetRef;
use super::tool::Toolset;
use crate::copy::SkillCopy;
use crate::error::RunError;
use crate::layers::Accept;
use crate::limits::RunLimits;
use crate::permissions::Permissions;
use crate::run::Run;
use crate::supervise::Cancel;

/// Loads toolsets of one kind. A host implements it for a kind of its own, such as WebAssembly.
pub trait ToolsetLoader: fmt::Debug + Send + Sync {
    /// Returns whether this loader is for a file, which is in the copy.
    fn takes(&self, copy: &SkillCopy, file: &ResourcePath, reference: &ToolsetRef) -> bool;

    /// Loads the toolset.
    fn load(
        &self,
        copy: &Arc<SkillCopy>,
        file: &ResourcePath,
        reference: &ToolsetRef,
        options: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError>;
}

/// What toolsets are loaded with: limits, permissions, and the loaders of the host.
#[derive(Clone, Debug, Default)]
pub struct ToolsetOptions {
    limits: RunLimits,
    permissions: Permissions,
    accept: Accept,
    search: Option<Vec<PathBuf>>,
    cancel: Cancel,
    loaders: Vec<Arc<dyn ToolsetLoader>>,
}

impl ToolsetOptions {
    /// Sets the limits. [`wall_time`](RunLimits::wall_time) is that of each call, and of the start.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what the toolset may use beyond its skill.
    #[must_use]
    pub fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Sets the layers of the box that may be missing.
    #[must_use]
    pub fn with_accepted(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// Sets the folders that interpreters are looked up in.
    #[must_use]
    pub fn with_search_path(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.search = Some(folders.into_iter().collect());
        self
    }

    /// Sets the token that ends a call and the process of the toolset. After that, every call fails with `cancelled`.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Adds a loader of the host. Those of the host are asked first, in the order they were added.
    #[must_use]
    pub fn with_loader(mut self, loader: Arc<dyn ToolsetLoader>) -> Self {
        self.loaders.push(loader);
        self
    }

    /// Returns the limits.
    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Returns what the toolset may use beyond its skill.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Returns the token that ends calls.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(super) fn loaders(&self) -> &[Arc<dyn ToolsetLoader>] {
        &self.loaders
    }

    /// Returns a run of a script with these options.
    pub(super) fn run<'a>(&self, copy: &'a SkillCopy, script: &'a ResourcePath) -> Run<'a> {
        let run = Run::new(copy, script)
            .with_limits(self.limits.clone())
            .with_permissions(self.permissions.clone())
            .with_accepted(self.accept.clone())
            .with_cancel(self.cancel.clone());
        match &self.search {
            Some(folders) => run.with_search_path(folders.clone()),
            None => run,
        }
    }
}
