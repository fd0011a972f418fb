//! The sandboxes that come with this crate, and the interface for others.
//!
//! On Linux a run uses [`BuiltIn`] where its layers are there, else [`Bubblewrap`] where that works; on macOS Seatbelt. If none works, runs are
//! refused.

pub use crate::layers::SandboxReport;
#[cfg(target_os = "linux")]
pub use crate::linux::{Bubblewrap, BuiltIn};
pub use crate::process::{Connections, Control, ExitStatus, Process};
pub use crate::request::{Inode, Mount, MountAccess, RunFile, RunInput, RunRequest};
pub use crate::sandbox::Sandbox;
#[cfg(target_os = "macos")]
pub use crate::seatbelt::Seatbelt;

/// Returns the sandbox that runs use unless the host gives them another one.
pub(crate) fn default_sandbox() -> &'static dyn Sandbox {
    #[cfg(target_os = "linux")]
    if !BuiltIn.report().is_complete() && Bubblewrap.report().is_complete() {
        return &Bubblewrap;
    }
    #[cfg(target_os = "linux")]
    return &BuiltIn;
    #[cfg(target_os = "macos")]
    return &Seatbelt;
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    &Missing
}

/// Returns the sandboxes of this system, in the order in which a run tries them.
pub fn sandboxes() -> Vec<&'static dyn Sandbox> {
    #[cfg(target_os = "linux")]
    return vec![&BuiltIn, &Bubblewrap];
    #[cfg(target_os = "macos")]
    return vec![&Seatbelt];
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    vec![&Missing]
}

/// What systems have for which there is no sandbox.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[derive(Debug)]
struct Missing;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
impl Sandbox for Missing {
    fn report(&self) -> SandboxReport {
        let layer = crate::layers::Layer::Namespaces;
        let why = "there is no sandbox for this system";
        let remedy = "Use it on Linux or macOS; on Windows, in WSL 2";
        SandboxReport::new("none", [layer])
            .without(layer, why)
            .with_remedy(layer, remedy)
    }

    fn start(&self, _: &RunRequest<'_>) -> Result<Process, crate::error::RunError> {
        Err(crate::error::RunError::no_sandbox())
    }
}
