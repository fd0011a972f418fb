//! `skillfold update`

mod sarif;

use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::improve::Effects;
use skillfold::registry::{AddedSkill, UpdateResult, UpdatedSkill, pull_request};
use skillfold::view::{Document, UpdateView};

use crate::arguments::{Global, Update, UpdateFormat};
use crate::commands::add::say_conflicts;
use crate::failure::{CommandResult, EXIT_FAILED, Failure};
use crate::host;
use crate::terminal::output::{BAD, BOLD, DIM, GOOD, Output, WARN, paint, pluralize};
use crate::terminal::progress;
use crate::terminal::text_diff;

pub(crate) fn run(global: &Global, options: &Update, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let registry = registry.with_progress(progress::fetching(output.is_quiet()));
    let updated = if options.dry_run {
        registry.preview_update(&options.names)
    } else if options.in_ci {
        registry.update_in_ci(&options.names)
    } else {
        registry.update(&options.names)
    };
    progress::clear();
    let updated = updated?;
    let changes = updated.iter().filter_map(change);
    match options.format {
        UpdateFormat::Sarif => {
            let environment = host::environment(global)?;
            sarif::print(changes.clone(), environment.directory(), output)?;
        }
        UpdateFormat::PullRequest => output.drawing(pull_request(&updated).trim_end())?,
        _ if output.is_json() => {
            output.json(Document::Updated(UpdateView::new(&updated)))?;
        }
        _ => {
            for (skill, effects) in changes.clone() {
                show(skill, effects, options, output)?;
            }
        }
    }
    let mut failed = 0;
    for skill in &updated {
        let name = visible(&skill.name);
        match &skill.result {
            UpdateResult::SameFiles(pin) => {
                output.say(format!("`{name}` is {pin} now, with the same files"));
            }
            UpdateResult::Proposed(added) | UpdateResult::Changed(added) => {
                say_conflicts(&added.name, &added.conflicts, output);
            }
            UpdateResult::HeldBack(held) => {
                let why = held.error();
                output.say(format!("{}: `{name}`: {why}", paint(WARN, "Held back")));
            }
            UpdateResult::Failed(error) => {
                failed += 1;
                say_failure(&name, error, output);
            }
            _ => {}
        }
    }
    let number = changes.count();
    say_summary(number, updated.len() - number - failed, options, output);
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_FAILED),
    })
}

/// Returns a skill that changes, and what that does.
fn change(skill: &UpdatedSkill) -> Option<(&AddedSkill, &Effects)> {
    match &skill.result {
        UpdateResult::Proposed(added) | UpdateResult::Changed(added) => {
            Some((&**added, added.effects.as_ref()?))
        }
        _ => None,
    }
}

fn show(
    skill: &AddedSkill,
    effects: &Effects,
    options: &Update,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = visible(&skill.name);
    output.line(format!("{} → {}", paint(BOLD, &name), skill.pin))?;
    for line in effects.lines() {
        output.line(format!("  {line}"))?;
    }
    if options.dry_run {
        text_diff::show(&skill.diff, output)?;
    }
    Ok(())
}

fn say_failure(name: &str, error: &Error, output: &mut Output) {
    output.say_problem(format!(
        "{}: `{name}`: {}",
        paint(BAD, "Not updated"),
        error.with_cause()
    ));
    output.say_problem(format!("{}: {}", paint(DIM, "hint"), error.hint()));
}

fn say_summary(number: usize, current: usize, options: &Update, output: &mut Output) {
    let updates = pluralize(number, "update", "updates");
    let current = pluralize(current, "skill is current", "skills are current");
    output.say(if number == 0 {
        format!("{}: {current}", paint(GOOD, "Nothing to update"))
    } else if options.dry_run {
        format!("{updates}, {current}; without `--dry-run` they are proposed")
    } else if options.in_ci {
        format!("Made {updates}, {current}; commit them for a pull request")
    } else {
        format!(
            "Proposed {updates}, {current}; nothing changes until you approve: `skillfold review`"
        )
    });
}
