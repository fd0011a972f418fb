//! The sandbox that needs no other program.

use super::plain;
use super::report::report;
use super::spawn::spawn;
use crate::error::RunError;
use crate::layers::{Layer, SandboxReport};
use crate::permissions::Network;
use crate::process::Process;
use crate::request::RunRequest;
use crate::sandbox::Sandbox;

/// Namespaces, Landlock, a seccomp filter and limits, set up by system calls.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct BuiltIn;

impl Sandbox for BuiltIn {
    fn report(&self) -> SandboxReport {
        report().clone()
    }

    fn start(&self, request: &RunRequest<'_>) -> Result<Process, RunError> {
        let report = &request.report;
        if report.has(Layer::Namespaces) {
            return spawn(request);
        }
        // The host accepts that they are missing. What else keeps a script from the user's files?
        if !report.has(Layer::Landlock) {
            return Err(RunError::no_sandbox());
        }
        let mut states = report.layers.iter();
        if let Some(state) = states.find(|state| state.layer == Layer::Namespaces)
            && matches!(request.network(), Network::Hosts(_))
        {
            return Err(RunError::hosts_unavailable(state));
        }
        plain::spawn(request)
    }
}
