//! Runs skills' scripts in a sandbox.
//!
//! The sandbox has no network, no files but the skill (read-only), a scratch folder and the system's programs, none of
//! the host's environment, and limits on time, output, memory and processes. It runs a [`SkillCopy`]: the bytes that
//! were reviewed, whatever happens to the folder meanwhile. If a sandbox layer is missing, the run is refused with an
//! error that names the layer, unless the host [accepts](Accept) that.
//!
//! ```no_run
//! use skillfold_run::{Run, SkillCopy};
//!
//! let copy = SkillCopy::new([("scripts/hello.py".parse()?, b"import sys; print('hello', sys.argv[1])".to_vec())])?;
//! let path = "scripts/hello.py".parse()?;
//! let outcome = Run::new(&copy, &path).with_arguments(["you"]).run()?;
//! assert_eq!(outcome.stdout_text(), "hello you\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Loading a skill runs nothing; a host calls [`Run::run`] or [`Run::start`].

mod limits;

mod layers;

mod error;

mod copy;

mod interpreter;

mod imports;

mod requirements;

mod dependencies;

mod tree;

mod packages;

mod approved_path;

mod protected;

mod named_interpreter;

mod guard;

mod corrections;

mod network;

mod permissions;

mod installed;

mod scripts;

mod process;

mod request;

mod sandbox;

#[cfg(unix)]
mod skill_folder;

#[cfg(unix)]
mod process_group;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(any(target_os = "macos", test))]
mod seatbelt;

pub mod sandboxes;

mod running;

mod supervise;

mod options;

mod run;

mod help;

mod prepare;

pub mod toolset;

pub use approved_path::{ApprovedPath, PathAccess, PathKind};
pub use copy::SkillCopy;
pub use corrections::Corrections;
pub use dependencies::{Dependencies, Installer, dependencies, script_dependencies};
pub use error::{RunError, RunErrorKind};
pub use guard::Correction;
pub use help::{Help, help};
pub use interpreter::Interpreter;
pub use layers::{Accept, Layer, LayerState, SandboxReport};
pub use limits::RunLimits;
pub use named_interpreter::NamedInterpreter;
pub use network::{Connection, ConnectionObserver, HostRule, Refusal, Resolver};
pub use options::{RunOptions, SYSTEM_FOLDERS};
pub use packages::Packages;
pub use permissions::{Network, Permissions};
pub use prepare::{Prepare, Prepared};
pub use protected::Protected;
pub use run::{Run, layers};
pub use running::{Running, Stopper};
pub use scripts::{Script, Scripts, UnusableScript, script, scripts};
pub use supervise::{Cancel, End, Outcome, Stream};
