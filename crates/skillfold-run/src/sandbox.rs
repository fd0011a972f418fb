//! The interface of a sandbox.

use std::fmt;

use crate::error::RunError;
use crate::layers::SandboxReport;
use crate::process::Process;
use crate::request::RunRequest;

/// A way to confine a run.
///
/// Those that come with this crate are in [`sandboxes`](crate::sandboxes). A host that has another one, such as a virtual
/// machine, implements this and gives it to [`RunOptions::with_sandbox`](crate::RunOptions::with_sandbox).
pub trait Sandbox: fmt::Debug + Send + Sync {
    /// Returns its layers, and which of them this system has. A run is refused if a required one is missing.
    fn report(&self) -> SandboxReport;

    /// Starts the request's program. It sees the request's files and mounts and nothing else of the host, runs within the
    /// limits, and has the request's network.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started, or if something that the request forbids could not be prevented.
    fn start(&self, request: &RunRequest<'_>) -> Result<Process, RunError>;
}

impl<T: Sandbox + ?Sized> Sandbox for &T {
    fn report(&self) -> SandboxReport {
        (**self).report()
    }

    fn start(&self, request: &RunRequest<'_>) -> Result<Process, RunError> {
        (**self).start(request)
    }
}
