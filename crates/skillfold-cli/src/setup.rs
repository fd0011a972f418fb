//! `skillfold setup`

use std::process::ExitCode;

use similar::{ChangeTag, TextDiff};
use skillfold::core::diagnostic::visible;
use skillfold::core::text::first_chars;
use skillfold::core::{Error, Refusal};
use skillfold::program;
use skillfold::view::{self, Document};
use skillfold_setup::{ClientFile, SetupChange, SetupPlan};

use crate::arguments::{Global, Setup};
use crate::ask::{Answer, ask};
use crate::failure::Failure;
use crate::host;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, display_path, paint};

/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum characters of a line shown: some clients write everything on one line.
const MAX_LINE_CHARS: usize = 240;

pub(crate) fn run(
    global: &Global,
    options: &Setup,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let plan = plan(global, options)?;
    let lines = diff_lines(&plan);
    let text: Vec<&str> = lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
    let text = text.concat();
    let setup_view = view::Setup::new(
        plan.client().name(),
        plan.file(),
        plan.change().name(),
        text,
    );
    if plan.change() == SetupChange::Nothing {
        return report_no_change(&plan, options, setup_view, output);
    }
    // The user must see what they agree to.
    let is_asked = !options.dry_run && !options.yes;
    if !output.is_json() || is_asked {
        for (tag, line) in &lines {
            let line = line.replace('\t', "    ");
            let line = visible(&line);
            output.show(match tag {
                DiffPart::Head => paint(BOLD, line),
                DiffPart::Hunk => paint(DIM, line),
                DiffPart::Line(ChangeTag::Insert) => paint(GOOD, line),
                DiffPart::Line(ChangeTag::Delete) => paint(BAD, line),
                DiffPart::Line(ChangeTag::Equal) => line.into_owned(),
            })?;
        }
    }
    if options.dry_run {
        if output.is_json() {
            output.json(Document::Setup(setup_view))?;
        } else {
            output.say("Nothing was written; this is what would change");
            if plan.needs_force() {
                output.say("It was not created by `skillfold setup`; use `--force` to change it");
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    confirm(&plan, options, output)?;
    plan.write()?;
    if output.is_json() {
        output.json(Document::Setup(setup_view.written()))?;
    } else {
        output.say(success_text(&plan, options));
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
        // Other users may have it at another path.
        ClientFile::Project => "skillfold".to_owned(),
        // Clients started from a desktop do not use the shell's `PATH`.
        _ => program()?.to_string_lossy().into_owned(),
    };
    Ok(SetupPlan::add(&environment, client, file, &command)?)
}

fn report_no_change(
    plan: &SetupPlan,
    options: &Setup,
    setup_view: view::Setup,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let file = display_path(plan.file());
    if output.is_json() {
        output.json(Document::Setup(setup_view))?;
    } else if options.undo {
        output.say(format!("Nothing to do: {file} has no `skillfold`"));
    } else {
        output.say(format!("Nothing to do: {file} has it already"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks for confirmation, unless `--yes` was given.
fn confirm(plan: &SetupPlan, options: &Setup, output: &mut Output) -> Result<(), Failure> {
    let refused =
        |rule| Err(Error::refused(plan.file().to_string_lossy(), Refusal::Write, rule).into());
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
        Answer::NoTerminal => {
            refused("There is no terminal to ask on; review what is shown, then pass `--yes`")
        }
    }
}

fn success_text(plan: &SetupPlan, options: &Setup) -> String {
    let (file, client) = (display_path(plan.file()), plan.client());
    match (plan.change(), plan.after()) {
        (SetupChange::Added | SetupChange::Replaced, _) => {
            let project = if options.project { " --project" } else { "" };
            let undo = format!("`skillfold setup {client}{project} --undo` removes it again");
            format!("{}: {file}; {undo}", paint(GOOD, "Written"))
        }
        (_, Some(_)) => format!("{}: {file}", paint(GOOD, "Taken out")),
        (_, None) => format!("{}: {file}", paint(GOOD, "Removed")),
    }
}

/// The kind of a diff line.
#[derive(Clone, Copy)]
enum DiffPart {
    Head,
    Hunk,
    Line(ChangeTag),
}

/// Returns the diff as `diff -u` writes it, with long lines shortened.
fn diff_lines(plan: &SetupPlan) -> Vec<(DiffPart, String)> {
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
    for hunk in diff
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .iter_hunks()
    {
        if lines.is_empty() {
            lines.push((DiffPart::Head, format!("--- {}", name(plan.before()))));
            lines.push((DiffPart::Head, format!("+++ {}", name(plan.after()))));
        }
        lines.push((DiffPart::Hunk, hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let line = shorten(change.value().trim_end_matches(['\r', '\n']));
            lines.push((
                DiffPart::Line(change.tag()),
                format!("{}{line}", change.tag()),
            ));
            if change.missing_newline() {
                lines.push((DiffPart::Hunk, "\\ No newline at end of file".to_owned()));
            }
        }
    }
    lines
}

fn shorten(line: &str) -> String {
    let start = first_chars(line, MAX_LINE_CHARS);
    match line.len() - start.len() {
        0 => line.to_owned(),
        more => format!("{start} ({more} more bytes)"),
    }
}
