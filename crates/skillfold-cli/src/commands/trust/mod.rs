//! `skillfold trust`

pub(crate) mod skills;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skillfold::core::read::RefusedFolder;
use skillfold::core::{Entry, Error, Refusal};
use skillfold::view::{Document, Trusted};
use skillfold::{
    Environment, Host, Settings,
    settings::NewSkills,
    trust::{
        Pins, TrustedFolder, TrustedFolders, TrustedSkillList, TrustedState, check_trustable,
        distrust_folder, trust_folder, trust_pinned, trust_skills,
    },
};

use crate::arguments::{Global, Trust};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::{Answer, ask, confirm};
use crate::terminal::output::{BOLD, DIM, GOOD, Output, WARN, display_path, paint, pluralize};
use crate::terminal::skill_review::{show_findings, show_skills};

pub(crate) fn run(global: &Global, options: &Trust, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    if options.list && options.held {
        return skills::list(&environment, output);
    }
    if options.list {
        return list(&environment, output);
    }
    if options.held {
        return skills::add(global, options, output);
    }
    let given = match &*options.names {
        [] => None,
        [name] if is_folder(&environment, name) => Some(name),
        names if names.iter().any(|name| is_folder(&environment, name)) => {
            let message = "Name one folder, or skills: a folder has a `/`, or is `.`";
            return Err(Failure::Usage(message.to_owned()));
        }
        names if options.remove => return skills::remove(&environment, global, names, output),
        _ => return skills::add(global, options, output),
    };
    let folder = match given {
        Some(folder) => environment.directory().join(folder).components().collect(),
        None => environment.project().to_owned(),
    };
    if options.remove {
        let skills = TrustedSkillList::load(&environment);
        // The list of skills shows paths too, and one that is gone has no id any more.
        if skills.folders.contains(&folder) {
            return skills::remove(&environment, global, &options.names, output);
        }
        return remove(&environment, &folder, output);
    }
    let folder = check_trustable(&environment, &folder)?;
    let start = match given {
        Some(_) => &folder,
        None => environment.directory(),
    };
    add(&environment, &folder, start, options, output)
}

/// Returns whether a name means a folder and not a skill.
fn is_folder(environment: &Environment, name: &str) -> bool {
    let is_path = name.contains(std::path::is_separator) || matches!(name, "." | ".." | "~");
    let skills = || Host::new(environment.clone()).discover_lenient().skills;
    is_path || environment.directory().join(name).is_dir() && skills().catalog().get(name).is_none()
}

fn list(environment: &Environment, output: &mut Output) -> CommandResult {
    let trusted = TrustedFolders::load(environment);
    if output.is_json() {
        return output.json(Document::Trusted(Trusted::new(&trusted, environment)));
    }
    let mut number = 0;
    for folder in &trusted.folders {
        let path = display_path(folder.path());
        let state = folder.state_with_content(environment);
        match state {
            TrustedState::Trusted => output.line(path)?,
            TrustedState::Pinned => output.line(format!("{path}  {}", paint(DIM, state)))?,
            state => output.line(format!("{path}  {}", paint(WARN, state)))?,
        }
        number += usize::from(matches!(
            state,
            TrustedState::Trusted | TrustedState::Pinned
        ));
    }
    let folders = pluralize(number, "folder is", "folders are");
    host::say_list(&folders, trusted.file.as_deref(), &trusted.findings, output);
    Ok(ExitCode::SUCCESS)
}

fn remove(environment: &Environment, folder: &Path, output: &mut Output) -> CommandResult {
    let removed = match distrust_folder(environment, folder) {
        Ok(removed) => removed,
        Err(error) => {
            match TrustedFolders::load(environment).find_trusted(folder) {
                Some(above) => {
                    output.say(format!("It is trusted by {}", display_path(above.path())));
                }
                None => {
                    output.say("It is not in the list of trusted folders; `skillfold trust --list` shows them");
                }
            }
            return Err(error.into());
        }
    };
    if output.is_json() {
        let trusted = TrustedFolders::load(environment);
        return output.json(Document::Trusted(Trusted::new(&trusted, environment)));
    }
    output.line(display_path(&removed))?;
    output.say("It is no longer trusted");
    if folder.is_dir() {
        // The folder is already removed: invalid settings are no reason to fail now.
        let skills = Host::new(Environment::from_process(folder)?)
            .discover_lenient()
            .skills;
        let report = skills.report();
        let mut rules = report
            .roots
            .iter()
            .filter_map(|root| root.trusted_by.as_ref());
        if let Some(rule) = rules.next() {
            output.say(format!("The project is still trusted by {rule}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn add(
    environment: &Environment,
    folder: &Path,
    start: &Path,
    options: &Trust,
    output: &mut Output,
) -> CommandResult {
    let list = TrustedFolders::load(environment);
    let known = already_trusted(environment, &list, folder, options)?;
    if let Some(trusted_by) = known {
        if output.is_json() {
            output.json(Document::Trusted(Trusted::new(&list, environment)))?;
        } else {
            let pinned = trusted_by.pins().map_or("", |_| ", pinned");
            let trusted_by = display_path(trusted_by.path());
            output.say(format!(
                "Nothing to do: it is trusted already, by {trusted_by}{pinned}"
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let skills = skills_to_trust(folder, start)?;
    // What is pinned is what is shown, and not what comes while the user reads.
    let pins = pins(&list, folder, start, options)?;
    // The user must see what they agree to.
    if !output.is_json() || !options.yes {
        show(folder, start, pins.as_ref(), output)?;
    }
    if !options.yes {
        let what = folder.to_string_lossy();
        confirm("Trust this folder?", &what, Refusal::Trust, output)?;
    }
    let trusted = trust_shown(environment, folder, skills, pins.as_ref(), output)?;
    if output.is_json() {
        let trusted = TrustedFolders::load(environment);
        output.json(Document::Trusted(Trusted::new(&trusted, environment)))?;
    } else {
        let done = paint(GOOD, "Trusted");
        let pinned = pins.map_or("", |_| ", pinned");
        output.say(format!(
            "{done}: {}{pinned}; `skillfold trust --remove` undoes it",
            display_path(&trusted)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Trusts the project of an author who wants to: no model gets the skills that they write otherwise. `created` is the
/// file that they have just made. If there is anything else in the project, it is not offered: `skillfold trust` shows it
/// first.
pub(crate) fn offer(
    environment: &Environment,
    created: Option<&Path>,
    is_wanted: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let skills = Host::new(environment.clone()).discover_lenient().skills;
    let report = skills.report();
    let is_trusted = report.roots.iter().any(|root| root.trusted_by.is_some());
    let Ok(folder) = check_trustable(environment, environment.project()) else {
        return Ok(());
    };
    if is_trusted {
        return Ok(());
    }
    let shown = skills_to_trust(&folder, environment.directory())?;
    if is_wanted && output.is_json() {
        trust_shown(environment, &folder, shown, None, output)?;
        return Ok(());
    }
    if is_wanted {
        let options = Trust {
            names: Vec::new(),
            held: false,
            list: false,
            remove: false,
            pin: false,
            yes: true,
        };
        add(
            environment,
            &folder,
            environment.directory(),
            &options,
            output,
        )?;
        return Ok(());
    }
    let catalog = skills.catalog();
    let is_other =
        |entry: &Entry<'_>| is_inside(entry, &folder) && entry.file().as_deref() != created;
    let is_refused_here = |refused: &RefusedFolder| {
        let root = &catalog.roots()[refused.source];
        let location = root.source().location();
        location.is_some_and(|location| location.starts_with(&folder))
    };
    let has_others = catalog.entries().any(|entry| is_other(&entry))
        || catalog
            .refused()
            .iter()
            .any(|refused| is_refused_here(refused));
    let answer = if has_others || output.is_json() {
        Answer::NoTerminal
    } else {
        let question = "Trust this project, so that models get its skills, now and later?";
        ask(question, output)
    };
    match answer {
        Answer::Yes => {
            let trusted = trust_shown(environment, &folder, shown, None, output)?;
            output.say(format!(
                "{}: {}",
                paint(GOOD, "Trusted"),
                display_path(&trusted)
            ));
        }
        _ if output.is_json() => {}
        _ => output.say("No model gets the project's skills until you run `skillfold trust`"),
    }
    Ok(())
}

/// Returns the entry that trusts the folder already, as the user wants it.
fn already_trusted<'l>(
    environment: &Environment,
    list: &'l TrustedFolders,
    folder: &Path,
    options: &Trust,
) -> Result<Option<&'l TrustedFolder>, Failure> {
    match list.find_trusted(folder) {
        Some(trusted_by) if !options.pin => return Ok(Some(trusted_by)),
        Some(trusted_by) if trusted_by.path() != folder => {
            let rule = "A parent folder is trusted with everything in it; `skillfold trust --list` shows it, and `--remove` undoes it";
            return Err(Error::refused(folder.to_string_lossy(), Refusal::Trust, rule).into());
        }
        Some(_) => return Ok(None),
        None => {}
    }
    let pinned = list.find_pinned(folder);
    Ok(pinned.filter(|entry| entry.state_with_content(environment) == TrustedState::Pinned))
}

/// Returns the skills to pin: if the user wants it, or if the folder is pinned already.
fn pins(
    list: &TrustedFolders,
    folder: &Path,
    start: &Path,
    options: &Trust,
) -> Result<Option<Pins>, Failure> {
    if !options.pin && list.find_pinned(folder).is_none() {
        return Ok(None);
    }
    let pins = Pins::of_project(&Environment::from_process(start)?, folder)?;
    if pins.is_empty() {
        let rule = "It has no skills to pin; name a project that has some";
        return Err(Error::refused(folder.to_string_lossy(), Refusal::Trust, rule).into());
    }
    Ok(Some(pins))
}

/// Returns the folders of the skills in a folder that are visible from `start`; none unless new skills are held.
fn skills_to_trust(folder: &Path, start: &Path) -> Result<BTreeSet<PathBuf>, Failure> {
    let environment = Environment::from_process(start)?;
    if Settings::load(&environment).new_skills.value != NewSkills::Hold {
        return Ok(BTreeSet::new());
    }
    let host = Host::new(environment).set("trust_project", "true");
    let skills = host.discover_lenient().skills;
    let catalog = skills.catalog();
    let inside = catalog.entries().filter(|entry| is_inside(entry, folder));
    Ok(inside.filter_map(|entry| entry.real_dir()).collect())
}

/// Trusts a folder, and accepts the skills in it that the user has seen.
fn trust_shown(
    environment: &Environment,
    folder: &Path,
    skills: BTreeSet<PathBuf>,
    pins: Option<&Pins>,
    output: &mut Output,
) -> Result<PathBuf, Failure> {
    let trusted = match pins {
        Some(pins) => trust_pinned(environment, folder, pins)?,
        None => trust_folder(environment, folder)?,
    };
    if !skills.is_empty() {
        let number = skills.len();
        trust_skills(environment, skills)?;
        let skills = pluralize(number, "skill in it is", "skills in it are");
        output.say(format!(
            "{skills} trusted; new ones are held until you run `skillfold trust --held`"
        ));
    }
    Ok(trusted)
}

/// Shows what would be trusted: the folder, its skills and their findings.
fn show(
    folder: &Path,
    start: &Path,
    pins: Option<&Pins>,
    output: &mut Output,
) -> Result<(), Failure> {
    let environment = Environment::from_process(start)?;
    let are_held = Settings::load(&environment).new_skills.value == NewSkills::Hold;
    let host = Host::new(environment).set("trust_project", "true");
    let skills = host.set("new_skills", "show").discover()?.skills;
    output.show(paint(BOLD, display_path(folder)))?;
    let is_inside = |entry: &Entry<'_>| is_inside(entry, folder);
    let number = show_skills(&skills, is_inside, "skillfold list --scope project", output)?;
    if number == 0 {
        output.show("  no skills are visible from here")?;
    }
    let name_file = |file: &Path| Some(file.strip_prefix(folder).ok()?.to_owned());
    show_findings(&skills, name_file, output)?;
    if pins.is_some() {
        output.say("Trust is pinned: models get these skills as they are now; if any skill changes or a new one appears, trust ends");
        return Ok(());
    }
    let is_project = folder.join(".git").exists();
    if !is_project {
        output.show("  projects in it are not searched; name one to see its skills")?;
    }
    output.say(match (is_project, are_held) {
        (true, true) => {
            "Trust is by path: models get the skills above; new ones are held until you trust them"
        }
        (true, false) => "Trust is by path: models get every skill that is in this folder, now or later",
        (false, true) => {
            "Trust is by path: models get the skills that you trust, of every project in this folder"
        }
        (false, false) => {
            "Trust is by path: models get every skill of every project in this folder, now or later"
        }
    });
    Ok(())
}

fn is_inside(entry: &Entry<'_>, folder: &Path) -> bool {
    let location = entry.root().source().location();
    location.is_some_and(|location| location.starts_with(folder))
}
