//! `skillfold add`

use std::path::Path;
use std::process::ExitCode;

use skillfold::Skills;
use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::visible;
use skillfold::core::text::ellipsize;
use skillfold::core::{Entry, Error};
use skillfold::registry::{
    AddRequest, AddedSkill, Address, LeftOut, Names, Registry, SkillInSource,
};
use skillfold::store::{Proposal, Store};
use skillfold::view::{Document, SkillProposals};

use crate::arguments::{Add, Global};
use crate::commands::proposals;
use crate::failure::{CommandResult, EXIT_PROBLEMS, EXIT_REFUSED, Failure};
use crate::host;
use crate::terminal::approval::{self, Asked};
use crate::terminal::ask::{ask_line, can_ask};
use crate::terminal::digest::short;
use crate::terminal::output::{BAD, BOLD, DIM, GOOD, Output, PLAIN, WARN, paint, pluralize};
use crate::terminal::progress;
use crate::terminal::table::Table;

/// Maximum proposals that are shown in full before the question.
const MAX_SHOWN: usize = 5;
/// Maximum things left out that are named one by one.
const MAX_LEFT_OUT: usize = 10;
/// Maximum characters of a description in a list.
const MAX_DESCRIPTION: usize = 80;

pub(crate) fn run(global: &Global, options: &Add, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let registry = registry.with_progress(progress::fetching(output.is_quiet()));
    if Registry::is_other_lock(Path::new(&options.source)) {
        return take_over(&skills, &registry, Path::new(&options.source), output);
    }
    let address = registry.address(&options.source)?;
    let mut new = AddRequest::new(address);
    new.clients.clone_from(&options.client);
    new.names = if options.all {
        Names::All
    } else if options.skill.is_empty() {
        choose(&registry, &new.address, output)?
    } else {
        Names::These(options.skill.clone())
    };
    let report = registry.propose(&new);
    progress::clear();
    let report = report?;
    if new.names == Names::All {
        say_left_out(&report.left_out, output);
    }
    say_failed(&report.failed, output);
    let decided = decide(&skills, &registry, &report.skills, output)?;
    print_json(&report.skills, &report.failed, output)?;
    Ok(if report.failed.is_empty() {
        decided
    } else {
        ExitCode::from(EXIT_PROBLEMS)
    })
}

/// Proposes the skills in another tool's lock.
fn take_over(
    skills: &Skills,
    registry: &Registry<'_>,
    path: &Path,
    output: &mut Output,
) -> CommandResult {
    let taken = registry.take_over(path);
    progress::clear();
    let taken = taken?;
    say_failed(&taken.left_out, output);
    let decided = decide(skills, registry, &taken.skills, output)?;
    print_json(&taken.skills, &taken.left_out, output)?;
    if taken.left_out.is_empty() {
        Ok(decided)
    } else {
        Ok(ExitCode::from(EXIT_PROBLEMS))
    }
}

/// Says which skills could not be proposed.
fn say_failed(failed: &[(String, Error)], output: &mut Output) {
    for (name, error) in failed {
        let (name, why) = (visible(name), error.with_cause());
        output.say_problem(format!("{}: `{name}`: {why}", paint(BAD, "Left out")));
        output.say_problem(format!("{}: {}", paint(DIM, "hint"), error.hint()));
    }
}

/// Asks which skills of a source are meant, if there are several.
fn choose(
    registry: &Registry<'_>,
    address: &Address,
    output: &mut Output,
) -> Result<Names, Failure> {
    if !can_ask() {
        return Ok(Names::Only);
    }
    let contents = registry.skills_in(address);
    progress::clear();
    let contents = contents?;
    say_left_out(&contents.left_out, output);
    let found = contents.skills;
    if found.len() < 2 {
        return Ok(Names::Only);
    }
    show_skills(&found, output)?;
    let question = "Which ones? Numbers or names with commas, or `all`: ";
    let answer = ask_line(question, output).unwrap_or_default();
    let words = answer.split([',', ' ']).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    match *words {
        [] => Err(Failure::Interrupted),
        ["all"] => Ok(Names::All),
        _ => {
            let names = words.into_iter().map(|word| {
                let chosen = word
                    .parse()
                    .ok()
                    .and_then(|number: usize| found.get(number.checked_sub(1)?));
                chosen.map_or_else(|| word.to_owned(), |chosen| chosen.skill.name.to_string())
            });
            Ok(Names::These(names.collect()))
        }
    }
}

/// Shows the skills of a source, with numbers.
pub(crate) fn show_skills(found: &[SkillInSource], output: &mut Output) -> Result<(), Failure> {
    let mut table = Table::default();
    for (it, number) in found.iter().zip(1_u32..) {
        let description = ellipsize(&it.skill.description, MAX_DESCRIPTION);
        let installed = it.installed.as_ref().map_or("", |_| "installed: ");
        table.row([
            (DIM, &number.to_string()),
            (BOLD, it.skill.name.as_str()),
            (PLAIN, &format!("{installed}{}", visible(&description))),
        ]);
    }
    output.show_table(&table)?;
    Ok(())
}

/// Prints what was proposed as JSON, if that was asked for.
fn print_json(
    added: &[AddedSkill],
    failed: &[(String, Error)],
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        let view = SkillProposals::new(added, failed);
        output.json(Document::SkillProposals(view))?;
    }
    Ok(())
}

/// Shows what was proposed, and asks whether it is to be installed. Without a terminal it waits.
pub(crate) fn decide(
    skills: &Skills,
    registry: &Registry<'_>,
    added: &[AddedSkill],
    output: &mut Output,
) -> CommandResult {
    let store = skills.store()?;
    let mut waiting = Vec::new();
    for skill in added {
        let name = visible(&skill.name);
        match &skill.proposal {
            Some(proposal) => waiting.push((proposal, skill)),
            None => output.say(format!("`{name}` is installed already ({})", skill.pin)),
        }
    }
    if waiting.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    show_all(&store, &waiting, output)?;
    let number = pluralize(waiting.len(), "skill", "skills");
    if !can_ask() {
        output.say(format!(
            "Proposed {number}; nothing is installed until you approve it in a terminal: `skillfold review`"
        ));
        return Ok(ExitCode::from(EXIT_REFUSED));
    }
    let what = match *waiting {
        [(_, skill)] => format!("`{}`", visible(&skill.name)),
        _ => format!("these {number}"),
    };
    let question = format!("Install {what} like this?");
    let approval = match approval::ask_approval(skills, &store, &question, &what, output)? {
        Asked::Yes(approval) => approval,
        Asked::No => {
            let by = skills.user_name();
            for (proposal, _) in &waiting {
                store.reject(proposal.digest, &by, "Not installed", skills.now())?;
            }
            output.say("Cancelled; nothing was installed");
            return Ok(ExitCode::from(EXIT_REFUSED));
        }
    };
    let proposals: Vec<_> = waiting.iter().map(|(proposal, _)| *proposal).collect();
    let installed = registry.approve_all(&proposals, &approval)?;
    let mut decided = ExitCode::SUCCESS;
    for ((_, skill), installed) in waiting.iter().zip(installed) {
        let name = visible(&skill.name);
        match installed {
            Ok(installed) => output.say(format!(
                "{}: `{name}` {} ({})",
                paint(GOOD, "Installed"),
                skill.pin,
                short(&installed.after.to_string())
            )),
            Err(error) => {
                output.say_problem(format!(
                    "{}: `{name}`: {}",
                    paint(BAD, "Not installed"),
                    error.with_cause()
                ));
                output.say_problem(format!("{}: {}", paint(DIM, "hint"), error.hint()));
                decided = ExitCode::from(EXIT_PROBLEMS);
            }
        }
    }
    say_withheld(skills, &waiting, output)?;
    Ok(decided)
}

/// Says if models do not get what was installed.
fn say_withheld(
    skills: &Skills,
    added: &[(&Proposal, &AddedSkill)],
    output: &mut Output,
) -> Result<(), Failure> {
    skills.refresh()?;
    let catalog = skills.catalog();
    let is_new = |entry: &Entry<'_>| {
        let folder = entry.base_dir();
        added
            .iter()
            .any(|(_, skill)| Some(&skill.folder) == folder.as_ref())
    };
    let withheld = catalog
        .entries()
        .filter(|entry| !entry.is_visible() && is_new(entry));
    let withheld: Vec<Status> = withheld.map(|entry| entry.status()).collect();
    if withheld.contains(&Status::Untrusted) {
        output.say("Models do not get it yet, since the project is not trusted: `skillfold trust`");
    } else if !withheld.is_empty() {
        output.say("Models do not get it: `skillfold doctor` says why");
    }
    Ok(())
}

/// Shows what waits: the first in full, the others in a line each.
fn show_all(
    store: &Store,
    waiting: &[(&Proposal, &AddedSkill)],
    output: &mut Output,
) -> Result<(), Failure> {
    for (number, (proposal, skill)) in waiting.iter().enumerate() {
        let Some(effects) = &skill.effects else {
            continue;
        };
        if number < MAX_SHOWN {
            let waiting = store.find_proposal(proposal.name())?;
            proposals::show(store, &waiting, effects, output)?;
        } else {
            let name = paint(BOLD, visible(&skill.name));
            output.show(format!("{name}: {}", effects.lines().join("; ")))?;
        }
        say_conflicts(&skill.name, &skill.conflicts, output);
    }
    Ok(())
}

/// Says what a source has that cannot be added.
pub(crate) fn say_left_out(left_out: &[LeftOut], output: &mut Output) {
    for it in left_out.iter().take(MAX_LEFT_OUT) {
        let (path, reason) = (&it.path, &it.reason);
        output.say(format!("{}: `{path}`: {reason}", paint(WARN, "Left out")));
    }
    let more = left_out.len().saturating_sub(MAX_LEFT_OUT);
    if more > 0 {
        output.say(format!(
            "{more} more are left out; `skillfold search --in SOURCE --json` lists all"
        ));
    }
}

/// Says which files were edited here and by the author in the same lines.
pub(crate) fn say_conflicts(skill: &str, conflicts: &[String], output: &mut Output) {
    for file in conflicts {
        let (name, file) = (visible(skill), visible(file));
        output.say_problem(format!(
            "{} in `{name}`: you and the author both changed `{file}`; yours stays, and the author's, unless it was removed, is beside it as `{file}.upstream`",
            paint(WARN, "Conflict")
        ));
    }
}
