//! Adds the Skillfold server and its hook to clients' configurations, and removes them.
//!
//! A [`SetupPlan`] is a change that has not been made yet: show it, then write it.
//!
//! ```
//! use skillfold::Environment;
//! use skillfold_setup::{SetupClient, ClientFile, SetupPlan};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let home = folder.path();
//! let environment = Environment::new(home.join("app")).home(home);
//! let plan = SetupPlan::add(&environment, SetupClient::Gemini, ClientFile::User, "skillfold")?;
//! assert_eq!(plan.before(), None);
//! assert!(plan.after().unwrap_or_default().contains(r#""command": "skillfold""#));
//! plan.write()?;
//!
//! SetupPlan::undo(&environment, SetupClient::Gemini, ClientFile::User)?.write()?;
//! assert!(!plan.file().exists());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod entry;

mod json;
mod toml;
mod yaml;

mod format;

mod client;
mod record;

mod tracked;

mod hook;

mod plan;

pub use client::{ClientFile, SetupClient};
pub use plan::{ListFile, SetupChange, SetupPlan};
pub use record::SetupPart;
