//! `skillfold setup`

mod config_diff;

use std::process::ExitCode;

use similar::ChangeTag;
use skillfold::Environment;
use skillfold::core::diagnostic::visible;
use skillfold::core::{Error, Refusal};
use skillfold::view::{self, Document, SetupFile};
use skillfold_setup::{ClientFile, SetupChange, SetupClient, SetupPlan};

use crate::arguments::{Global, Setup};
use crate::commands::setup::config_diff::{DiffPart, diff_lines};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::{Answer, ask};
use crate::terminal::output::{BAD, BOLD, DIM, GOOD, Output, display_path, paint};

/// What is set up in a client.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Server,
    Hook,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Hook => "hook",
        }
    }
}

pub(crate) fn run(global: &Global, options: &Setup, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let mut files = Vec::new();
    let result = match options.client {
        Some(client) => set_up(&environment, client, options, &mut files, output),
        None => set_up_all(&environment, options, &mut files, output),
    };
    // What was written before a failure is part of the answer.
    if output.is_json() && (result.is_ok() || files.iter().any(|file| file.written)) {
        output.json(Document::Setup(view::Setup::new(files)))?;
    }
    result.map(|()| ExitCode::SUCCESS)
}

/// Sets up the server and the hook in all clients that the user has. What they do not agree to, or what fails, does not stop
/// the rest.
fn set_up_all(
    environment: &Environment,
    options: &Setup,
    files: &mut Vec<SetupFile>,
    output: &mut Output,
) -> Result<(), Failure> {
    let clients = SetupClient::ALL.into_iter();
    let clients: Vec<_> = clients
        .filter(|client| client.is_used(environment))
        .filter(|client| !options.project || client.has_project_file())
        .collect();
    if clients.is_empty() {
        let names = SetupClient::ALL.map(SetupClient::name).join(", ");
        output.say(format!(
            "No client was found; name the one to set up: {names}"
        ));
    }
    let mut failure = None;
    for client in clients {
        for part in parts(client, true) {
            output.say(paint(BOLD, format!("{}: {}", client.title(), part.name())));
            let change = plan(environment, client, part, options)
                .and_then(|plan| change_file(&plan, part, options, files, output));
            match change {
                Ok(Change::Declined) => output.say("Left as it is"),
                Ok(_) => {}
                Err(Failure::Engine(error)) => {
                    // The last one is printed at the end, with its hint.
                    if let Some(error) = failure.replace(error) {
                        output.say(format!("{}: {}", paint(BAD, "error"), error.with_cause()));
                    }
                }
                Err(other) => return Err(other),
            }
        }
    }
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// Sets up one client. Undoing removes both parts.
fn set_up(
    environment: &Environment,
    client: SetupClient,
    options: &Setup,
    files: &mut Vec<SetupFile>,
    output: &mut Output,
) -> Result<(), Failure> {
    if options.hook && !client.has_hooks() {
        let title = client.title();
        let why = format!("{title} has no hooks that add to a prompt; leave the option out");
        return Err(Error::invalid("--hook", why).into());
    }
    // Nothing is written if a part cannot be.
    for part in parts(client, options.hook || options.undo) {
        plan(environment, client, part, options)?;
    }
    for part in parts(client, options.hook || options.undo) {
        // Some clients have both in one file, which the part before has just changed.
        let plan = plan(environment, client, part, options)?;
        if part == Part::Hook && options.undo && plan.change() == SetupChange::Nothing {
            continue;
        }
        if change_file(&plan, part, options, files, output)? == Change::Declined {
            return Err(refused(
                &plan,
                match part {
                    Part::Hook if files.iter().any(|file| file.written) => {
                        "Cancelled; the server was set up, and the hook was not"
                    }
                    _ => "Cancelled; nothing was changed",
                },
            ));
        }
    }
    Ok(())
}

fn parts(client: SetupClient, with_hook: bool) -> impl Iterator<Item = Part> {
    let hook = (with_hook && client.has_hooks()).then_some(Part::Hook);
    [Part::Server].into_iter().chain(hook)
}

fn plan(
    environment: &Environment,
    client: SetupClient,
    part: Part,
    options: &Setup,
) -> Result<SetupPlan, Failure> {
    let file = if options.project {
        ClientFile::Project
    } else {
        ClientFile::User
    };
    let command = match file {
        // Other users may have it at another path.
        ClientFile::Project => "skillfold".to_owned(),
        // Clients started from a desktop do not use the shell's `PATH`.
        _ => Environment::program()?.to_string_lossy().into_owned(),
    };
    Ok(match (part, options.undo) {
        (Part::Server, false) => SetupPlan::add(environment, client, file, &command)?,
        (Part::Server, true) => SetupPlan::undo(environment, client, file)?,
        (Part::Hook, false) => SetupPlan::add_hook(environment, client, file, &command)?,
        (Part::Hook, true) => SetupPlan::undo_hook(environment, client, file)?,
    })
}

/// How a plan ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It was written, only shown, or there was nothing to do.
    Done,
    Declined,
}

/// Shows a change, asks, and makes it.
fn change_file(
    plan: &SetupPlan,
    part: Part,
    options: &Setup,
    files: &mut Vec<SetupFile>,
    output: &mut Output,
) -> Result<Change, Failure> {
    let lines = diff_lines(plan);
    let text: Vec<&str> = lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
    let (client, change) = (plan.client().name(), plan.change().name());
    let file = SetupFile::new(client, part.name(), plan.file(), change, text.concat());
    if plan.change() == SetupChange::Nothing {
        if !output.is_json() {
            say_nothing_to_do(plan, options, output);
        }
        files.push(file);
        return Ok(Change::Done);
    }
    // The user must see what they agree to.
    if !output.is_json() || !options.dry_run && !options.yes {
        for (kind, line) in &lines {
            show_line(*kind, line, output)?;
        }
    }
    if options.dry_run {
        files.push(file);
        if !output.is_json() {
            output.say("Nothing was written; this is what would change");
            if plan.needs_force() {
                output.say("It was not created by `skillfold setup`; use `--force` to change it");
            }
        }
        return Ok(Change::Done);
    }
    if !is_agreed(plan, options, output)? {
        return Ok(Change::Declined);
    }
    plan.write()?;
    files.push(file.written());
    if !output.is_json() {
        output.say(success_text(plan, options));
        if part == Part::Hook && !options.undo && plan.client() == SetupClient::Codex {
            output.say(
                "Codex calls a new hook only after you approve it: type `/hooks` in Codex and review it",
            );
        }
    }
    Ok(Change::Done)
}

fn show_line(kind: DiffPart, line: &str, output: &mut Output) -> Result<(), Failure> {
    let line = line.replace('\t', "    ");
    let line = visible(&line);
    output.show_drawing(match kind {
        DiffPart::Head => paint(BOLD, line),
        DiffPart::Hunk => paint(DIM, line),
        DiffPart::Line(ChangeTag::Insert) => paint(GOOD, line),
        DiffPart::Line(ChangeTag::Delete) => paint(BAD, line),
        DiffPart::Line(ChangeTag::Equal) => line.into_owned(),
    })
}

fn say_nothing_to_do(plan: &SetupPlan, options: &Setup, output: &mut Output) {
    let file = display_path(plan.file());
    output.say(if options.undo {
        format!("Nothing to do: {file} has no `skillfold`")
    } else {
        format!("Nothing to do: {file} has it already")
    });
}

fn refused(plan: &SetupPlan, rule: &'static str) -> Failure {
    Error::refused(plan.file().to_string_lossy(), Refusal::Write, rule).into()
}

/// Asks for confirmation, unless `--yes` was given.
fn is_agreed(plan: &SetupPlan, options: &Setup, output: &mut Output) -> Result<bool, Failure> {
    if plan.needs_force() && !options.force {
        return Err(refused(
            plan,
            if options.undo {
                "Its `skillfold` entry starts another program; use `--force` to remove it"
            } else {
                "It already has a different `skillfold` entry; use `--force` to replace it as shown"
            },
        ));
    }
    if options.yes {
        return Ok(true);
    }
    match ask("Write this?", output) {
        Answer::Yes => Ok(true),
        Answer::No => Ok(false),
        Answer::NoTerminal => Err(refused(
            plan,
            "There is no terminal to ask on; review what is shown, then pass `--yes`",
        )),
    }
}

fn success_text(plan: &SetupPlan, options: &Setup) -> String {
    let (file, client) = (display_path(plan.file()), plan.client());
    match (plan.change(), plan.after()) {
        (SetupChange::Added | SetupChange::Replaced, _) => {
            let project = if options.project { " --project" } else { "" };
            let undo = format!("`skillfold setup {client}{project} --undo` removes it again");
            let restart = format!("Restart {} to use it", client.title());
            format!("{}: {file}. {restart}; {undo}", paint(GOOD, "Written"))
        }
        (_, Some(_)) => format!("{}: {file}", paint(GOOD, "Taken out")),
        (_, None) => format!("{}: {file}", paint(GOOD, "Removed")),
    }
}
