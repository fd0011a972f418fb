//! `skillfold check`

mod human;
mod sarif;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skillfold::core::{Error, Limits, Links, Profile, Reading, SKILL_FILE, Severity, fix, visible};
use skillfold::view::{self, Document};
use skillfold::{Checked, Environment, Skills, Target};

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
    for (target, reach) in targets(&skills, options, &environment)? {
        judged.add(&target, &reach, options, profile);
    }
    let Judged {
        mut checked,
        failed,
        untouched,
    } = judged;
    match options.format {
        Format::Sarif => {
            name_from(&environment, &mut checked);
            output.bytes(sarif::text(&checked).as_bytes())?;
        }
        Format::Human if !output.is_json() => {
            name_from(&environment, &mut checked);
            human::print(&checked, output)?;
            output.say(summary(&checked, &failed, options, profile));
        }
        Format::Human | Format::Json => {
            output.json(Document::Check(view::Check::new(&checked)))?;
        }
    }
    if untouched > 0 {
        let skills = counted(untouched, "skill", "skills");
        output.say(format!(
            "{skills} elsewhere could be corrected, and must be named for that"
        ));
    }
    for error in &failed {
        say(output, &error.with_cause(), Some(error.hint()));
    }
    let is_bad =
        |severity| severity == Severity::Error || (options.strict && severity == Severity::Warning);
    let mut findings = checked.iter().flat_map(|one| &one.findings);
    let is_wrong = findings.any(|finding| is_bad(finding.severity));
    Ok(ExitCode::from(match failed.first() {
        Some(error) => code(error),
        None if is_wrong => WRONG,
        None => 0,
    }))
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
    checked: Vec<Checked>,
    /// What could not be read or written.
    failed: Vec<Error>,
    /// Skills that would be corrected if they were named.
    untouched: usize,
}

impl Judged {
    /// Judges a skill, and corrects it if that is wanted and it may be.
    fn add(&mut self, target: &Target, reach: &Reach, options: &Check, profile: Profile) {
        let limits = Limits::default();
        let judged = match reach {
            Reach::Corrected(within) if options.fix => target.fix(within, profile, &limits),
            _ => target.check(profile, &limits),
        };
        match judged {
            Ok(checked) => {
                let is_out_of_reach = options.fix && matches!(reach, Reach::Judged);
                if is_out_of_reach && fixable(&checked, profile) > 0 {
                    self.untouched += 1;
                }
                self.checked.push(checked);
            }
            Err(error) => {
                // What could not be corrected can be judged all the same.
                if let Reach::Corrected(_) = reach
                    && options.fix
                    && let Ok(checked) = target.check(profile, &limits)
                {
                    self.checked.push(checked);
                }
                self.failed.push(error);
            }
        }
    }
}

/// Names files from the folder that is worked in.
fn name_from(environment: &Environment, checked: &mut [Checked]) {
    for one in checked {
        if let Ok(inside) = one.file.strip_prefix(environment.directory()) {
            one.file = inside.to_owned();
        }
    }
}

/// Returns what is to be judged, each file once: what is named, or everything.
fn targets(
    skills: &Skills,
    options: &Check,
    environment: &Environment,
) -> Result<Vec<(Target, Reach)>, Failure> {
    let catalog = skills.catalog();
    let mut targets = Vec::new();
    if options.skills.is_empty() {
        let all = Target::all(&catalog).into_iter();
        targets.extend(all.map(|target| {
            let reach = Reach::within(target.within_project(environment));
            (target, reach)
        }));
    }
    for named in &options.skills {
        let is_path = named.contains(['/', '\\']) || [".", "..", SKILL_FILE].contains(&&**named);
        let by_id = || Target::named(&catalog, named);
        if let Some(target) = by_id().filter(|_| !is_path) {
            let reach = Reach::within(target.within_owner(environment));
            targets.push((target, reach));
            continue;
        }
        let path = environment.directory().join(named);
        if path.exists() {
            let links = skills.report().settings.links.value;
            let found = in_path(&path, named, &catalog.rules().reading, links)?;
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
                None => drop(catalog.look_up(named)?),
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
    reading: &Reading,
    links: Links,
) -> Result<Vec<Target>, Failure> {
    let is_skill_file = path.file_name().is_some_and(|name| name == SKILL_FILE);
    if path.is_file() && !is_skill_file {
        let message = format!(
            "`{}` is a file, and not named `{SKILL_FILE}`",
            visible(named)
        );
        return Err(Failure::Usage(message));
    }
    let found = Target::at(path, reading, links)?;
    if found.is_empty() {
        return Err(Error::not_found(Path::new(named).join(SKILL_FILE).to_string_lossy()).into());
    }
    Ok(found)
}

/// Returns the counts, and what would be corrected.
fn summary(checked: &[Checked], failed: &[Error], options: &Check, profile: Profile) -> String {
    let count = |severity| checked.iter().map(|one| one.count(severity)).sum::<usize>();
    let (errors, warnings, infos) = (
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Info),
    );
    let counts = [
        (errors, "error", "errors"),
        (warnings, "warning", "warnings"),
        (infos, "remark", "remarks"),
    ];
    let found: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| counted(number, one, many))
        .collect();
    let files = counted(checked.len(), "skill", "skills");
    let judged = match &*found {
        [] if checked.is_empty() && failed.is_empty() => "There are no skills to judge".to_owned(),
        [] if checked.is_empty() => format!(
            "{} could not be judged",
            counted(failed.len(), "skill", "skills")
        ),
        [] => format!("{files}, nothing to report"),
        found => format!("{files}: {}", found.join(", ")),
    };
    let fixed = checked.iter().map(|one| one.fixed.len()).sum::<usize>();
    let fixable = checked.iter().map(|one| fixable(one, profile));
    if options.fix {
        return match failed.len() {
            0 => format!("{judged}; {fixed} corrected"),
            failed => format!(
                "{judged}; {fixed} corrected; {} could not be corrected",
                counted(failed, "skill", "skills")
            ),
        };
    }
    match fixable.sum::<usize>() {
        0 => judged,
        fixable => format!("{judged}; `--fix` corrects {fixable}"),
    }
}

/// Bytes of a file up to which it is tried what `--fix` would correct.
const TRIED_BYTES: usize = 1 << 20;

/// Returns how many findings `--fix` would correct.
fn fixable(checked: &Checked, profile: Profile) -> usize {
    if checked.findings.is_empty() || checked.text.len() > TRIED_BYTES {
        return 0;
    }
    let folder = checked.file.parent().and_then(Path::file_name);
    let folder = folder
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    fix(checked.text.as_bytes(), &folder, profile).fixed.len()
}
