//! Scripts and tools of skills.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use skillfold::core::name::ResourcePath;
use skillfold::core::source::Folder;
use skillfold::core::{Error, FsSource, Refusal};
use skillfold::run::{Cancel as RunCancel, Run, RunLimits, RunOptions, SkillCopy};
use skillfold::view::{Document, RunView, ScriptList};
use skillfold::{
    Environment, Settings, Skills,
    scripts::{AllowedSkills, ProjectAccess, ScriptError},
    settings::ApprovalRequires,
};

use crate::error::{json, raise, raise_run};
use crate::improve::approval;

/// Runs scripts and tools. `skillfold._run` wraps it.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct Runner {
    skills: Skills,
}

impl Runner {
    pub(crate) fn new(skills: &Skills) -> Self {
        Self {
            skills: skills.clone(),
        }
    }
}

const NOT_ALLOWED: &str = "Its scripts are not allowed to run, or it changed since you allowed them; look at `Skills.scripts(id)` of \
                           `skillfold.Skills.discover(roots=[...])`, and allow it with `Skills.reviewer(name).allow(...)`";

const WITH_PASSPHRASE: &str = "The settings require a passphrase for scripts, which skillkit's interface does not check; run it with \
                               `skillfold.Skills.run`";

/// Runs a skill's script's folder in the sandbox, with nothing granted, if the user has allowed exactly this content:
/// `skillfold.compat.skillkit`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python passes a path")]
pub(crate) fn run_script(
    py: Python<'_>,
    folder: PathBuf,
    script: &str,
    input: Vec<u8>,
    seconds: f64,
    output_bytes: usize,
) -> PyResult<String> {
    let cancel = RunCancel::default();
    let run = || -> Result<String, ScriptError> {
        let invalid = |what: &str, why: &str| Error::invalid(what, why);
        let parent = folder.parent().unwrap_or(&folder);
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        let source = FsSource::open(parent)?;
        let skill = Folder::new(name).map_err(|_| invalid(name, "It is no folder of a skill"))?;
        let copy = SkillCopy::read(&source, &skill)?;
        let environment = Environment::from_process(parent)?;
        let requires = Settings::load(&environment).approval_requires.value;
        if requires == ApprovalRequires::Passphrase {
            return Err(Error::refused(name, Refusal::NotAllowed, WITH_PASSPHRASE).into());
        }
        let known = AllowedSkills::load(&environment);
        if known.find(copy.content_digest(), &folder).is_none() {
            return Err(Error::refused(name, Refusal::NotAllowed, NOT_ALLOWED).into());
        }
        let path: ResourcePath = script
            .parse()
            .map_err(|_| invalid(script, "It is not a path inside the skill"))?;
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|error| invalid("timeout", &error.to_string()))?;
        let limits = RunLimits::default()
            .with_wall_time(time)
            .with_output_bytes(output_bytes)
            .with_input_bytes(input.len());
        let options = RunOptions::default().with_limits(limits);
        let run = Run::new(&copy, &path).with_options(options.with_cancel(cancel.clone()));
        let outcome = run.with_input(input).run()?;
        Ok(json(Document::Run(RunView::script(name, script, &outcome))))
    };
    interruptible(py, &cancel, run)?.map_err(|error| raised(py, &error))
}

/// How often a call that runs a script looks whether the user interrupted it.
const INTERRUPTION_INTERVAL: Duration = Duration::from_millis(50);

/// Ends a script or a tool that runs. `skillfold._threads` cancels it with the task that waits for it.
#[pyclass(frozen, module = "skillfold._skillfold")]
#[derive(Default)]
pub(crate) struct Cancel(pub(crate) RunCancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn cancel(&self) {
        self.0.cancel();
    }
}

/// Runs `f` on another thread until it ends, and raises what interrupts this one, such as Ctrl-C; then `cancel` ends `f`.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &RunCancel,
    f: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    thread::scope(|scope| {
        let (sender, mut result) = mpsc::channel();
        let thread = scope.spawn(move || sender.send(f()));
        loop {
            let waiting = &mut result;
            match py.detach(move || waiting.recv_timeout(INTERRUPTION_INTERVAL)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // A thread that panicked and is not joined would panic here too.
                    drop(thread.join());
                    return Err(PyRuntimeError::new_err(
                        "the run failed by a fault of its own",
                    ));
                }
            }
            if let Err(interruption) = py.check_signals() {
                cancel.cancel();
                let waiting = &mut result;
                py.detach(move || drop(waiting.recv()));
                return Err(interruption);
            }
        }
    })
}

/// Runs `f` while other Python threads run, and raises its error.
fn detached<T: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> Result<T, ScriptError> + Send,
) -> PyResult<T> {
    py.detach(f).map_err(|error| raised(py, &error))
}

fn raised(py: Python<'_>, error: &ScriptError) -> PyErr {
    match error {
        ScriptError::Run(_) => raise_run(py, error.failure()),
        _ => raise(py, error.failure()),
    }
}

#[pymethods]
impl Runner {
    fn scripts(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        detached(py, || {
            let list = ScriptList::new(&self.skills.runnable(id)?);
            Ok(json(Document::Scripts(list)))
        })
    }

    #[expect(
        clippy::needless_pass_by_value,
        clippy::too_many_arguments,
        reason = "Python passes a list, and each by itself"
    )]
    fn run(
        &self,
        py: Python<'_>,
        id: &str,
        script: &str,
        arguments: Vec<String>,
        input: Vec<u8>,
        limits: &str,
        cancel: &Cancel,
    ) -> PyResult<String> {
        let run = || -> Result<String, ScriptError> {
            let limits = serde_json::from_str(limits)
                .map_err(|error| Error::invalid("limits", error.to_string()))?;
            let skill = self.skills.runnable(id)?.with_limits(limits)?;
            let path: ResourcePath = script
                .parse()
                .map_err(|_| Error::invalid(script, "It is not a path inside the skill"))?;
            let options = skill.options().with_cancel(cancel.0.clone());
            let run = skill.run(&path)?.with_arguments(&arguments);
            let outcome = run.with_options(options).with_input(input).run()?;
            let notes = skill.explain(&arguments, &outcome);
            let view = RunView::script(id, script, &outcome).with_notes(notes);
            Ok(json(Document::Run(view)))
        };
        interruptible(py, &cancel.0, run)?.map_err(|error| raised(py, &error))
    }

    fn call(
        &self,
        py: Python<'_>,
        id: &str,
        tool: &str,
        arguments: &str,
        cancel: &Cancel,
    ) -> PyResult<String> {
        let call = || -> Result<String, ScriptError> {
            let skill = self.skills.runnable(id)?;
            let arguments = serde_json::from_str(arguments)
                .map_err(|error| Error::invalid("arguments", error.to_string()))?;
            let skills = &self.skills;
            let answer = skills.call_skill_tool_until(&skill, tool, &arguments, &cancel.0)?;
            Ok(json(Document::Run(RunView::tool(id, tool, &answer))))
        };
        interruptible(py, &cancel.0, call)?.map_err(|error| raised(py, &error))
    }

    #[expect(clippy::too_many_arguments, reason = "Python passes them one by one")]
    fn allow(
        &self,
        py: Python<'_>,
        id: &str,
        digest: &str,
        by: &str,
        passphrase: Option<&str>,
        prepare: bool,
        project: Option<&str>,
    ) -> PyResult<()> {
        detached(py, || {
            let mut skill = self.skills.runnable(id)?;
            if let Some(name) = project {
                let access = ProjectAccess::from_name(name);
                let why = "`project` is `read`, `write` or `none`";
                skill = skill.with_project(access.ok_or_else(|| Error::invalid(name, why))?);
            }
            if skill.digest().to_string() != digest {
                let why = "The skill has changed since it was looked at";
                return Err(Error::invalid(id, why).into());
            }
            let approval = approval(by, passphrase);
            if prepare {
                self.skills.allow_with_packages(&skill, &approval, |_| {})?;
            } else {
                self.skills.allow(&skill, &approval)?;
            }
            Ok(())
        })
    }
}
