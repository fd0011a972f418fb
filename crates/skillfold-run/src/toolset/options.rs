//! Options for loading a toolset.

use std::fmt;
use std::sync::Arc;

use skillfold_core::name::ResourcePath;

use super::reference::ToolsetRef;
use super::tool::Toolset;
use crate::copy::SkillCopy;
use crate::error::RunError;
use crate::options::RunOptions;

/// Loads one kind of toolset. A host can implement its own.
pub trait ToolsetLoader: fmt::Debug + Send + Sync {
    /// Returns whether this loader handles a file, which is in the copy.
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

/// Options for loading toolsets: run options, and the host's loaders.
#[derive(Clone, Debug, Default)]
pub struct ToolsetOptions {
    run: RunOptions,
    loaders: Vec<Arc<dyn ToolsetLoader>>,
}

impl ToolsetOptions {
    /// Sets limits, permissions and other run options.
    #[must_use]
    pub fn with_run(mut self, run: RunOptions) -> Self {
        self.run = run;
        self
    }

    /// Adds a host's loader. Host loaders are asked first, in the order they were added.
    #[must_use]
    pub fn with_loader(mut self, loader: Arc<dyn ToolsetLoader>) -> Self {
        self.loaders.push(loader);
        self
    }

    /// Returns limits, permissions and other run options.
    pub fn run(&self) -> &RunOptions {
        &self.run
    }

    pub(super) fn loaders(&self) -> &[Arc<dyn ToolsetLoader>] {
        &self.loaders
    }
}
