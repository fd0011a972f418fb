//! `skillfold allow`

use std::path::PathBuf;
use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::core::{Error, Refusal};
use skillfold::run::{Interpreter, Layer, LayerState, layers};
use skillfold::store::{Event, Operation, Record};
use skillfold::view::{AllowedList, Document, ScriptList};
use skillfold::{
    Environment, Skills,
    scripts::{
        AllowedSkill, AllowedSkills, ProjectAccess, RunnableSkill, ScriptError, disallow_skill,
    },
};

use crate::arguments::{Allow, Global};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::approval;
use crate::terminal::ask::{can_ask, confirm};
use crate::terminal::output::{
    BOLD, DIM, GOOD, Output, PLAIN, WARN, display_path, paint, pluralize,
};
use crate::terminal::table::Table;

pub(crate) fn run(global: &Global, options: &Allow, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    if let Some(value) = &options.ask_in_clients {
        ask_in_clients(&skills, value == "on", output)?;
    }
    let Some(id) = &options.id else {
        return list(global, &skills, output);
    };
    if options.remove {
        let environment = host::environment(global)?;
        disallow_skill(&environment, &allowed_folder(&skills, &environment, id)?)?;
        output.say(format!("`{}` is no longer allowed to run", visible(id)));
    } else {
        let mut skill = skills.runnable(id)?;
        let environment = host::environment(global)?;
        for program in &options.interpreter {
            let program = environment.directory().join(program);
            let named = skill.with_interpreter(&program);
            skill = named.map_err(ScriptError::from)?;
        }
        if let Some(access) = options
            .project
            .as_deref()
            .and_then(ProjectAccess::from_name)
        {
            skill = skill.with_project(access);
        }
        if options.every_project {
            skill = with_every_project(skill, output)?;
        }
        for host in &options.private_network {
            skill = skill.with_private_host(host).map_err(ScriptError::from)?;
        }
        allow(&skills, &skill, output)?;
    }
    if output.is_json() {
        output.json(Document::Scripts(ScriptList::new(&skills.runnable(id)?)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks whether a skill may work on every project, apart from everything else that it gets.
fn with_every_project(skill: RunnableSkill, output: &mut Output) -> Result<RunnableSkill, Failure> {
    let what = match skill.project_access() {
        ProjectAccess::Read => "read",
        ProjectAccess::Write => "read and change",
        _ => {
            let rule =
                "It asks for no access to a project; add `--project read` or `--project write`";
            return Err(Error::refused(skill.id(), Refusal::Approval, rule).into());
        }
    };
    let id = visible(skill.id()).into_owned();
    let question = format!("Let `{id}` {what} every project you use it in, now and later?");
    confirm(&question, skill.id(), Refusal::Approval, output)?;
    Ok(skill.with_every_project())
}

/// Decides whether clients may ask if a skill may run.
fn ask_in_clients(skills: &Skills, allowed: bool, output: &mut Output) -> Result<(), Failure> {
    if allowed {
        output.show(
            "Clients will ask you when a model wants to run a skill that isn't allowed yet.",
        )?;
        output.show("The answer may not come from you: the client's hooks can answer too.")?;
    }
    let question = if allowed {
        "Let clients ask?"
    } else {
        "Stop clients from asking?"
    };
    let approval = approval::approve(skills, &skills.store()?, question, "clients", output)?;
    skills.set_client_approval(allowed, &approval)?;
    Ok(())
}

/// Returns the folder of a skill that may run. One that is not found any more is named by its folder.
fn allowed_folder(
    skills: &Skills,
    environment: &Environment,
    id: &str,
) -> Result<PathBuf, Failure> {
    let found = skills.runnable(id);
    if let Some(folder) = found.as_ref().ok().and_then(RunnableSkill::folder) {
        return Ok(folder.to_owned());
    }
    let allowed = AllowedSkills::load(environment).skills.into_iter();
    let mut folders = allowed
        .map(|skill| skill.folder)
        .filter(|folder| folder.ends_with(id));
    match (folders.next(), folders.next()) {
        (Some(folder), None) => Ok(folder),
        _ => Err(found.err().unwrap_or_else(|| Error::not_found(id)).into()),
    }
}

fn list(global: &Global, skills: &Skills, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let (allowed, home) = (AllowedSkills::load(&environment), environment.home_dir());
    let clients_may_ask = skills.clients_may_ask();
    if output.is_json() {
        return output.json(Document::Allowed(AllowedList::new(
            &allowed,
            clients_may_ask,
        )));
    }
    for skill in &allowed.skills {
        let tools = pluralize(skill.tools.len(), "tool", "tools");
        output.line(format!(
            "{}  {}",
            display_path(&skill.folder),
            paint(DIM, tools)
        ))?;
        for granted in skill.lines(home) {
            output.line(format!("  gets {}", visible(&granted)))?;
        }
    }
    for problem in &allowed.findings {
        host::say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    let number = pluralize(allowed.skills.len(), "skill may", "skills may");
    output.say(format!("{number} run while unchanged"));
    if clients_may_ask {
        output.say("Clients may ask you to allow other skills; `--ask-in-clients off` stops that");
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what a skill would run, asks the user at the terminal, and remembers the answer. Does nothing if it is allowed.
pub(crate) fn allow(
    skills: &Skills,
    skill: &RunnableSkill,
    output: &mut Output,
) -> Result<(), Failure> {
    match skill.check_allowed() {
        Ok(_) => {
            output.say("Nothing to do: it is already allowed");
            return Ok(());
        }
        // Says what changed since it was allowed.
        Err(error) if skill.has_changed_grants() => output.say(error),
        Err(_) => {}
    }
    show(skill, output)?;
    say_packages(skill, output);
    check_shown(skill, output)?;
    show_missing_layers(skills, output)?;
    let question = format!("Let `{}` run this?", visible(skill.id()));
    let approval = approval::approve(skills, &skills.store()?, &question, skill.id(), output)?;
    let allowed = skills.allow(skill, &approval)?;
    say_allowed(skill, &allowed, output);
    Ok(())
}

/// Installs the packages that a skill names, after the user has agreed at the terminal, and lets it run.
pub(crate) fn prepare(
    skills: &Skills,
    skill: &RunnableSkill,
    output: &mut Output,
) -> Result<(), Failure> {
    if skill.dependencies().map_err(ScriptError::from)?.is_empty() {
        output.say("Nothing to install: its scripts name no packages");
        return Ok(());
    }
    if skill.allowed().is_some() && skill.has_unchanged_packages().map_err(ScriptError::from)? {
        output.say("Nothing to install: its packages are installed and unchanged");
        return Ok(());
    }
    skill.check_installers().map_err(ScriptError::from)?;
    show(skill, output)?;
    check_shown(skill, output)?;
    show_missing_layers(skills, output)?;
    let id = visible(skill.id()).into_owned();
    let question = format!("Install these packages, and let `{id}` run this?");
    let approval = approval::approve(skills, &skills.store()?, &question, &id, output)?;
    let allowed = skills.allow_with_packages(skill, &approval, |line| output.say(line))?;
    for packages in &allowed.packages {
        let file = visible(&packages.file);
        let number = pluralize(packages.installed.len(), "package", "packages");
        let names = packages.installed.join(", ");
        output.say(format!("{number} for `{file}`: {}", visible(&names)));
    }
    say_allowed(skill, &allowed, output);
    Ok(())
}

/// Says that allowing a skill does not install its packages, what does, and what that lacks.
fn say_packages(skill: &RunnableSkill, output: &mut Output) {
    // A file that is not understood is shown with the scripts.
    let Ok(wanted) = skill.dependencies() else {
        return;
    };
    let is_installed = |file: &str| skill.packages().iter().any(|it| it.file == file);
    if wanted
        .iter()
        .all(|wanted| is_installed(wanted.file.as_str()))
    {
        return;
    }
    output.say(format!(
        "Packages are not installed by this: `skillfold run {} --prepare` installs them",
        visible(skill.id())
    ));
    if let Err(error) = skill.check_installers() {
        output.say(&error);
    }
}

fn say_allowed(skill: &RunnableSkill, allowed: &AllowedSkill, output: &mut Output) {
    let names: Vec<_> = allowed
        .tools
        .iter()
        .map(|tool| visible(&tool.name))
        .collect();
    if !names.is_empty() {
        output.say(format!("Its tools: {}", names.join(", ")));
    }
    output.say(format!(
        "{}: `{}` may run until it changes; undo with `skillfold allow --remove`",
        paint(GOOD, "Allowed"),
        visible(skill.id())
    ));
}

/// Shows what a skill would run and what it asks for.
pub(crate) fn show(skill: &RunnableSkill, output: &mut Output) -> Result<(), Failure> {
    output.show(paint(BOLD, visible(skill.id())))?;
    if let Some(folder) = skill.folder() {
        output.show(format!("  {}", display_path(folder)))?;
    }
    let listed = skill.scripts();
    let mut table = Table::indented(2);
    for script in &listed.scripts {
        let program = script.interpreters.first().map_or("", |it| &it.program);
        let mut named = skill.asked().interpreters().iter();
        let is_usable = script.interpreters.iter().any(Interpreter::is_known)
            || named.any(|named| named.runs(program));
        if is_usable {
            table.row([(PLAIN, script.path.as_str()), (DIM, program)]);
        } else {
            let unknown = format!("{program} is unknown; name it with `--interpreter PATH`");
            table.row([(PLAIN, script.path.as_str()), (WARN, &unknown)]);
        }
    }
    for unusable in &listed.unusable {
        table.row([(PLAIN, &unusable.path), (WARN, unusable.reason)]);
    }
    for toolset in skill.toolsets() {
        table.row([(PLAIN, toolset), (DIM, "toolset")]);
    }
    match skill.dependencies() {
        Ok(wanted) => {
            for wanted in wanted {
                let names = wanted.requirements.join(", ");
                let mut installed = skill.packages().iter();
                let is_installed = installed.any(|it| it.file == wanted.file.as_str());
                let state = if is_installed {
                    "installed"
                } else {
                    "not installed"
                };
                let packages = format!("packages, {state}: {names}");
                table.row([(PLAIN, wanted.file.as_str()), (DIM, &packages)]);
            }
        }
        Err(error) => table.row([(WARN, &error.to_string()), (DIM, "")]),
    }
    output.show_table(&table)?;
    let asked = skill.asked();
    for unknown in &asked.unknown {
        let unknown = visible(unknown);
        output.show(format!("  unknown permission `{unknown}` (ignored)"))?;
    }
    for line in permission_lines(skill) {
        output.show(paint(WARN, line))?;
    }
    if asked.is_empty() && skill.project_access() == ProjectAccess::None {
        output.show("  can access only its own files and a scratch folder; no network")?;
    }
    let missing = missing_layers(Layer::is_required);
    missing.iter().try_for_each(|line| output.show(line))
}

fn permission_lines(skill: &RunnableSkill) -> Vec<String> {
    let lines = skill.permission_lines().into_iter();
    lines.map(|line| format!("  {line}")).collect()
}

/// Refuses what no skill gets, and a list of permissions that the user cannot see whole when they are asked.
fn check_shown(skill: &RunnableSkill, output: &Output) -> Result<(), Failure> {
    skill.check_grants().map_err(ScriptError::from)?;
    if can_ask() && !output.shows_whole(&permission_lines(skill)) {
        let rule = "What it asks for is not on the screen as a whole, and you would agree to more than you see; enlarge the window, and do not redirect the output";
        return Err(Error::refused(skill.id(), Refusal::Approval, rule).into());
    }
    Ok(())
}

/// Shows, before the first skill is allowed, which layers this system lacks that no run needs. `skillfold run --sandbox` shows
/// them at any time.
fn show_missing_layers(skills: &Skills, output: &mut Output) -> Result<(), Failure> {
    let log = skills.store()?.log()?;
    let is_allowance = |record: &Record| matches!(&record.event, Event::Started { operation, .. } if matches!(operation, Operation::Allow { .. }));
    if log.records.iter().any(is_allowance) {
        return Ok(());
    }
    let missing = missing_layers(|layer| !layer.is_required());
    missing.iter().try_for_each(|line| output.show(line))
}

fn missing_layers(is_shown: impl Fn(Layer) -> bool) -> Vec<String> {
    let states = layers().layers.into_iter();
    let states = states.filter(|state| is_shown(state.layer));
    let line = |state: LayerState| {
        let why = state.missing.as_ref()?;
        let text = format!("  the sandbox lacks {}: {why}", state.layer);
        Some(paint(WARN, text))
    };
    states.filter_map(line).collect()
}
