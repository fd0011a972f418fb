//! `skillfold setup`

use std::process::ExitCode;

use similar::{ChangeTag, TextDiff};
use skillfold::core::text::first_chars;
use skillfold::core::{Error, visible};
use skillfold::view::{self, Document};
use skillfold::{ClientFile, SetupChange, SetupPlan, program};

use crate::arguments::{Global, Setup};
use crate::ask::{Answer, ask};
use crate::failure::Failure;
use crate::host;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, painted, shown};

/// Lines around a change that are shown.
const CONTEXT: usize = 3;

/// Characters of a line that are shown: some clients write everything on one.
const WIDTH: usize = 240;

pub(crate) fn run(
    global: &Global,
    options: &Setup,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let plan = plan(global, options)?;
    let lines = difference(&plan);
    let text: Vec<&str> = lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
    let text = text.concat();
    let seen = view::Setup::new(&plan, text);
    if plan.change() == SetupChange::Nothing {
        return said_nothing(&plan, options, seen, output);
    }
    // Nobody agrees to what was not shown.
    let is_asked = !options.dry_run && !options.yes;
    if !output.is_json() || is_asked {
        for (tag, line) in &lines {
            let line = line.replace('\t', "    ");
            let line = visible(&line);
            output.show(match tag {
                Part::Head => painted(BOLD, line),
                Part::Place => painted(DIM, line),
                Part::Line(ChangeTag::Insert) => painted(GOOD, line),
                Part::Line(ChangeTag::Delete) => painted(BAD, line),
                Part::Line(ChangeTag::Equal) => line.into_owned(),
            })?;
        }
    }
    if options.dry_run {
        if output.is_json() {
            output.json(Document::Setup(seen))?;
        } else {
            output.say("Nothing was written; this is what would change");
            if plan.needs_force() {
                output.say("It was not created by `skillfold setup`; use `--force` to change it");
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    agreed(&plan, options, output)?;
    plan.write()?;
    if output.is_json() {
        output.json(Document::Setup(seen.written()))?;
    } else {
        output.say(done(&plan, options));
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(global: &Global, options: &Setup) -> Result<SetupPlan, Failure> {
    let environment = host::environment(global)?;
    let client = options.client.into();
    let file = if options.project {
        ClientFile::Project
    } else {
        ClientFile::User
    };
    if options.undo {
        return Ok(SetupPlan::undo(&environment, client, file)?);
    }
    let command = match file {
        // Others have it elsewhere.
        ClientFile::Project => "skillfold".to_owned(),
        // Clients that are started from a desktop do not search where a shell does.
        _ => program()?.to_string_lossy().into_owned(),
    };
    Ok(SetupPlan::add(&environment, client, file, &command)?)
}

fn said_nothing(
    plan: &SetupPlan,
    options: &Setup,
    seen: view::Setup,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let file = shown(plan.file());
    if output.is_json() {
        output.json(Document::Setup(seen))?;
    } else if options.undo {
        output.say(format!("Nothing to do: {file} has no `skillfold`"));
    } else {
        output.say(format!("Nothing to do: {file} has it already"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks, unless the answer is on the command line.
fn agreed(plan: &SetupPlan, options: &Setup, output: &mut Output) -> Result<(), Failure> {
    let refused = |rule| Err(Error::refused_write(plan.file().to_string_lossy(), rule).into());
    if plan.needs_force() && !options.force {
        return refused(if options.undo {
            "Its `skillfold` entry starts another program; use `--force` to remove it"
        } else {
            "It already has a different `skillfold` entry; use `--force` to replace it as shown"
        });
    }
    if options.yes {
        return Ok(());
    }
    match ask("Write this?", output) {
        Answer::Yes => Ok(()),
        Answer::No => refused("Cancelled; nothing was changed"),
        Answer::Nobody => {
            refused("There is no terminal to ask on; review what is shown, then pass `--yes`")
        }
    }
}

fn done(plan: &SetupPlan, options: &Setup) -> String {
    let (file, client) = (shown(plan.file()), plan.client());
    match (plan.change(), plan.after()) {
        (SetupChange::Added | SetupChange::Replaced, _) => {
            let project = if options.project { " --project" } else { "" };
            let undo = format!("`skillfold setup {client}{project} --undo` removes it again");
            format!("{}: {file}; {undo}", painted(GOOD, "Written"))
        }
        (_, Some(_)) => format!("{}: {file}", painted(GOOD, "Taken out")),
        (_, None) => format!("{}: {file}", painted(GOOD, "Removed")),
    }
}

/// What a line of a difference is.
#[derive(Clone, Copy)]
enum Part {
    Head,
    Place,
    Line(ChangeTag),
}

/// Returns the lines of a difference, as `diff -u` writes them, none longer than is good to read.
fn difference(plan: &SetupPlan) -> Vec<(Part, String)> {
    let (before, after) = (
        plan.before().unwrap_or_default(),
        plan.after().unwrap_or_default(),
    );
    let diff = TextDiff::from_lines(before, after);
    let name = |text: Option<&str>| match text {
        Some(_) => plan.file().to_string_lossy().into_owned(),
        None => "/dev/null".to_owned(),
    };
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        if lines.is_empty() {
            lines.push((Part::Head, format!("--- {}", name(plan.before()))));
            lines.push((Part::Head, format!("+++ {}", name(plan.after()))));
        }
        lines.push((Part::Place, hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let line = cut(change.value().trim_end_matches(['\r', '\n']));
            lines.push((Part::Line(change.tag()), format!("{}{line}", change.tag())));
            if change.missing_newline() {
                lines.push((Part::Place, "\\ No newline at end of file".to_owned()));
            }
        }
    }
    lines
}

fn cut(line: &str) -> String {
    let start = first_chars(line, WIDTH);
    match line.len() - start.len() {
        0 => line.to_owned(),
        more => format!("{start} ({more} more bytes)"),
    }
}
