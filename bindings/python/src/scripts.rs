//! Scripts and tools of skills.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use skillfold::core::name::ResourcePath;
use skillfold::core::source::Folder;
use skillfold::core::{Error, FsSource};
use skillfold::run::{Run, RunLimits, RunOptions, SkillCopy};
use skillfold::store::Approval;
use skillfold::view::{Document, RunView, ScriptList};
use skillfold::{ScriptError, Skills};

use crate::error::{json, raise};

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

/// Runs a script of a folder in the box, with nothing granted, for a host that answers for it: `skillfold.compat.skillkit`.
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
    detached(py, || {
        let invalid = |what: &str, why: &str| Error::invalid(what, why);
        let parent = folder.parent().unwrap_or(&folder);
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        let source = FsSource::open(parent)?;
        let skill = Folder::new(name).map_err(|_| invalid(name, "It is no folder of a skill"))?;
        let copy = SkillCopy::read(&source, &skill)?;
        let path: ResourcePath = script
            .parse()
            .map_err(|_| invalid(script, "It is no path inside the skill"))?;
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|error| invalid("timeout", &error.to_string()))?;
        let limits = RunLimits::default()
            .with_wall_time(time)
            .with_output_bytes(output_bytes)
            .with_input_bytes(input.len());
        let run = Run::new(&copy, &path).with_options(RunOptions::default().with_limits(limits));
        let outcome = run.with_input(input).run()?;
        Ok(json(Document::Run(RunView::script(name, script, &outcome))))
    })
}

/// Runs `f` while other Python threads run, and raises its error.
fn detached<T: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> Result<T, ScriptError> + Send,
) -> PyResult<T> {
    py.detach(f)
        .map_err(|error| raise(py, ScriptError::failure(&error)))
}

#[pymethods]
impl Runner {
    fn scripts(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        detached(py, || {
            let list = ScriptList::new(&self.skills.runnable(id)?);
            Ok(json(Document::Scripts(list)))
        })
    }

    fn run(
        &self,
        py: Python<'_>,
        id: &str,
        script: &str,
        arguments: Vec<String>,
        input: Vec<u8>,
    ) -> PyResult<String> {
        detached(py, || {
            let skill = self.skills.runnable(id)?;
            let path: ResourcePath = script
                .parse()
                .map_err(|_| Error::invalid(script, "It is no path inside the skill"))?;
            let run = skill.run(&path)?.with_arguments(arguments);
            let outcome = run.with_input(input).run()?;
            Ok(json(Document::Run(RunView::script(id, script, &outcome))))
        })
    }

    fn call(&self, py: Python<'_>, id: &str, tool: &str, arguments: &str) -> PyResult<String> {
        detached(py, || {
            let skill = self.skills.runnable(id)?;
            let arguments = serde_json::from_str(arguments)
                .map_err(|error| Error::invalid("arguments", error.to_string()))?;
            let answer = self.skills.call_skill_tool(&skill, tool, &arguments)?;
            Ok(json(Document::Run(RunView::tool(id, tool, &answer))))
        })
    }

    fn allow(
        &self,
        py: Python<'_>,
        id: &str,
        digest: &str,
        by: &str,
        passphrase: Option<&str>,
        prepare: bool,
    ) -> PyResult<()> {
        detached(py, || {
            let skill = self.skills.runnable(id)?;
            if skill.digest().to_string() != digest {
                let why = "The skill has changed since it was looked at";
                return Err(Error::invalid(id, why).into());
            }
            let approval = Approval::by_host(by);
            let approval = match passphrase {
                Some(passphrase) => approval.with_passphrase(passphrase),
                None => approval,
            };
            if prepare {
                self.skills.allow_with_packages(&skill, &approval, |_| {})?;
            } else {
                self.skills.allow(&skill, &approval)?;
            }
            Ok(())
        })
    }
}
