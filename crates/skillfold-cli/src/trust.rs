//! `skillfold trust`

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skillfold::core::{Diagnostic, Entry, Error, Limits, Severity, visible};
use skillfold::view::{Document, Trusted};
use skillfold::{
    CheckTarget, Environment, Host, Skills, TrustedFolders, TrustedState, distrust_folder,
    trust_folder, trustable_folder,
};

use crate::arguments::{Global, Trust};
use crate::ask::{Answer, ask};
use crate::failure::Failure;
use crate::host;
use crate::output::{BOLD, DIM, GOOD, Output, Unshown, WARN, counted, finding, painted, shown};

/// Skills that are shown before a folder is trusted.
const SKILLS: usize = 50;

/// Findings that are shown.
const FINDINGS: usize = 50;

pub(crate) fn run(
    global: &Global,
    options: &Trust,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    if options.list {
        return list(&environment, output);
    }
    let named = options.folder.as_ref();
    let folder = match named {
        Some(folder) => environment.directory().join(folder).components().collect(),
        None => environment.project().to_owned(),
    };
    if options.remove {
        return remove(&environment, &folder, output);
    }
    let folder = trustable_folder(&environment, &folder)?;
    let seen_from = match named {
        Some(_) => &folder,
        None => environment.directory(),
    };
    add(&environment, &folder, seen_from, options, output)
}

fn list(environment: &Environment, output: &mut Output) -> Result<ExitCode, Failure> {
    let trusted = TrustedFolders::load(environment);
    if output.is_json() {
        output.json(Document::Trusted(Trusted::new(&trusted)))?;
        return Ok(ExitCode::SUCCESS);
    }
    for folder in &trusted.folders {
        let path = shown(folder.path());
        match folder.state() {
            TrustedState::Trusted => output.line(path)?,
            state => output.line(format!("{path}  {}", painted(WARN, state)))?,
        }
    }
    for problem in &trusted.findings {
        host::say(&problem.diagnostic, &problem.origin, output);
    }
    let folders = trusted.folders.iter();
    let number = folders.filter(|one| one.state() == TrustedState::Trusted);
    let folders = counted(number.count(), "folder is", "folders are");
    match trusted.file.filter(|file| file.exists()) {
        Some(file) => output.say(format!("{folders} trusted by {}", shown(&file))),
        None => output.say(format!("{folders} trusted")),
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(
    environment: &Environment,
    folder: &Path,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let removed = match distrust_folder(environment, folder) {
        Ok(removed) => removed,
        Err(error) => {
            match TrustedFolders::load(environment).trusts(folder) {
                Some(above) => output.say(format!("It is trusted by {}", shown(above.path()))),
                None => {
                    output.say("It is not in the list of trusted folders; `skillfold trust --list` shows them");
                }
            }
            return Err(error.into());
        }
    };
    if output.is_json() {
        let trusted = TrustedFolders::load(environment);
        output.json(Document::Trusted(Trusted::new(&trusted)))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.line(shown(&removed))?;
    output.say("It is no longer trusted");
    if folder.is_dir() {
        // It is done: settings that cannot be followed are no reason to fail now.
        let skills = Host::new(Environment::from_process(folder)?).discover_anyway();
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
    seen_from: &Path,
    options: &Trust,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let list = TrustedFolders::load(environment);
    if let Some(by) = list.trusts(folder) {
        if output.is_json() {
            output.json(Document::Trusted(Trusted::new(&list)))?;
        } else {
            let by = shown(by.path());
            output.say(format!("Nothing to do: it is trusted already, by {by}"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    // Nobody agrees to what was not shown.
    if !output.is_json() || !options.yes {
        show(folder, seen_from, output)?;
    }
    if !options.yes {
        match ask("Trust this folder?", output) {
            Answer::Yes => {}
            Answer::No => {
                let rule = "Cancelled; nothing was changed";
                return Err(Error::refused_trust(folder.to_string_lossy(), rule).into());
            }
            Answer::Nobody => {
                let rule =
                    "There is no terminal to ask on; review what is shown, then pass `--yes`";
                return Err(Error::refused_trust(folder.to_string_lossy(), rule).into());
            }
        }
    }
    let real = trust_folder(environment, folder)?;
    if output.is_json() {
        let trusted = TrustedFolders::load(environment);
        output.json(Document::Trusted(Trusted::new(&trusted)))?;
    } else {
        let done = painted(GOOD, "Trusted");
        output.say(format!(
            "{done}: {}; `skillfold trust --remove` takes it back",
            shown(&real)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what would be trusted: the folder, its skills and what is wrong with them.
fn show(folder: &Path, seen_from: &Path, output: &mut Output) -> Result<(), Failure> {
    let seen = Environment::from_process(seen_from)?;
    let skills = Host::new(seen).set("trust_project", "true").discover()?;
    output.show(painted(BOLD, shown(folder)))?;
    show_skills(&skills, folder, output)?;
    show_findings(&skills, folder, output)?;
    if folder.join(".git").exists() {
        output.say("Trust is by path: models get every skill that is in this folder, now or later");
        return Ok(());
    }
    output.show("  projects in it are not searched; name one to see its skills")?;
    output.say(
        "Trust is by path: models get every skill of every project in this folder, now or later",
    );
    Ok(())
}

fn show_skills(skills: &Skills, folder: &Path, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    let entries: Vec<_> = catalog
        .entries()
        .filter(|entry| lies_in(entry, folder))
        .collect();
    let rows: Vec<_> = entries
        .iter()
        .take(SKILLS)
        .map(|entry| {
            let page = skills.for_person().files(entry.id(), None, 1);
            let files = match page {
                Ok(page) => counted(page.total, "file", "files"),
                Err(_) => "files unknown".to_owned(),
            };
            (
                visible(entry.id()).into_owned(),
                files,
                entry.manifest().brief(),
            )
        })
        .collect();
    let width = |text: &dyn Fn(usize) -> usize| (0..rows.len()).map(text).max().unwrap_or_default();
    let id_width = width(&|row| rows[row].0.chars().count());
    let files_width = width(&|row| rows[row].1.chars().count());
    for (id, files, brief) in &rows {
        let files = painted(DIM, format!("{files:files_width$}"));
        output.show(format!("  {id:id_width$}  {files}  {}", visible(brief)))?;
    }
    match entries.len() {
        0 => output.show("  no skills are visible from here"),
        number if number > SKILLS => {
            let more = number - SKILLS;
            output.show(format!(
                "  and {more} more: `skillfold list --scope project`"
            ))
        }
        _ => Ok(()),
    }
}

fn lies_in(entry: &Entry<'_>, folder: &Path) -> bool {
    let location = entry.root().source().location();
    location.is_some_and(|location| location.starts_with(folder))
}

fn show_findings(skills: &Skills, folder: &Path, output: &mut Output) -> Result<(), Failure> {
    let profile = skills.report().settings.profile.value;
    let targets = CheckTarget::all_in(&skills.catalog()).into_iter();
    let mut first: Vec<(PathBuf, Diagnostic)> = Vec::new();
    let mut unshown = Unshown::default();
    for target in targets.filter(|target| target.file().starts_with(folder)) {
        let file = name_in(folder, target.file());
        let checked = match target.check(profile, &Limits::default()) {
            Ok(checked) => checked,
            Err(error) => {
                output.show(format!("  {}: {}", shown(&file), error.with_cause()))?;
                continue;
            }
        };
        let findings = checked.findings.into_iter();
        let findings = findings.filter(|one| one.severity > Severity::Info);
        first.extend(findings.map(|one| (file.clone(), one)));
        // What may deceive comes first, then what is worst: many small findings must not hide it.
        first.sort_by_key(|(_, one)| Reverse((one.code.is_about_safety(), one.severity)));
        for (_, one) in first.drain(first.len().min(FINDINGS)..) {
            unshown.add(&one);
        }
    }
    for (file, one) in &first {
        output.show(format!("  {}: {}", shown(file), finding(one)))?;
    }
    if !unshown.is_empty() {
        unshown.print("  ", output)?;
        output.show("  `skillfold check` shows them")?;
    }
    Ok(())
}

fn name_in(folder: &Path, file: PathBuf) -> PathBuf {
    match file.strip_prefix(folder) {
        Ok(inside) => inside.to_owned(),
        Err(_) => file,
    }
}
