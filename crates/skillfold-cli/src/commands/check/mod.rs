//! `skillfold check`

mod fixable;
mod place;

mod summary;

mod human;
mod watch;

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::read::{Profile, ReadOptions};
use skillfold::core::source::{LinkPolicy, SKILL_FILE, progress};
use skillfold::core::{Error, Limits};
use skillfold::view::{self, CheckSummary, Document};
use skillfold::{
    Environment, Skills,
    author::{CheckTarget, CheckedSkill},
};

use self::fixable::{FixScope, Fixable};
use self::human::HumanReport;
use crate::arguments::{Check, Format, Global, ProfileName};
use crate::failure::{CommandResult, EXIT_PROBLEMS, Failure, exit_code};
use crate::host;
use crate::terminal::output::{Output, pluralize};
use crate::terminal::print_failure::say_error;
use crate::terminal::sarif;

pub(crate) fn run(global: &Global, options: &Check, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let environment = host::environment(global)?;
    if options.watch && options.format != Format::Human {
        let message = "`--watch` prints text; leave out `--format`";
        return Err(Failure::Usage(message.to_owned()));
    }
    if options.watch {
        let states = || {
            skills.refresh()?;
            let targets = targets(&skills, options, &environment)?;
            Ok(watch::file_states(targets.iter().map(|(target, _)| target)))
        };
        return watch::run(
            states,
            |output| check(&skills, options, &environment, output),
            options.fix,
            output,
        );
    }
    check(&skills, options, &environment, output)
}

fn check(
    skills: &Skills,
    options: &Check,
    environment: &Environment,
    output: &mut Output,
) -> CommandResult {
    let profile = match options.profile {
        Some(ProfileName::Lenient) => Profile::Lenient,
        Some(ProfileName::Spec) => Profile::Spec,
        None => skills.report().settings.profile.value,
    };
    let mut results = CheckResults::default();
    let mut report = Report::start(options, output)?;
    let targets = targets(skills, options, environment)?;
    let total = targets.len();
    let mut not_for = Vec::new();
    for (number, (target, scope)) in targets.into_iter().enumerate() {
        progress::report("checking", number, total);
        if let Some(checked) = results.add(&target, &scope, options, profile) {
            if total == 1 {
                not_for.clone_from(&checked.not_for);
            }
            if options.fix || matches!(report, Report::Human(_)) && options.only.is_empty() {
                results.fixable.add(&target, &scope, &checked, profile);
            }
            report.add(checked, environment, output)?;
        }
    }
    let is_summary = report.finish(output)?;
    if matches!(report, Report::Human(_)) {
        output.say(results.summary(options));
        for clause in &not_for {
            output.say(format!("Not for: {}", visible(&clause.to_string())));
        }
    }
    if is_summary {
        output.say("`--all` shows each with its line, `--only CODE` those of one kind, `skillfold check ID` those of one skill");
    }
    results.fixable.say_elsewhere(environment, output);
    for error in &results.failed {
        say_error(output, &error.with_cause(), Some(error.hint()));
    }
    let counts = &results.counts;
    let is_wrong = counts.errors > 0 || (options.strict && counts.warnings > 0);
    Ok(ExitCode::from(match results.failed.first() {
        Some(error) => exit_code(error),
        None if is_wrong => EXIT_PROBLEMS,
        None => 0,
    }))
}

/// Where findings go while skills are checked. Only the JSON view keeps all of them in memory.
enum Report {
    Human(HumanReport),
    Sarif(sarif::Log),
    Json(Vec<CheckedSkill>),
}

impl Report {
    fn start(options: &Check, output: &mut Output) -> Result<Self, Failure> {
        Ok(match options.format {
            Format::Sarif => Self::Sarif(sarif::Log::start(&[], output)?),
            Format::Human if !output.is_json() => {
                Self::Human(HumanReport::new(options.all || !options.only.is_empty()))
            }
            Format::Human | Format::Json => Self::Json(Vec::new()),
        })
    }

    fn add(
        &mut self,
        mut checked: CheckedSkill,
        environment: &Environment,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if let Self::Json(skills) = self {
            checked.text = String::new();
            skills.push(checked);
            return Ok(());
        }
        // Files are named relative to the working folder.
        let relative = checked.file.strip_prefix(environment.directory());
        if let Ok(relative) = relative.map(Path::to_owned) {
            checked.file = relative;
        }
        match self {
            Self::Sarif(log) => {
                let mut findings = checked.findings.iter();
                findings
                    .try_for_each(|it| log.add(&sarif::finding_result(&checked.file, it), output))
            }
            Self::Human(report) => {
                if let Some(home) = environment.home_dir()
                    && let Ok(inside) = checked.file.strip_prefix(home)
                {
                    checked.file = Path::new("~").join(inside);
                }
                report.add(checked, output)
            }
            Self::Json(_) => Ok(()),
        }
    }

    /// Prints the rest; returns whether findings were only summed up.
    fn finish(&self, output: &mut Output) -> Result<bool, Failure> {
        match self {
            Self::Human(report) => report.finish(output),
            Self::Sarif(log) => log.finish(output).map(|()| false),
            Self::Json(skills) => {
                let document = Document::Check(view::Check::new(skills));
                output.json(document).map(|_| false)
            }
        }
    }
}

/// The results of checking the skills.
#[derive(Default)]
struct CheckResults {
    counts: CheckSummary,
    fixable: Fixable,
    /// What could not be read or written.
    failed: Vec<Error>,
}

impl CheckResults {
    /// Checks a skill, and fixes it if requested and allowed.
    fn add(
        &mut self,
        target: &CheckTarget,
        scope: &FixScope,
        options: &Check,
        profile: Profile,
    ) -> Option<CheckedSkill> {
        let limits = Limits::default();
        let result = match scope {
            FixScope::Fixable(within) if options.fix => target.fix(within, profile, &limits),
            _ => target.check(profile, &limits),
        };
        let mut checked = match result {
            Ok(checked) => checked,
            Err(error) => {
                self.failed.push(error);
                // What could not be fixed can still be checked.
                if !options.fix || !matches!(scope, FixScope::Fixable(_)) {
                    return None;
                }
                target.check(profile, &limits).ok()?
            }
        };
        if !options.only.is_empty() {
            checked
                .findings
                .retain(|finding| options.only.contains(&finding.code));
        }
        self.counts.files += 1;
        self.counts.errors += checked.count(Severity::Error);
        self.counts.warnings += checked.count(Severity::Warning);
        self.counts.infos += checked.count(Severity::Info);
        self.counts.fixed += checked.fixed.len();
        Some(checked)
    }

    /// Returns the counts, and how many findings `--fix` would correct.
    fn summary(&self, options: &Check) -> String {
        let counts = &self.counts;
        let found: Vec<String> = [
            (counts.errors, "error", "errors"),
            (counts.warnings, "warning", "warnings"),
            (counts.infos, "remark", "remarks"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| pluralize(count, one, many))
        .collect();
        let files = pluralize(counts.files, "skill", "skills");
        let text = match &*found {
            [] if counts.files == 0 && self.failed.is_empty() => "No skills to check".to_owned(),
            [] if counts.files == 0 => format!(
                "{} could not be checked",
                pluralize(self.failed.len(), "skill", "skills")
            ),
            [] if !options.only.is_empty() => format!("{files}, nothing of this kind to report"),
            [] => format!("{files}, nothing to report"),
            found => format!("{files}: {}", found.join(", ")),
        };
        match self.fixable.here {
            _ if options.fix && self.failed.is_empty() => {
                format!("{text}; {} fixed", counts.fixed)
            }
            _ if options.fix => format!(
                "{text}; {} fixed; {} could not be fixed",
                counts.fixed,
                pluralize(self.failed.len(), "skill", "skills")
            ),
            0 => text,
            fixable => format!("{text}; `--fix` fixes {fixable}"),
        }
    }
}

/// Returns the skills to check, each file once: the named ones, or all.
fn targets(
    skills: &Skills,
    options: &Check,
    environment: &Environment,
) -> Result<Vec<(CheckTarget, FixScope)>, Failure> {
    let catalog = skills.catalog();
    let mut targets = Vec::new();
    if options.skills.is_empty() {
        let all = CheckTarget::all_in(&catalog).into_iter();
        targets.extend(all.map(|target| {
            let scope = FixScope::within(target.within_project(environment));
            (target, scope)
        }));
    }
    for named in &options.skills {
        let is_path = named.contains(['/', '\\']) || [".", "..", SKILL_FILE].contains(&&**named);
        let by_id = || CheckTarget::by_id(&catalog, named);
        if let Some(target) = by_id().filter(|_| !is_path) {
            let scope = FixScope::within(target.fix_bounds(environment));
            targets.push((target, scope));
            continue;
        }
        let path = environment.directory().join(named);
        if path.exists() {
            let links = skills.report().settings.links.value;
            let found = targets_in_path(&path, named, &catalog.options().read, links)?;
            targets.extend(found.into_iter().map(|target| {
                let scope = FixScope::within(target.within_root(environment));
                (target, scope)
            }));
        } else {
            // An id may contain a slash too.
            match by_id() {
                Some(target) => {
                    let scope = FixScope::within(target.fix_bounds(environment));
                    targets.push((target, scope));
                }
                None => drop(catalog.resolve_or_suggest(named)?),
            }
        }
    }
    let mut seen = HashSet::new();
    targets.retain(|(target, _)| seen.insert(target.file()));
    Ok(targets)
}

fn targets_in_path(
    path: &Path,
    named: &str,
    options: &ReadOptions,
    links: LinkPolicy,
) -> Result<Vec<CheckTarget>, Failure> {
    let is_skill_file = path.file_name().is_some_and(|name| name == SKILL_FILE);
    if path.is_file() && !is_skill_file {
        let message = format!(
            "`{}` is a file, and not named `{SKILL_FILE}`",
            visible(named)
        );
        return Err(Failure::Usage(message));
    }
    let found = CheckTarget::at_path(path, options, links)?;
    if found.is_empty() {
        return Err(Error::not_found(Path::new(named).join(SKILL_FILE).to_string_lossy()).into());
    }
    Ok(found)
}
