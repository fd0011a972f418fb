//! The engine as the packages for other languages call it: a call is JSON, and so is its answer, as `skillfold --json` prints
//! it. A package adds what its language needs: objects, threads and errors.

#![expect(
    missing_debug_implementations,
    reason = "the packages show handles in the form of their language"
)]

mod error;

mod agent;
mod discovery;
mod proposals;
mod registry;
mod scripts;
mod session;
mod skills;
mod stats;

pub use agent::AgentSkills;
pub use discovery::DiscoverOptions;
pub use error::{Answer, CallError};
pub use scripts::run_folder;
pub use session::Session;
pub use skills::Skills;
pub use stats::stats;
