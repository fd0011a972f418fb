//! `skillfold improve`

use std::process::ExitCode;

use similar::TextDiff;
use skillfold::author::Improvement;
use skillfold::core::diagnostic::visible;
use skillfold::core::{Error, Refusal};
use skillfold::reports::HookPrompt;
use skillfold::view::{Document, ImprovementView};

use crate::arguments::{Global, Improve};
use crate::commands::stats;
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::{ask_line, confirm};
use crate::terminal::choose;
use crate::terminal::output::{BOLD, Output, display_path, paint, pluralize};
use crate::terminal::text_diff;

/// Maximum requests taken from the log; the latest ones.
const MAX_LOGGED: usize = 20;

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

pub(crate) fn run(global: &Global, options: &Improve, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let named = options.id.as_deref().filter(|id| !id.is_empty());
    let id = choose::skill_id(named, &skills.catalog(), output)?;
    let requests = requests(global, options, &id, output)?;
    let improvement = skills.improve(&id, &requests, &host::environment(global)?)?;
    let diff = diff(&improvement);
    let is_changed = !improvement.added.is_empty();
    if output.is_json() {
        let written = is_changed && options.yes;
        if written {
            improvement.write()?;
        }
        let view = ImprovementView::new(&improvement, diff, written);
        return output.json(Document::Improvement(view));
    }
    print_terms(&improvement, requests.len(), output)?;
    if !is_changed {
        output.say("The skill has these requests already");
        return Ok(ExitCode::SUCCESS);
    }
    text_diff::show(&diff, output)?;
    if !options.yes {
        let file = improvement.file.to_string_lossy();
        confirm("Write this file?", &file, Refusal::Write, output)?;
    }
    improvement.write()?;
    let added = pluralize(improvement.added.len(), "request", "requests");
    output.say(format!(
        "{added} added; try `skillfold test {}`",
        visible(&id)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the requests that were given, those that missed the skill in the log, or those that the user types.
fn requests(
    global: &Global,
    options: &Improve,
    id: &str,
    output: &mut Output,
) -> Result<Vec<String>, Failure> {
    if !options.request.is_empty() {
        return Ok(options.request.clone());
    }
    let logged = missed_requests(global, id)?;
    if !logged.is_empty() {
        let number = pluralize(logged.len(), "request", "requests");
        output.say(format!("{number} from the hook's log"));
        return Ok(logged);
    }
    let mut typed = Vec::new();
    let mut question =
        "Which requests should have selected it? One per line; an empty line ends\n> ";
    while let Some(request) = ask_line(question, output)
        && !request.is_empty()
    {
        typed.push(request);
        question = "> ";
    }
    if typed.is_empty() {
        let why = "No requests: name them with `--request TEXT`. The hook's log has those that missed a skill only with `log_content = true`";
        return Err(Failure::Usage(why.to_owned()));
    }
    Ok(typed)
}

/// Returns the last requests after which the model loaded the skill although the hook had not offered it.
fn missed_requests(global: &Global, id: &str) -> Result<Vec<String>, Failure> {
    // There may be no log.
    let Ok(log) = stats::hook_log(global) else {
        return Ok(Vec::new());
    };
    let prompts = HookPrompt::read_last(log, usize::MAX)
        .map_err(|error| Error::read("the hook's log", error))?;
    let missed = prompts.into_iter().rev();
    let missed = missed.filter(|prompt| prompt.missed.iter().any(|missed| missed == id));
    let mut requests: Vec<_> = missed
        .filter_map(|prompt| prompt.request)
        .take(MAX_LOGGED)
        .collect();
    requests.reverse();
    Ok(requests)
}

/// Prints the terms that the requests share and the skill lacks.
fn print_terms(
    improvement: &Improvement,
    requests: usize,
    output: &mut Output,
) -> Result<(), Failure> {
    if improvement.terms.is_empty() {
        output.say("The requests share no term that the name, description and triggers lack");
        return Ok(());
    }
    output.line(paint(
        BOLD,
        "Terms that the name, description and triggers lack",
    ))?;
    for term in &improvement.terms {
        output.line(format!(
            "  {}  in {} of {requests}",
            visible(&term.word),
            term.requests
        ))?;
    }
    Ok(())
}

/// Returns the change as a unified diff.
fn diff(improvement: &Improvement) -> String {
    let file = display_path(&improvement.file);
    let old = match improvement.before {
        Some(_) => file.clone(),
        None => "/dev/null".to_owned(),
    };
    let before = improvement.before.as_deref().unwrap_or_default();
    let diff = TextDiff::from_lines(before, &improvement.after);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT_LINES).header(&old, &file);
    unified.to_string()
}
