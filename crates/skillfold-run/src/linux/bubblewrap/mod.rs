//! The sandbox that `bwrap` sets up: for systems that allow user namespaces to that program and not to this one.
//!
//! Landlock is not among its layers: a process that it restricts can no longer mount, and nothing of this crate runs inside.

mod arguments;

mod outside;

mod start;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use self::arguments::Owner;
use self::start::{launch, probe};
use super::report::{NEEDS_NAMESPACES, seccomp_missing, with_probe};
use crate::error::RunError;
use crate::layers::{Layer, SandboxReport};
use crate::process::Process;
use crate::request::RunRequest;
use crate::sandbox::Sandbox;

/// Where `bwrap` is looked for. One elsewhere may be anybody's.
const PROGRAMS: [&str; 2] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

/// Options that it must have. With the first two it checks that what it mounts is what was opened.
const OPTIONS: [&str; 4] = ["--ro-bind-fd", "--bind-fd", "--add-seccomp-fd", "--size"];

const LAYERS: [Layer; 4] = [
    Layer::Namespaces,
    Layer::Seccomp,
    Layer::ResourceLimits,
    Layer::ControlGroup,
];

/// Namespaces by bubblewrap, with our seccomp filter and limits.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct Bubblewrap;

impl Sandbox for Bubblewrap {
    fn report(&self) -> SandboxReport {
        installation().report.clone()
    }

    fn start(&self, request: &RunRequest<'_>) -> Result<Process, RunError> {
        let Installation { program, owner, .. } = installation();
        match program {
            Some(program) => launch(program, *owner, request),
            None => Err(RunError::no_sandbox()),
        }
    }
}

/// What this system has.
#[derive(Debug)]
struct Installation {
    report: SandboxReport,
    /// Where `bwrap` is, if it works.
    program: Option<PathBuf>,
    owner: Owner,
}

impl Installation {
    fn nothing(report: SandboxReport, why: &str) -> Self {
        Self {
            report: report
                .without(Layer::Namespaces, why)
                .without(Layer::ControlGroup, NEEDS_NAMESPACES),
            program: None,
            owner: Owner::Root,
        }
    }
}

/// Sets up a sandbox once per process, and returns what is missing.
fn installation() -> &'static Installation {
    static FOUND: OnceLock<Installation> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut report = SandboxReport::new("bubblewrap", LAYERS);
        if let Some(why) = seccomp_missing() {
            report = report.without(Layer::Seccomp, &why);
        }
        let program = match program() {
            Ok(program) => program,
            Err(why) => return Installation::nothing(report, &why),
        };
        let tried = with_probe(&report, |request| {
            let with = |owner| {
                let has_group = probe(&program, owner, request);
                has_group.map(|has_group| (has_group, owner))
            };
            Ok(with(Owner::User).or_else(|_| with(Owner::Root)))
        });
        let (has_group, owner) = match tried {
            Ok(Ok(works)) => works,
            Ok(Err(error)) => return Installation::nothing(report, &error.with_cause()),
            Err(error) => return Installation::nothing(report, &error.to_string()),
        };
        if !has_group {
            let why = "this process may not create a cgroup with a memory limit";
            report = report.without(Layer::ControlGroup, why);
        }
        Installation {
            report,
            program: Some(program),
            owner,
        }
    })
}

/// Returns where `bwrap` is, or why there is none that can be used.
fn program() -> Result<PathBuf, String> {
    let mut paths = PROGRAMS.iter().map(Path::new);
    let Some(path) = paths.find(|path| path.exists()) else {
        return Err("`bwrap` is not installed".to_owned());
    };
    let help = help(path);
    match OPTIONS.iter().find(|option| !help.contains(**option)) {
        None => Ok(path.to_owned()),
        Some(option) => Err(format!(
            "`{}` has no `{option}`: it needs 0.10, or a distribution's version with the fix of CVE-2024-42472",
            path.display()
        )),
    }
}

/// Returns what it says about itself; nothing if it does not start.
fn help(path: &Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    let mut command = Command::new(path);
    let output = command
        .arg("--help")
        .env_clear()
        .stdin(Stdio::null())
        .output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}
