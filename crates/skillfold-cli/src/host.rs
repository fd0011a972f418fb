//! Finds the skills that a command works on.

use std::path::Path;

use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::{Catalog, Code, Diagnostic, Error, ErrorKind, FsSource, Scope};
use skillfold::{
    Environment, Host, Skills,
    discovery::{RootStatus, SearchedRoot},
    settings::{Origin, SettingFinding},
};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::terminal::output::{DIM, Output, display_path, format_finding, paint, pluralize};

/// Returns the environment of the working folder.
pub(crate) fn environment(global: &Global) -> Result<Environment, Failure> {
    let environment = Environment::from_process(&global.directory)?;
    let name = || global.directory.to_string_lossy();
    match environment.directory().metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(environment),
        Ok(_) => Err(Error::not_found(name()).into()),
        Err(error) => Err(Error::read(name(), error).into()),
    }
}

/// Returns a host with the settings of the command line.
pub(crate) fn host(global: &Global) -> Result<Host, Failure> {
    let environment = environment(global)?;
    let cache = environment.cache_folder();
    let mut host = Host::new(environment);
    if let Some(cache) = cache {
        host = host.cache(cache);
    }
    for root in &global.root {
        host = host.add("roots", root);
    }
    for setting in &global.set {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Failure::Usage(format!(
                "`--set {setting}` is not written as KEY=VALUE"
            )));
        };
        host = host.set(key.trim(), value);
    }
    if global.trust_project {
        host = host.set("trust_project", "true");
    }
    Ok(host)
}

/// Finds the skills, and prints problems with the settings.
pub(crate) fn skills(global: &Global, output: &mut Output) -> Result<Skills, Failure> {
    discover(host(global)?, output)
}

/// Finds the skills of a host, and prints problems with the settings.
pub(crate) fn discover(host: Host, output: &mut Output) -> Result<Skills, Failure> {
    let skills = host.discover()?.skills;
    for root in &skills.report().roots {
        match &root.status {
            RootStatus::Missing(_) if root.origin == Origin::Argument => {
                return Err(unusable_root(root).into());
            }
            RootStatus::Missing(diagnostic) | RootStatus::Stale(diagnostic) => {
                say_with_origin(diagnostic, &root.origin, output);
            }
            _ => {}
        }
    }
    say_unavailable(&skills.catalog(), output);
    let report = skills.report();
    let problems = report.findings();
    // Infos are left to `doctor` and `config`.
    for problem in problems.filter(|problem| problem.diagnostic.severity > Severity::Info) {
        say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    Ok(skills)
}

/// Returns why a root named on the command line cannot be searched.
fn unusable_root(root: &SearchedRoot) -> Error {
    if root.path.is_file() {
        let why = "it is a file, and a root is a folder of skills; `skillfold check` takes files";
        return Error::invalid(&*root.label, why);
    }
    match FsSource::open(&root.path) {
        Err(error) if error.kind() != ErrorKind::NotFound => error,
        _ => Error::not_found(&*root.label),
    }
}

/// Prints what could not be read: there may be more skills than were found.
fn say_unavailable(catalog: &Catalog, output: &mut Output) {
    for sourced in catalog.findings() {
        let diagnostic = &sourced.finding.diagnostic;
        if diagnostic.code == Code::Unavailable {
            let root = catalog.roots()[sourced.source].label();
            output.say(format!(
                "{} ({})",
                format_finding(diagnostic),
                visible(root)
            ));
            output.say(format!("{}: {}", paint(DIM, "hint"), diagnostic.hint()));
        }
    }
}

/// Prints a problem with a setting and where it was set.
pub(crate) fn say_with_origin(diagnostic: &Diagnostic, origin: &Origin, output: &mut Output) {
    output.say(format!("{} ({origin})", format_finding(diagnostic)));
    output.say(format!("{}: {}", paint(DIM, "hint"), diagnostic.hint()));
}

/// Says what is wrong with a list, how much it trusts and where it is.
pub(crate) fn say_list(
    what: &str,
    file: Option<&Path>,
    findings: &[SettingFinding],
    output: &mut Output,
) {
    for problem in findings {
        say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    match file.filter(|file| file.exists()) {
        Some(file) => output.say(format!("{what} trusted by {}", display_path(file))),
        None => output.say(format!("{what} trusted")),
    }
}

/// Prints why the project's skills are trusted, if it has any that are.
pub(crate) fn say_trust_rule(skills: &Skills, output: &mut Output) {
    let (catalog, report) = (skills.catalog(), skills.report());
    let mut entries = catalog.entries();
    let mut roots = report.roots.iter();
    let rule = roots.find_map(|root| root.trusted_by.as_ref());
    if let Some(rule) = rule
        && entries.any(|entry| entry.scope() == Scope::Project)
    {
        output.say(format!("The project is trusted by {rule}"));
    }
}

/// Prints why searches are incomplete or degraded.
pub(crate) fn say_search_problem(skills: &Skills, output: &mut Output) {
    if let Some(problem) = skills.search_problem() {
        output.say(visible(&problem));
    }
}

/// Prints that skills are withheld, and how to get them.
pub(crate) fn say_withheld(catalog: &Catalog, output: &mut Output) {
    match count(catalog, Status::Untrusted) {
        0 => {}
        count => output.say(format!(
            "{} withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`",
            pluralize(count, "skill is", "skills are")
        )),
    }
    say_held(catalog, output);
}

/// Prints that skills are held, and how to get them.
pub(crate) fn say_held(catalog: &Catalog, output: &mut Output) {
    match count(catalog, Status::Held) {
        0 => {}
        count => output.say(format!(
            "{} held until you trust {}: `skillfold trust --held` shows {1} and asks",
            pluralize(count, "skill is", "skills are"),
            if count == 1 { "it" } else { "them" }
        )),
    }
}

/// Prints that proposals wait, or that they cannot be read, and what to do.
pub(crate) fn say_proposals(skills: &Skills, output: &mut Output) {
    match skills.waiting_proposals() {
        Ok(waiting) if waiting.is_empty() => {}
        Ok(waiting) => output.say(format!(
            "{}; `skillfold review` shows {}",
            pluralize(waiting.len(), "proposal waits", "proposals wait"),
            if waiting.len() == 1 { "it" } else { "them" }
        )),
        Err(error) => output.say(format!(
            "Proposals cannot be read: {}; `skillfold audit verify` has the details",
            error.with_cause()
        )),
    }
}

fn count(catalog: &Catalog, status: Status) -> usize {
    let entries = catalog.entries();
    entries.filter(|entry| entry.status() == status).count()
}
