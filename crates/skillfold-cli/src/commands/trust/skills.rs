//! `skillfold trust SKILL`: skills that are held

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::visible;
use skillfold::core::{Catalog, Entry, Error, Refusal, Scope};
use skillfold::view::{Document, TrustedSkillsView};
use skillfold::{
    Environment, Host, Skills,
    settings::NewSkills,
    trust::{TrustedSkillList, distrust_skill, trust_skills},
};

use crate::arguments::{Global, Trust};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::confirm;
use crate::terminal::output::{GOOD, Output, WARN, display_path, paint, pluralize};
use crate::terminal::skill_review::{show_findings, show_skills};

/// Trusts held skills: those with these ids, or all if there are none.
pub(super) fn add(global: &Global, options: &Trust, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let skills = host::skills(global, output)?;
    let folders = chosen(&skills.catalog(), &options.names, output)?;
    if folders.is_empty() {
        return nothing_to_do(&environment, &skills, output);
    }
    // The user must see what they agree to.
    if !output.is_json() || !options.yes {
        show(global, &folders, output)?;
    }
    if !options.yes {
        confirm_all(&folders, output)?;
    }
    let number = trust_skills(&environment, folders)?;
    if !output.is_json() {
        let done = paint(GOOD, "Trusted");
        let skills = pluralize(number, "skill", "skills");
        output.say(format!(
            "{done}: {skills}; `skillfold trust --remove SKILL` holds one again"
        ));
    }
    print_json(&environment, output)
}

/// Returns the folders of the held skills with these ids; of all held skills if there are no ids.
fn chosen(
    catalog: &Catalog,
    ids: &[String],
    output: &mut Output,
) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut entries = Vec::new();
    if ids.is_empty() {
        let held = catalog.entries();
        entries.extend(held.filter(|entry| entry.status() == Status::Held));
    }
    for id in ids {
        let entry = catalog.resolve_or_suggest(id)?;
        match entry.status() {
            Status::Held => entries.push(entry),
            Status::Untrusted => {
                let rule = "Its project is not trusted; `skillfold trust` without a name trusts the project";
                return Err(Error::refused(id, Refusal::Trust, rule).into());
            }
            _ => output.say(format!("`{}` is not held", visible(id))),
        }
    }
    Ok(entries.iter().filter_map(Entry::real_dir).collect())
}

fn nothing_to_do(environment: &Environment, skills: &Skills, output: &mut Output) -> CommandResult {
    output.say(match skills.report().settings.new_skills.value {
        NewSkills::Hold => "Nothing to do: no skill is held",
        _ => {
            "Nothing to do: models get new skills at once. `skillfold config set new_skills hold` holds new ones from now on"
        }
    });
    print_json(environment, output)
}

/// Shows skills as they would be used: what each can do, and what is wrong with it.
fn show(global: &Global, folders: &BTreeSet<PathBuf>, output: &mut Output) -> Result<(), Failure> {
    let skills = host::host(global)?
        .set("new_skills", "show")
        .discover()?
        .skills;
    let is_chosen = |entry: &Entry<'_>| {
        entry
            .real_dir()
            .is_some_and(|folder| folders.contains(&folder))
    };
    show_skills(&skills, is_chosen, "skillfold list", output)?;
    let catalog = skills.catalog();
    let files = catalog.entries().filter(is_chosen);
    let files: BTreeSet<PathBuf> = files.filter_map(|entry| entry.file()).collect();
    let name_file = |file: &Path| files.contains(file).then(|| file.to_owned());
    show_findings(&skills, name_file, output)?;
    output.say("Trust is by path: models get whatever is in each folder, now or later");
    Ok(())
}

/// Asks whether to trust skills; fails unless the user says yes.
fn confirm_all(folders: &BTreeSet<PathBuf>, output: &mut Output) -> Result<(), Failure> {
    let number = folders.len();
    let (question, what) = match folders.first() {
        Some(folder) if number == 1 => (
            "Trust this skill?".to_owned(),
            folder.to_string_lossy().into_owned(),
        ),
        _ => (
            format!("Trust these {number} skills?"),
            format!("{number} skills"),
        ),
    };
    confirm(&question, &what, Refusal::Trust, output)
}

pub(super) fn remove(
    environment: &Environment,
    global: &Global,
    ids: &[String],
    output: &mut Output,
) -> CommandResult {
    let skills = host::skills(global, output)?;
    let catalog = skills.catalog();
    for id in ids {
        // A skill that is gone has no id any more, but the list shows its path.
        let folder = catalog.get(id).and_then(|entry| entry.real_dir());
        let folder = folder.unwrap_or_else(|| environment.directory().join(id));
        if let Err(error) = distrust_skill(environment, &folder) {
            output.say(
                "It is not in the list of trusted skills; `skillfold trust --list --held` shows them",
            );
            return Err(error.into());
        }
        if !output.is_json() {
            output.line(display_path(&folder))?;
        }
    }
    let what = pluralize(ids.len(), "skill is", "skills are");
    output.say(match skills.report().settings.new_skills.value {
        NewSkills::Hold => format!("{what} held again"),
        _ => format!("{what} no longer trusted; this has no effect while `new_skills` is `show`"),
    });
    print_json(environment, output)
}

pub(super) fn list(environment: &Environment, output: &mut Output) -> CommandResult {
    if output.is_json() {
        return print_json(environment, output);
    }
    let trusted = TrustedSkillList::load(environment);
    for folder in &*trusted.folders {
        let path = display_path(folder);
        if folder.is_dir() {
            output.line(path)?;
        } else {
            output.line(format!("{path}  {}", paint(WARN, "gone")))?;
        }
    }
    let skills = pluralize(trusted.folders.len(), "skill is", "skills are");
    host::say_list(&skills, trusted.file.as_deref(), &trusted.findings, output);
    Ok(ExitCode::SUCCESS)
}

/// Prints the list, if the output is JSON.
fn print_json(environment: &Environment, output: &mut Output) -> CommandResult {
    if output.is_json() {
        let trusted = TrustedSkillList::load(environment);
        output.json(Document::TrustedSkills(TrustedSkillsView::new(&trusted)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Trusts the skills that are there before new ones are held: otherwise all of them would be. Does nothing if new skills
/// are held already.
pub(crate) fn trust_present(host: Host, output: &mut Output) -> Result<(), Failure> {
    let environment = host.environment().clone();
    let skills = host.discover_lenient().skills;
    if skills.report().settings.new_skills.value == NewSkills::Hold {
        host::say_held(&skills.catalog(), output);
        return Ok(());
    }
    let catalog = skills.catalog();
    let present = catalog
        .entries()
        .filter(|entry| entry.status() != Status::Untrusted && entry.scope() != Scope::Bundled);
    let folders: BTreeSet<_> = present.filter_map(|entry| entry.real_dir()).collect();
    let number = folders.len();
    trust_skills(&environment, folders)?;
    let (skills, are) = if number == 1 {
        ("1 skill that is".to_owned(), "is")
    } else {
        (format!("{number} skills that are"), "are")
    };
    output.say(format!(
        "{skills} here now {are} trusted; those of other projects are held until you run `skillfold trust --held` there"
    ));
    Ok(())
}
