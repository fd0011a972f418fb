//! Detects which layers this system has by setting up a sandbox once, up to the program.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

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
use crate::process::{Control as _, Input, Request};

/// A program that no sandbox has, so that nothing runs.
const NO_PROGRAM: &str = "/skillfold-run-probe";

/// Returns which layers this system has. Probes once per process.
pub(crate) fn report() -> &'static SandboxReport {
    static REPORT: OnceLock<SandboxReport> = OnceLock::new();
    REPORT.get_or_init(|| {
        let landlock = version().err().map(|error| {
            let error = io::Error::from(error);
            format!("the kernel has no Landlock, which needs Linux 5.13: {error}")
        });
        let seccomp = seccomp_missing();
        let simple = |layer| match layer {
            Layer::Landlock => landlock.clone(),
            Layer::Seccomp => seccomp.clone(),
            Layer::Namespaces | Layer::ControlGroup | Layer::ResourceLimits => None,
        };
        let (namespaces, group) = probe_sandbox(&SandboxReport::new(simple));
        SandboxReport::new(|layer| match layer {
            Layer::Namespaces => namespaces.clone(),
            Layer::ControlGroup => group.clone(),
            other => simple(other),
        })
    })
}

fn seccomp_missing() -> Option<String> {
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

/// Sets up a sandbox without a program. Returns why namespaces and why a control group are unavailable.
pub(super) fn probe_sandbox(report: &SandboxReport) -> (Option<String>, Option<String>) {
    let limits = RunLimits::default();
    let permissions = Permissions::default();
    let tried = SkillCopy::new([])
        .map_err(io::Error::other)
        .and_then(|copy| {
            let guard = Guard::default();
            let request = Request {
                guard: &guard,
                directory: None,
                copy: &copy,
                interpreter: Installed {
                    path: PathBuf::from(NO_PROGRAM),
                    name: NO_PROGRAM.to_owned(),
                    arguments: Vec::new(),
                    folders: Vec::new(),
                    named: Vec::new(),
                },
                granted: Vec::new(),
                resolver: &Resolver::default(),
                connections: None,
                script: "",
                host: None,
                arguments: &[],
                input: Input::None,
                limits: &limits,
                permissions: &permissions,
                packages: None,
                report: report.clone(),
            };
            let plan = Plan::new(&request)?;
            Ok(launch(&plan, &Streams::new(Input::None)?, &limits))
        });
    match tried {
        Err(error) => (Some(error.to_string()), None),
        Ok(Err(failure)) if failure.is_program => {
            let group = (!failure.had_group)
                .then(|| "this process may not create a cgroup with a memory limit".to_owned());
            (None, group)
        }
        Ok(Err(failure)) => {
            let why = format!(
                "could not {}: {}; unprivileged user namespaces may be switched off",
                failure.step, failure.error
            );
            (Some(why.clone()), Some(why))
        }
        // There is no such program.
        Ok(Ok(boxed)) => {
            boxed.kill();
            let _ = boxed.wait();
            let why = format!("`{NO_PROGRAM}` was started, which is missing in the sandbox");
            (Some(why.clone()), Some(why))
        }
    }
}
