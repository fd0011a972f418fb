//! `skillfold check`

mod human;
mod sarif;

use std::path::Path;
use std::process::ExitCode;

use skillfold::core::{Limits, Profile, Severity, fix};
use skillfold::view::{self, Document};
use skillfold::{Checked, Environment, Skills, Target};

use crate::arguments::{Check, Format, Global, ProfileName};
use crate::failure::{Failure, WRONG};
use crate::host;
use crate::output::{Output, counted};

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
    let limits = Limits::default();
    let mut checked = Vec::new();
    for target in targets(&skills, options)? {
        checked.push(if options.fix {
            target.fix(profile, &limits)?
        } else {
            target.check(profile, &limits)?
        });
    }
    if !output.is_json() && options.format != Format::Json {
        name_from(&host::environment(global)?, &mut checked);
    }
    match options.format {
        Format::Sarif => output.bytes(sarif::text(&checked).as_bytes())?,
        Format::Human if !output.is_json() => {
            human::print(&checked, output)?;
            output.say(summary(&checked, options, profile));
        }
        Format::Human | Format::Json => {
            output.json(Document::Check(view::Check::new(&checked)))?;
        }
    }
    let is_bad =
        |severity| severity == Severity::Error || (options.strict && severity == Severity::Warning);
    let mut findings = checked.iter().flat_map(|one| &one.findings);
    let is_wrong = findings.any(|finding| is_bad(finding.severity));
    Ok(ExitCode::from(if is_wrong { WRONG } else { 0 }))
}

/// Names files from the folder that is worked in.
fn name_from(environment: &Environment, checked: &mut [Checked]) {
    for one in checked {
        if let Ok(inside) = one.file.strip_prefix(environment.directory()) {
            one.file = inside.to_owned();
        }
    }
}

/// Returns what is to be judged: what is named, or everything.
fn targets(skills: &Skills, options: &Check) -> Result<Vec<Target>, Failure> {
    let catalog = skills.catalog();
    if options.skills.is_empty() {
        return Ok(Target::all(&catalog));
    }
    let mut targets = Vec::new();
    for named in &options.skills {
        let path = Path::new(named);
        if path.exists() {
            let found = Target::at(path, &catalog.rules().reading)?;
            if found.is_empty() {
                return Err(Failure::Usage(format!(
                    "There is no skill in `{named}`: no folder of it has a `SKILL.md`"
                )));
            }
            targets.extend(found);
        } else if let Some(target) = Target::named(&catalog, named) {
            targets.push(target);
        } else {
            return Err(Failure::NoSkill(view::Failure::no_skill(&catalog, named)));
        }
    }
    Ok(targets)
}

/// Returns the counts, and what would be corrected.
fn summary(checked: &[Checked], options: &Check, profile: Profile) -> String {
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
        [] if checked.is_empty() => "There are no skills to judge".to_owned(),
        [] => format!("{files}, nothing to report"),
        found => format!("{files}: {}", found.join(", ")),
    };
    let fixed = checked.iter().map(|one| one.fixed.len()).sum::<usize>();
    let fixable = checked.iter().map(|one| fixable(one, profile));
    if options.fix {
        return format!("{judged}; {fixed} corrected");
    }
    match fixable.sum::<usize>() {
        0 => judged,
        fixable => format!("{judged}; `--fix` corrects {fixable}"),
    }
}

/// Returns how many findings `--fix` would correct.
fn fixable(checked: &Checked, profile: Profile) -> usize {
    let folder = checked.file.parent().and_then(Path::file_name);
    let folder = folder
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    fix(checked.text.as_bytes(), &folder, profile).fixed.len()
}
