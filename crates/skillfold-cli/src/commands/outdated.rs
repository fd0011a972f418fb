//! `skillfold outdated`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, OutdatedView};

use crate::arguments::{Global, OutdatedOptions};
use crate::failure::{CommandResult, EXIT_FAILED};
use crate::host;
use crate::terminal::output::{BAD, BOLD, DIM, Output, PLAIN, WARN, paint, pluralize};
use crate::terminal::progress;
use crate::terminal::table::Table;

pub(crate) fn run(
    global: &Global,
    options: &OutdatedOptions,
    output: &mut Output,
) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let registry = registry.with_progress(progress::fetching(output.is_quiet()));
    let outdated = registry.outdated();
    progress::clear();
    let outdated = outdated?;
    if output.is_json() {
        output.json(Document::Outdated(OutdatedView::new(&outdated)))?;
    } else {
        let mut table = Table::default();
        for skill in &outdated.skills {
            table.row([
                (BOLD, &visible(&skill.name)),
                (DIM, &skill.locked.to_string()),
                (PLAIN, &format!("→ {}", skill.newest)),
                (DIM, &visible(&skill.source)),
            ]);
        }
        output.table(&table)?;
    }
    for (name, error) in &outdated.failed {
        let name = visible(name);
        output.say_problem(format!(
            "{}: `{name}`: {}",
            paint(BAD, "Not known"),
            error.with_cause()
        ));
    }
    for skill in &outdated.held_back {
        let (name, why) = (visible(&skill.name), skill.newest.error());
        output.say(format!("{}: `{name}`: {why}", paint(WARN, "Held back")));
    }
    match outdated.skills.len() {
        0 if outdated.failed.is_empty() && outdated.held_back.is_empty() => {
            output.say("Every skill is the newest that `skills.toml` wants");
        }
        0 => {}
        number => output.say(format!(
            "{}; `skillfold update` proposes the new versions",
            pluralize(number, "skill is outdated", "skills are outdated")
        )),
    }
    if outdated.failed.is_empty() {
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::from(EXIT_FAILED))
    }
}
