//! `skillfold run`

use std::io::{self, IsTerminal, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;

use skillfold::Skills;
use skillfold::core::diagnostic::visible;
use skillfold::core::name::ResourcePath;
use skillfold::core::{Error, Refusal};
use skillfold::run::sandboxes::sandboxes;
use skillfold::run::{ApprovedPath, End, PathAccess, RunLimits, Stream, layers};
use skillfold::scripts::{RunnableSkill, ScriptError, ScriptLimits};
use skillfold::settings::ApprovalRequires;
use skillfold::view::{Document, RunView, ScriptList};

use crate::arguments::{Global, RunScript};
use crate::commands::allow;
use crate::failure::{CommandResult, EXIT_FAILED, Failure};
use crate::host;
use crate::terminal::output::{DIM, GOOD, Output, WARN, paint, printable};

/// The profile of the packages, for the path where they put the program.
const APPARMOR_PROFILE: &str = include_str!("../../apparmor.profile");

pub(crate) fn run(global: &Global, options: &RunScript, output: &mut Output) -> CommandResult {
    if options.apparmor_profile {
        return show_apparmor_profile(output);
    }
    let Some(id) = &options.id else {
        return show_sandboxes(output);
    };
    let skills = host::skills(global, output)?;
    let mut skill = skills.runnable(id)?;
    if options.prepare {
        allow::prepare(&skills, &skill, output)?;
        if !output.is_json() {
            return Ok(ExitCode::SUCCESS);
        }
        skill = skills.runnable(id)?;
    }
    let Some(script) = &options.script else {
        return list(&skill, output);
    };
    let path: ResourcePath = script
        .parse()
        .map_err(|_| Error::invalid(script, "It is not a path inside the skill"))?;
    // Before the user is asked.
    skill.check_script(&path).map_err(ScriptError::from)?;
    if options.usage {
        return usage(&skill, &path, output);
    }
    if skill.allowed().is_none() {
        allow::allow(&skills, &skill, output)?;
        skill = skills.runnable(id)?;
    }
    match skill.missing_packages(&path) {
        Ok(missing) if missing.is_empty() => {}
        Ok(missing) => output.say(format!(
            "The script's packages are not installed: {}; `skillfold run {} --prepare` installs them",
            visible(&missing.join(", ")),
            visible(id)
        )),
        Err(error) => output.say(format!("The script's packages are not installed: {error}")),
    }
    let skill = with_paths(global, &skills, skill, options)?;
    let limits = ScriptLimits::default()
        .with_seconds(options.seconds)
        .with_memory_mb(options.memory_mb)
        .with_output_kb(options.output_kb)
        .with_processes(options.processes);
    let skill = skill.with_limits_of_user(limits);
    let input = if options.stdin {
        read_stdin()?
    } else {
        Vec::new()
    };
    let is_json = output.is_json();
    output.finish()?;
    let run = skill.run(&path)?.with_arguments(options.arguments.clone());
    let run = run.with_input(input).with_observer(|stream, bytes| {
        if is_json {
            return;
        }
        // Whoever reads it has gone; the script ends by itself or by its limits.
        let _ = match stream {
            Stream::Stdout => write(io::stdout().lock(), bytes),
            _ => write(io::stderr().lock(), bytes),
        };
    });
    let outcome = run.run().map_err(ScriptError::from)?;
    let notes = skill.explain(&options.arguments, &outcome);
    if is_json {
        let view = RunView::script(id, script, &outcome).with_notes(notes);
        output.json(Document::Run(view))?;
    } else {
        for note in notes {
            output.say(format!("{} {note}", paint(WARN, "note:")));
        }
    }
    Ok(match outcome.end {
        End::Exited(code) => ExitCode::from(u8::try_from(code).unwrap_or(EXIT_FAILED)),
        end => {
            output.say(format!("The script was stopped: {}", end.code()));
            ExitCode::from(EXIT_FAILED)
        }
    })
}

/// Adds the paths that the user names for this run.
fn with_paths(
    global: &Global,
    skills: &Skills,
    mut skill: RunnableSkill,
    options: &RunScript,
) -> Result<RunnableSkill, Failure> {
    if options.read.is_empty() && options.write.is_empty() {
        return Ok(skill);
    }
    if skills.report().settings.approval_requires.value == ApprovalRequires::Passphrase {
        let rule = "A passphrase is required to let it access more, and `--read` and `--write` ask for none; use `skillfold allow` with `--project`";
        return Err(Error::refused(skill.id(), Refusal::Approval, rule).into());
    }
    let environment = host::environment(global)?;
    let read = options.read.iter().map(|path| (path, PathAccess::Read));
    let write = options.write.iter().map(|path| (path, PathAccess::Write));
    for (path, access) in read.chain(write) {
        let path: PathBuf = environment.directory().join(path).components().collect();
        skill = skill.with_path(ApprovedPath::resolve(path, access));
    }
    skill.check_grants().map_err(ScriptError::from)?;
    Ok(skill)
}

/// Writes a script's output as it is, or without what would steer a terminal.
fn write(mut stream: impl io::Write + IsTerminal, bytes: &[u8]) -> io::Result<()> {
    if stream.is_terminal() {
        let text = String::from_utf8_lossy(bytes);
        stream.write_all(printable(&text).as_bytes())?;
        return stream.flush();
    }
    stream.write_all(bytes)?;
    stream.flush()
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    let limit = RunLimits::default().input_bytes as u64;
    let mut bytes = Vec::new();
    // One byte more, so that the run refuses what is too long instead of cutting it.
    let mut input = io::stdin().lock().take(limit + 1);
    input
        .read_to_end(&mut bytes)
        .map_err(|error| Error::read("standard input", error))?;
    Ok(bytes)
}

fn usage(skill: &RunnableSkill, path: &ResourcePath, output: &mut Output) -> CommandResult {
    let help = skill.help(path).map_err(ScriptError::from)?;
    match help.text().trim_end() {
        "" => output.say("It prints no usage"),
        text => output.line(printable(text))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(skill: &RunnableSkill, output: &mut Output) -> CommandResult {
    if output.is_json() {
        return output.json(Document::Scripts(ScriptList::new(skill)));
    }
    let id = visible(skill.id());
    let listed = skill.scripts();
    if listed.scripts.is_empty() && listed.unusable.is_empty() && skill.toolsets().is_empty() {
        output.say(format!("`{id}` has no scripts and no tools to run"));
        return Ok(ExitCode::SUCCESS);
    }
    allow::show(skill, output)?;
    match skill.allowed() {
        Some(_) => output.say(format!(
            "{}: `skillfold run {id} SCRIPT`",
            paint(GOOD, "Allowed")
        )),
        None => output.say(format!("Not allowed yet: `skillfold allow {id}`")),
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the sandboxes of this system, and their layers.
fn show_sandboxes(output: &mut Output) -> CommandResult {
    let used = layers();
    for sandbox in sandboxes() {
        let report = sandbox.report();
        let name = &report.sandbox;
        output.line(if report.is_complete() && *name == used.sandbox {
            format!("{name}: scripts run in it")
        } else {
            name.to_string()
        })?;
        for state in &report.layers {
            let text = match &state.missing {
                None => paint(GOOD, "there"),
                Some(why) if state.layer.is_required() => paint(WARN, format!("missing: {why}")),
                Some(why) => paint(DIM, format!("missing, not required: {why}")),
            };
            output.line(format!("  {:15}  {text}", state.layer.as_str()))?;
        }
    }
    if !used.is_complete() {
        output.say("No script can run here");
        for remedy in used.layers.iter().filter_map(|it| it.remedy.as_deref()) {
            output.say(remedy);
        }
        output.say(
            "`namespaces` in the setting `sandbox_without` runs scripts with weaker isolation",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a profile with which AppArmor lets this program create user namespaces.
fn show_apparmor_profile(output: &mut Output) -> CommandResult {
    let program = std::env::current_exe().map_err(|error| Error::read("this program", error))?;
    let program = program.to_string_lossy();
    if program.contains(['"', '\\', '\n', '*', '?', '[', '{', '@', '^']) {
        let why = "Its path cannot be written in a profile; move it to another folder";
        return Err(Error::invalid(&*program, why).into());
    }
    output.line(
        APPARMOR_PROFILE
            .replace("/usr/bin/skillfold", &program)
            .trim_end(),
    )?;
    Ok(ExitCode::SUCCESS)
}
