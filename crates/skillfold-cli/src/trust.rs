//! `skillfold trust`

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::load::{FileKind, FileList, SkillFile};
use skillfold::core::read::RefusedFolder;
use skillfold::core::{Diagnostic, Entry, Error, Limits, Refusal};
use skillfold::view::{Document, Trusted};
use skillfold::{
    CheckTarget, Environment, Host, Skills, TrustedFolders, TrustedState, check_trustable,
    distrust_folder, trust_folder,
};

use crate::arguments::{Global, Trust};
use crate::ask::{Answer, ask};
use crate::failure::Failure;
use crate::host;
use crate::output::{
    BOLD, DIM, FindingCounts, GOOD, Output, WARN, display_path, format_finding, paint, pluralize,
};
use crate::table::Table;

/// Maximum skills shown before a folder is trusted.
const MAX_SKILLS: usize = 50;

/// Maximum files of a skill that are looked at for scripts.
const MAX_FILES: usize = 1_000;

/// Maximum scripts or tools of a skill that are named.
const MAX_NAMES: usize = 5;

/// Maximum findings shown.
const MAX_FINDINGS: usize = 50;

pub(crate) fn run(
    global: &Global,
    options: &Trust,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    if options.list {
        return list(&environment, output);
    }
    let given = options.folder.as_ref();
    let folder = match given {
        Some(folder) => environment.directory().join(folder).components().collect(),
        None => environment.project().to_owned(),
    };
    if options.remove {
        return remove(&environment, &folder, output);
    }
    let folder = check_trustable(&environment, &folder)?;
    let start = match given {
        Some(_) => &folder,
        None => environment.directory(),
    };
    add(&environment, &folder, start, options, output)
}

fn list(environment: &Environment, output: &mut Output) -> Result<ExitCode, Failure> {
    let trusted = TrustedFolders::load(environment);
    if output.is_json() {
        output.json(Document::Trusted(Trusted::new(&trusted)))?;
        return Ok(ExitCode::SUCCESS);
    }
    for folder in &trusted.folders {
        let path = display_path(folder.path());
        match folder.state() {
            TrustedState::Trusted => output.line(path)?,
            state => output.line(format!("{path}  {}", paint(WARN, state)))?,
        }
    }
    for problem in &trusted.findings {
        host::say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    let folders = trusted.folders.iter();
    let number = folders.filter(|trusted_folder| trusted_folder.state() == TrustedState::Trusted);
    let folders = pluralize(number.count(), "folder is", "folders are");
    match trusted.file.filter(|file| file.exists()) {
        Some(file) => output.say(format!("{folders} trusted by {}", display_path(&file))),
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
        output.json(Document::Trusted(Trusted::new(&trusted)))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.line(display_path(&removed))?;
    output.say("It is no longer trusted");
    if folder.is_dir() {
        // The folder is already removed: invalid settings are no reason to fail now.
        let skills = Host::new(Environment::from_process(folder)?).discover_lenient();
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
) -> Result<ExitCode, Failure> {
    let list = TrustedFolders::load(environment);
    if let Some(trusted_by) = list.find_trusted(folder) {
        if output.is_json() {
            output.json(Document::Trusted(Trusted::new(&list)))?;
        } else {
            let trusted_by = display_path(trusted_by.path());
            output.say(format!(
                "Nothing to do: it is trusted already, by {trusted_by}"
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    // The user must see what they agree to.
    if !output.is_json() || !options.yes {
        show(folder, start, output)?;
    }
    if !options.yes {
        match ask("Trust this folder?", output) {
            Answer::Yes => {}
            Answer::No => {
                let rule = "Cancelled; nothing was changed";
                return Err(Error::refused(folder.to_string_lossy(), Refusal::Trust, rule).into());
            }
            Answer::NoTerminal => {
                let rule =
                    "There is no terminal to ask on; review what is shown, then pass `--yes`";
                return Err(Error::refused(folder.to_string_lossy(), Refusal::Trust, rule).into());
            }
        }
    }
    let trusted = trust_folder(environment, folder)?;
    if output.is_json() {
        let trusted = TrustedFolders::load(environment);
        output.json(Document::Trusted(Trusted::new(&trusted)))?;
    } else {
        let done = paint(GOOD, "Trusted");
        output.say(format!(
            "{done}: {}; `skillfold trust --remove` takes it back",
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
    let skills = Host::new(environment.clone()).discover_lenient();
    let report = skills.report();
    let is_trusted = report.roots.iter().any(|root| root.trusted_by.is_some());
    let Ok(folder) = check_trustable(environment, environment.project()) else {
        return Ok(());
    };
    if is_trusted {
        return Ok(());
    }
    if is_wanted && output.is_json() {
        trust_folder(environment, &folder)?;
        return Ok(());
    }
    if is_wanted {
        let options = Trust {
            folder: None,
            list: false,
            remove: false,
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
            let trusted = trust_folder(environment, &folder)?;
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

/// Shows what would be trusted: the folder, its skills and their findings.
fn show(folder: &Path, start: &Path, output: &mut Output) -> Result<(), Failure> {
    let environment = Environment::from_process(start)?;
    let skills = Host::new(environment)
        .set("trust_project", "true")
        .discover()?;
    output.show(paint(BOLD, display_path(folder)))?;
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
        .filter(|entry| is_inside(entry, folder))
        .collect();
    let shown = &entries[..entries.len().min(MAX_SKILLS)];
    let files: Vec<_> = shown
        .iter()
        .map(|entry| skills.for_user().files(entry.id(), None, MAX_FILES).ok())
        .collect();
    let mut table = Table::indented(2);
    for (entry, files) in shown.iter().zip(&files) {
        let number = match files {
            Some(page) => pluralize(page.total, "file", "files"),
            None => "files unknown".to_owned(),
        };
        table.row([
            (BOLD, visible(entry.id()).into_owned()),
            (DIM, number),
            (
                Style::new(),
                visible(&entry.manifest().brief()).into_owned(),
            ),
        ]);
    }
    let lines = table.lines(output.columns());
    for ((entry, files), line) in shown.iter().zip(&files).zip(lines) {
        output.show_drawing(line)?;
        for power in powers(entry, files.as_ref()) {
            output.show(format!("      {}", paint(WARN, power)))?;
        }
    }
    match entries.len() {
        0 => output.show("  no skills are visible from here"),
        number if number > MAX_SKILLS => {
            let more = number - MAX_SKILLS;
            output.show(format!(
                "  and {more} more: `skillfold list --scope project`"
            ))
        }
        _ => Ok(()),
    }
}

/// Returns what a skill can do beyond telling a model something.
fn powers(entry: &Entry<'_>, files: Option<&FileList>) -> Vec<String> {
    let mut powers = Vec::new();
    let list = |words: Vec<Cow<'_, str>>| {
        let more = words.len().saturating_sub(MAX_NAMES);
        let names = words[..words.len().min(MAX_NAMES)].join(", ");
        if more > 0 {
            format!("{names} and {more} more")
        } else {
            names
        }
    };
    let files = files.map_or(&[][..], |page| &page.files);
    let is_script = |file: &&SkillFile| {
        file.kind == FileKind::Script || file.path.as_str().starts_with("scripts/")
    };
    let scripts = files.iter().filter(is_script);
    let scripts: Vec<_> = scripts.map(|file| visible(file.path.as_str())).collect();
    if !scripts.is_empty() {
        powers.push(format!("has scripts: {}", list(scripts)));
    }
    let manifest = entry.manifest();
    let tools: Vec<_> = manifest
        .allowed_tools()
        .iter()
        .map(|tool| visible(tool))
        .collect();
    if !tools.is_empty() {
        powers.push(format!(
            "asks for tools without a question: {}",
            list(tools)
        ));
    }
    if manifest.disable_model_invocation() {
        powers.push("only a person may start it".to_owned());
    }
    for other in entry.shadows() {
        let root = visible(other.root().label()).into_owned();
        powers.push(format!(
            "replaces your `{}` of {root}",
            visible(&other.manifest().name().to_string())
        ));
    }
    powers
}

fn is_inside(entry: &Entry<'_>, folder: &Path) -> bool {
    let location = entry.root().source().location();
    location.is_some_and(|location| location.starts_with(folder))
}

fn show_findings(skills: &Skills, folder: &Path, output: &mut Output) -> Result<(), Failure> {
    let profile = skills.report().settings.profile.value;
    let targets = CheckTarget::all_in(&skills.catalog()).into_iter();
    let mut shown: Vec<(PathBuf, Diagnostic)> = Vec::new();
    let mut not_shown = FindingCounts::default();
    let mut style = 0;
    for target in targets.filter(|target| target.file().starts_with(folder)) {
        let file = relative_path(folder, target.file());
        let checked = match target.check(profile, &Limits::default()) {
            Ok(checked) => checked,
            Err(error) => {
                output.show(format!("  {}: {}", display_path(&file), error.with_cause()))?;
                continue;
            }
        };
        let findings = checked.findings.into_iter();
        // The rest is style, which is no reason for or against trust.
        let matters = |finding: &Diagnostic| {
            finding.code.is_about_safety() || finding.severity == Severity::Error
        };
        for finding in findings.filter(|finding| finding.severity > Severity::Info) {
            if matters(&finding) {
                shown.push((file.clone(), finding));
            } else {
                style += 1;
            }
        }
        // Safety findings come first, then by severity: many minor findings must not hide them.
        shown.sort_by_key(|(_, finding)| {
            Reverse((finding.code.is_about_safety(), finding.severity))
        });
        for (_, finding) in shown.drain(shown.len().min(MAX_FINDINGS)..) {
            not_shown.add(&finding);
        }
    }
    for (file, finding) in &shown {
        output.show(format!(
            "  {}: {}",
            display_path(file),
            format_finding(finding)
        ))?;
    }
    if !not_shown.is_empty() {
        not_shown.print("  ", output)?;
        output.show("  `skillfold check` shows them")?;
    }
    if style > 0 {
        let style = pluralize(style, "warning", "warnings");
        output.show(paint(
            DIM,
            format!("  {style} of style and format; `skillfold check` shows them"),
        ))?;
    }
    Ok(())
}

fn relative_path(folder: &Path, file: PathBuf) -> PathBuf {
    match file.strip_prefix(folder) {
        Ok(relative) => relative.to_owned(),
        Err(_) => file,
    }
}
