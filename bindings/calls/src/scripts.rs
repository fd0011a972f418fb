//! Scripts and tools of skills.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use skillfold::core::name::ResourcePath;
use skillfold::core::source::Folder;
use skillfold::core::{Error, FsSource, Refusal};
use skillfold::run::{Cancel, Run, RunLimits, RunOptions, SkillCopy};
use skillfold::scripts::{AllowedSkills, ProjectAccess, ScriptLimits};
use skillfold::settings::ApprovalRequires;
use skillfold::view::{Document, RunView, ScriptList};
use skillfold::{Environment, Json, Settings};

use crate::error::{Answer, read, value, view};
use crate::proposals::Decision;
use crate::skills::Skills;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RunCall {
    Scripts {
        id: String,
    },
    Run {
        id: String,
        script: String,
        arguments: Vec<String>,
        limits: ScriptLimits,
    },
    CallTool {
        id: String,
        tool: String,
        arguments: Json,
    },
    Allow {
        id: String,
        /// Of the skill as it was looked at.
        digest: String,
        decision: Decision,
        install_packages: bool,
        project: Option<String>,
    },
}

impl Skills {
    /// Makes a call that may start what a skill brings, until it is cancelled. `input` is what a script reads.
    pub fn run(&self, call: &str, input: Vec<u8>, cancel: &Cancel) -> Answer {
        let skills = &self.skills;
        Ok(view(Document::Run(match read("call", call)? {
            RunCall::Scripts { id } => {
                let list = ScriptList::new(&skills.runnable(&id)?);
                return Ok(view(Document::Scripts(list)));
            }
            RunCall::Run {
                id,
                script,
                arguments,
                limits,
            } => {
                let skill = skills.runnable(&id)?.with_limits(limits)?;
                let options = skill.options().with_cancel(cancel.clone());
                let path = inside(&script)?;
                let run = skill.run(&path)?.with_arguments(&arguments);
                let outcome = run.with_options(options).with_input(input).run()?;
                let notes = skill.explain(&arguments, &outcome);
                RunView::script(&id, &script, &outcome).with_notes(notes)
            }
            RunCall::CallTool {
                id,
                tool,
                arguments,
            } => {
                let skill = skills.runnable(&id)?;
                let answer = skills.call_skill_tool_until(&skill, &tool, &arguments, cancel)?;
                RunView::tool(&id, &tool, &answer)
            }
            RunCall::Allow {
                id,
                digest,
                decision,
                install_packages,
                project,
            } => {
                let mut skill = skills.runnable(&id)?;
                if let Some(name) = project {
                    let access = ProjectAccess::from_name(&name);
                    let why = "`project` is `read`, `write` or `none`";
                    skill = skill.with_project(access.ok_or_else(|| Error::invalid(&name, why))?);
                }
                if skill.digest().to_string() != digest {
                    let why = "The skill has changed since it was looked at";
                    return Err(Error::invalid(&id, why).into());
                }
                let approval = decision.approval();
                if install_packages {
                    skills.allow_with_packages(&skill, &approval, |_| {})?;
                } else {
                    skills.allow(&skill, &approval)?;
                }
                return value(());
            }
        })))
    }
}

fn inside(script: &str) -> Result<ResourcePath, Error> {
    let path = script.parse();
    path.map_err(|_| Error::invalid(script, "It is not a path inside the skill"))
}

const NOT_ALLOWED: &str = "Its scripts are not allowed to run, or it changed since you allowed them; look at `Skills.scripts(id)` of \
                           `skillfold.Skills.discover(roots=[...])`, and allow it with `Skills.reviewer(name).allow(...)`";

const WITH_PASSPHRASE: &str = "The settings require a passphrase for scripts, which skillkit's interface does not check; run it with \
                               `skillfold.Skills.run`";

/// Runs a script of a skill by its folder, with nothing granted, if the user has allowed exactly this content: what the
/// interface of skillkit asks for.
pub fn run_folder(
    folder: &Path,
    script: &str,
    input: Vec<u8>,
    (seconds, output_bytes): (f64, usize),
    cancel: &Cancel,
) -> Answer {
    let parent = folder.parent().unwrap_or(folder);
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let source = FsSource::open(parent)?;
    let skill =
        Folder::new(name).map_err(|_| Error::invalid(name, "It is no folder of a skill"))?;
    let copy = SkillCopy::read(&source, &skill)?;
    let environment = Environment::from_process(parent)?;
    let requires = Settings::load(&environment).approval_requires.value;
    if requires == ApprovalRequires::Passphrase {
        return Err(Error::refused(name, Refusal::NotAllowed, WITH_PASSPHRASE).into());
    }
    let known = AllowedSkills::load(&environment);
    if known.find(copy.content_digest(), folder).is_none() {
        return Err(Error::refused(name, Refusal::NotAllowed, NOT_ALLOWED).into());
    }
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|error| Error::invalid("timeout", error.to_string()))?;
    let limits = RunLimits::default()
        .with_wall_time(time)
        .with_output_bytes(output_bytes)
        .with_input_bytes(input.len());
    let options = RunOptions::default().with_limits(limits);
    let path = inside(script)?;
    let run = Run::new(&copy, &path).with_options(options.with_cancel(cancel.clone()));
    let outcome = run.with_input(input).run()?;
    Ok(view(Document::Run(RunView::script(name, script, &outcome))))
}
