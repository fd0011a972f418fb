//! Detects which layers this system has by setting up a sandbox once, up to the program.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::cause::cause;
use super::landlock::version;
use super::plan::Plan;
use super::seccomp::IS_KNOWN;
use super::spawn::{Streams, launch};
use super::sys::syscall;
use crate::copy::SkillCopy;
use crate::guard::Guard;
use crate::installed::Installed;
use crate::layers::{Layer, SandboxReport};
use crate::limits::RunLimits;
use crate::network::Resolver;
use crate::permissions::Permissions;
use crate::process::Control as _;
use crate::request::{RunInput, RunRequest};

/// A program that no sandbox has, so that nothing runs.
const NO_PROGRAM: &str = "/skillfold-run-probe";

/// The name of the sandbox in reports.
const NAME: &str = "built-in";

/// Why there is no control group if namespaces are missing.
pub(super) const NEEDS_NAMESPACES: &str = "it is not tried without namespaces";

/// The layers of the built-in sandbox.
const LAYERS: [Layer; 5] = [
    Layer::Namespaces,
    Layer::Landlock,
    Layer::Seccomp,
    Layer::ResourceLimits,
    Layer::ControlGroup,
];

/// Returns which layers this system has. Probes once per process.
pub(super) fn report() -> &'static SandboxReport {
    static REPORT: OnceLock<SandboxReport> = OnceLock::new();
    REPORT.get_or_init(|| {
        let mut report = SandboxReport::new(NAME, LAYERS);
        if let Err(error) = version() {
            let error = io::Error::from(error);
            let why = format!("the kernel has no Landlock, which needs Linux 5.13: {error}");
            report = report.without(Layer::Landlock, &why);
        }
        if let Some(why) = seccomp_missing() {
            report = report.without(Layer::Seccomp, &why);
        }
        probe_sandbox(report)
    })
}

/// Returns why there are no seccomp filters.
pub(super) fn seccomp_missing() -> Option<String> {
    const GET_ACTION_AVAILABLE: u32 = 2;
    const KILL_PROCESS: u32 = 0x8000_0000;
    if !IS_KNOWN {
        return Some("there is no filter for this processor".to_owned());
    }
    let action = KILL_PROCESS;
    let asked = syscall!(
        libc::SYS_seccomp,
        GET_ACTION_AVAILABLE,
        0,
        &raw const action
    );
    asked.err().map(|error| io::Error::from(error).to_string())
}

/// Sets up a sandbox without a program, and adds to a report what is missing.
pub(super) fn probe_sandbox(report: SandboxReport) -> SandboxReport {
    let tried = with_probe(&report, |request| {
        let plan = Plan::new(request)?;
        Ok(launch(
            &plan,
            &Streams::new(RunInput::None)?,
            request.limits(),
        ))
    });
    match tried {
        Ok(Err(failure)) if failure.is_program && failure.had_group => report,
        Ok(Err(failure)) if failure.is_program => report.without(
            Layer::ControlGroup,
            "this process may not create a cgroup with a memory limit",
        ),
        Ok(Err(failure)) => {
            let cause = cause();
            let why = format!(
                "could not {}: {}; {}",
                failure.step, failure.error, cause.why
            );
            report
                .without(Layer::Namespaces, &why)
                .with_remedy(Layer::Namespaces, cause.remedy)
                .without(Layer::ControlGroup, NEEDS_NAMESPACES)
        }
        Err(error) => report.without(Layer::Namespaces, &error.to_string()),
        // There is no such program.
        Ok(Ok(boxed)) => {
            boxed.kill();
            let _ = boxed.wait();
            let why = format!("`{NO_PROGRAM}` was started, which is missing in the sandbox");
            report.without(Layer::Namespaces, &why)
        }
    }
}

/// Calls a function with a request for a program that no sandbox has, so that nothing runs.
pub(super) fn with_probe<T>(
    report: &SandboxReport,
    probe: impl FnOnce(&RunRequest<'_>) -> io::Result<T>,
) -> io::Result<T> {
    let copy = SkillCopy::new([]).map_err(io::Error::other)?;
    probe(&RunRequest {
        copy: &copy,
        interpreter: Installed {
            path: PathBuf::from(NO_PROGRAM),
            name: NO_PROGRAM.to_owned(),
            arguments: Vec::new(),
            folders: Vec::new(),
            named: Vec::new(),
        },
        script: "",
        host: None,
        arguments: &[],
        input: RunInput::None,
        limits: &RunLimits::default(),
        permissions: &Permissions::default(),
        granted: Vec::new(),
        guard: &Guard::default(),
        directory: None,
        resolver: &Resolver::default(),
        connections: None,
        packages: None,
        report: report.clone(),
    })
}
