//! `skillfold install`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::registry::{InstallOptions, InstallReport, InstalledSkill};
use skillfold::view::{Document, InstallView};

use crate::arguments::{Global, Install};
use crate::commands::add;
use crate::failure::{CommandResult, EXIT_PROBLEMS};
use crate::host;
use crate::terminal::output::{BAD, DIM, GOOD, Output, paint, pluralize};
use crate::terminal::progress;

pub(crate) fn run(global: &Global, options: &Install, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let mut registry = registry.with_progress(progress::fetching(output.is_quiet()));
    if options.offline {
        registry = registry.offline();
    }
    let mut install = InstallOptions::default();
    install.frozen = options.frozen;
    install.discard_edits = options.discard_edits;
    let report = registry.install(install);
    progress::clear();
    let report = report?;
    say(&report, output);
    let decided = if report.proposed.is_empty() {
        ExitCode::SUCCESS
    } else {
        add::decide(&skills, &registry, &report.proposed, output)?
    };
    if output.is_json() {
        output.json(Document::Installed(InstallView::new(&report)))?;
    }
    if report.failed() > 0 {
        return Ok(ExitCode::from(EXIT_PROBLEMS));
    }
    Ok(decided)
}

/// Says which skills failed, and why.
pub(crate) fn say_failed(report: &InstallReport, output: &mut Output) {
    for (name, skill) in &report.skills {
        if let InstalledSkill::Failed(error) = skill {
            let (name, why) = (visible(name), error.with_cause());
            output.say_problem(format!("{}: `{name}`: {why}", paint(BAD, "Not installed")));
            output.say_problem(format!("{}: {}", paint(DIM, "hint"), error.hint()));
        }
    }
}

/// Says what became of the skills.
fn say(report: &InstallReport, output: &mut Output) {
    say_failed(report, output);
    let number = |is_meant: fn(&InstalledSkill) -> bool| {
        let skills = report.skills.iter();
        skills.filter(|(_, skill)| is_meant(skill)).count()
    };
    let installed = number(|it| matches!(it, InstalledSkill::Installed));
    let unchanged = number(|it| matches!(it, InstalledSkill::Unchanged));
    for name in &report.unwanted {
        let name = visible(name);
        output.say(format!(
            "`{name}` is in the lock and not in `skills.toml`; `skillfold remove {name}` removes it"
        ));
    }
    output.say(format!(
        "{}: {}, {unchanged} as locked already",
        paint(GOOD, "Installed"),
        pluralize(installed, "skill", "skills")
    ));
}
