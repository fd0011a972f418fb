//! `skillfold check`

mod human;
mod place;
mod sarif;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skillfold::core::{
    Error, Limits, LinkPolicy, Profile, ReadOptions, SKILL_FILE, Severity, fix, visible,
};
use skillfold::view::{self, CheckSummary, Document};
use skillfold::{CheckTarget, CheckedSkill, Environment, Skills};

use crate::arguments::{Check, Format, Global, ProfileName};
use crate::failure::{Failure, WRONG, code};
use crate::host;
use crate::output::{Output, counted};
use crate::report::say;

pub(crate) fn run(
    global: &Global,
    options: &Check,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let profile = match options.profile {
        Some(ProfileName::Lenient) => Profile::Lenient,
        Some(ProfileName::Spec) => Profile::Spec,
        None => skills.report().settings.profile.value,
    };
    let environment = host::environment(global)?;
    let mut judged = Judged::default();
    let mut report = Report::start(options, output)?;
    for (target, reach) in targets(&skills, options, &environment)? {
        if let Some(checked) = judged.add(&target, &reach, options, profile) {
            if matches!(report, Report::Human) && !options.fix {
                judged.fixable += fixable(&checked, profile);
            }
            report.add(checked, &environment, output)?;
        }
    }
    report.finish(output)?;
    if matches!(report, Report::Human) {
        output.say(judged.summary(options));
    }
    if judged.untouched > 0 {
        let skills = counted(judged.untouched, "skill", "skills");
        output.say(format!(
            "{skills} elsewhere could be corrected, and must be named for that"
        ));
    }
    for error in &judged.failed {
        say(output, &error.with_cause(), Some(error.hint()));
    }
    let counts = &judged.counts;
    let is_wrong = counts.errors > 0 || (options.strict && counts.warnings > 0);
    Ok(ExitCode::from(match judged.failed.first() {
        Some(error) => code(error),
        None if is_wrong => WRONG,
        None => 0,
    }))
}

/// Where findings go while skills are judged. Only the view holds all of them.
enum Report {
    Human,
    Sarif(sarif::Log),
    Json(Vec<CheckedSkill>),
}

impl Report {
    fn start(options: &Check, output: &mut Output) -> Result<Self, Failure> {
        Ok(match options.format {
            Format::Sarif => Self::Sarif(sarif::Log::start(output)?),
            Format::Human if !output.is_json() => Self::Human,
            Format::Human | Format::Json => Self::Json(Vec::new()),
        })
    }

    fn add(
        &mut self,
        mut checked: CheckedSkill,
        environment: &Environment,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if let Self::Json(all) = self {
            checked.text = String::new();
            all.push(checked);
            return Ok(());
        }
        // Files are named from the folder that is worked in.
        let inside = checked.file.strip_prefix(environment.directory());
        if let Ok(inside) = inside.map(Path::to_owned) {
            checked.file = inside;
        }
        match self {
            Self::Sarif(log) => log.add(&checked, output),
            _ => human::print(&checked, output),
        }
    }

    fn finish(&self, output: &mut Output) -> Result<(), Failure> {
        match self {
            Self::Human => Ok(()),
            Self::Sarif(log) => log.finish(output),
            Self::Json(all) => output.json(Document::Check(view::Check::new(all))),
        }
    }
}

/// What may be done with a skill. Without a name only the project's own are corrected, and below a named folder what lies in
/// it: a person's skills, a plugin's, and what a link leads to are not changed by the way.
enum Reach {
    /// It is corrected, if it lies in this folder when it is written.
    Corrected(PathBuf),
    Judged,
}

impl Reach {
    fn within(folder: Option<PathBuf>) -> Self {
        folder.map_or(Self::Judged, Self::Corrected)
    }
}

/// What came of the skills that were to be judged.
#[derive(Default)]
struct Judged {
    counts: CheckSummary,
    /// Findings that `--fix` would correct.
    fixable: usize,
    /// What could not be read or written.
    failed: Vec<Error>,
    /// Skills that would be corrected if they were named.
    untouched: usize,
}

impl Judged {
    /// Judges a skill, and corrects it if that is wanted and it may be.
    fn add(
        &mut self,
        target: &CheckTarget,
        reach: &Reach,
        options: &Check,
        profile: Profile,
    ) -> Option<CheckedSkill> {
        let limits = Limits::default();
        let judged = match reach {
            Reach::Corrected(within) if options.fix => target.fix(within, profile, &limits),
            _ => target.check(profile, &limits),
        };
        let checked = match judged {
            Ok(checked) => checked,
            Err(error) => {
                self.failed.push(error);
                // What could not be corrected can be judged all the same.
                if !options.fix || !matches!(reach, Reach::Corrected(_)) {
                    return None;
                }
                target.check(profile, &limits).ok()?
            }
        };
        let is_out_of_reach = options.fix && matches!(reach, Reach::Judged);
        if is_out_of_reach && fixable(&checked, profile) > 0 {
            self.untouched += 1;
        }
        self.counts.files += 1;
        self.counts.errors += checked.count(Severity::Error);
        self.counts.warnings += checked.count(Severity::Warning);
        self.counts.infos += checked.count(Severity::Info);
        self.counts.fixed += checked.fixed.len();
        Some(checked)
    }

    /// Returns the counts, and what would be corrected.
    fn summary(&self, options: &Check) -> String {
        let counts = &self.counts;
        let found: Vec<String> = [
            (counts.errors, "error", "errors"),
            (counts.warnings, "warning", "warnings"),
            (counts.infos, "remark", "remarks"),
        ]
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| counted(number, one, many))
        .collect();
        let files = counted(counts.files, "skill", "skills");
        let judged = match &*found {
            [] if counts.files == 0 && self.failed.is_empty() => "No skills to check".to_owned(),
            [] if counts.files == 0 => format!(
                "{} could not be checked",
                counted(self.failed.len(), "skill", "skills")
            ),
            [] => format!("{files}, nothing to report"),
            found => format!("{files}: {}", found.join(", ")),
        };
        match self.fixable {
            _ if options.fix && self.failed.is_empty() => {
                format!("{judged}; {} corrected", counts.fixed)
            }
            _ if options.fix => format!(
                "{judged}; {} corrected; {} could not be corrected",
                counts.fixed,
                counted(self.failed.len(), "skill", "skills")
            ),
            0 => judged,
            fixable => format!("{judged}; `--fix` corrects {fixable}"),
        }
    }
}

/// Returns what is to be judged, each file once: what is named, or everything.
fn targets(
    skills: &Skills,
    options: &Check,
    environment: &Environment,
) -> Result<Vec<(CheckTarget, Reach)>, Failure> {
    let catalog = skills.catalog();
    let mut targets = Vec::new();
    if options.skills.is_empty() {
        let all = CheckTarget::all_in(&catalog).into_iter();
        targets.extend(all.map(|target| {
            let reach = Reach::within(target.within_project(environment));
            (target, reach)
        }));
    }
    for named in &options.skills {
        let is_path = named.contains(['/', '\\']) || [".", "..", SKILL_FILE].contains(&&**named);
        let by_id = || CheckTarget::by_id(&catalog, named);
        if let Some(target) = by_id().filter(|_| !is_path) {
            let reach = Reach::within(target.within_owner(environment));
            targets.push((target, reach));
            continue;
        }
        let path = environment.directory().join(named);
        if path.exists() {
            let links = skills.report().settings.links.value;
            let found = in_path(&path, named, &catalog.options().read, links)?;
            targets.extend(found.into_iter().map(|target| {
                let reach = Reach::within(target.within_root(environment));
                (target, reach)
            }));
        } else {
            // An id may have a slash, too.
            match by_id() {
                Some(target) => {
                    let reach = Reach::within(target.within_owner(environment));
                    targets.push((target, reach));
                }
                None => drop(catalog.resolve_or_suggest(named)?),
            }
        }
    }
    let mut seen = HashSet::new();
    targets.retain(|(target, _)| seen.insert(target.file()));
    Ok(targets)
}

fn in_path(
    path: &Path,
    named: &str,
    reading: &ReadOptions,
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
    let found = CheckTarget::at_path(path, reading, links)?;
    if found.is_empty() {
        return Err(Error::not_found(Path::new(named).join(SKILL_FILE).to_string_lossy()).into());
    }
    Ok(found)
}

/// Bytes of a file up to which it is tried what `--fix` would correct.
const TRIED_BYTES: usize = 1 << 20;

/// Returns how many findings `--fix` would correct.
fn fixable(checked: &CheckedSkill, profile: Profile) -> usize {
    if checked.findings.is_empty() || checked.text.len() > TRIED_BYTES {
        return 0;
    }
    let folder = checked.file.parent().and_then(Path::file_name);
    let folder = folder
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    fix(checked.text.as_bytes(), &folder, profile).fixed.len()
}
