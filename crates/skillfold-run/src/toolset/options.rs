//! What a toolset is loaded with.

use std::fmt;
use std::sync::Arc;

use skillfold_core::name::ResourcePath;

use super::reference::ToolsetRef;
use super::tool::Toolset;
use crate::copy::SkillCopy;
use crate::error::RunError;
use crate::options::RunOptions;

/// Loads toolsets of one kind. A host implements it for a kind of its own.
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

/// What toolsets are loaded with: options of their runs, and the loaders of the host.
#[derive(Clone, Debug, Default)]
pub struct ToolsetOptions {
    run: RunOptions,
    loaders: Vec<Arc<dyn ToolsetLoader>>,
}

impl ToolsetOptions {
    /// Sets limits, permissions and the like.
    #[must_use]
    pub fn with_run(mut self, run: RunOptions) -> Self {
        self.run = run;
        self
    }

    /// Adds a loader of the host. Those of the host are asked first, in the order they were added.
    #[must_use]
    pub fn with_loader(mut self, loader: Arc<dyn ToolsetLoader>) -> Self {
        self.loaders.push(loader);
        self
    }

    /// Returns limits, permissions and the like.
    pub fn run(&self) -> &RunOptions {
        &self.run
    }

    pub(super) fn loaders(&self) -> &[Arc<dyn ToolsetLoader>] {
        &self.loaders
    }
}
