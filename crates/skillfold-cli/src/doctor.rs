//! `skillfold doctor`

use std::process::ExitCode;

use skillfold::core::{Entry, Status, visible};
use skillfold::view::{Doctor, DoctorSummary, Document, RootCacheState, RootState};
use skillfold::{DiscoveryReport, SettingFinding, Skills};

use crate::arguments::Global;
use crate::failure::{Failure, WRONG};
use crate::host;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, WARN, counted, findings, painted};
use crate::show;

/// Where findings start.
const INDENT: &str = "      ";

pub(crate) fn run(global: &Global, output: &mut Output) -> Result<ExitCode, Failure> {
    let skills = host::host(global)?.discover_anyway();
    let doctor = Doctor::new(&skills);
    let report = skills.report();
    let is_wrong = |root: &RootState| {
        root.outcome == "missing" || root.findings.iter().any(|one| one.severity == "error")
    };
    let mut problems = report.settings.findings.iter();
    let is_broken = doctor.summary.refused > 0
        || doctor.roots.iter().any(is_wrong)
        || problems.any(SettingFinding::is_fatal);
    if output.is_json() {
        output.json(Document::Doctor(doctor))?;
    } else {
        settings(&report, output)?;
        roots(&doctor.roots, output)?;
        each_skill(&skills, output)?;
        refused(&skills, output)?;
        output.say(summary(&doctor.summary));
    }
    Ok(ExitCode::from(if is_broken { WRONG } else { 0 }))
}

fn settings(report: &DiscoveryReport, output: &mut Output) -> Result<(), Failure> {
    let problems = report.settings.findings.iter();
    let mut problems = problems.chain(&report.trusted.findings).peekable();
    if problems.peek().is_none() {
        return Ok(());
    }
    output.line(painted(BOLD, "Settings"))?;
    for problem in problems {
        output.line(format!("  {}", problem.origin))?;
        findings([&problem.diagnostic], INDENT, output)?;
    }
    output.line("")
}

fn roots(roots: &[RootState], output: &mut Output) -> Result<(), Failure> {
    if let Some(rule) = roots.iter().find_map(|root| root.trusted_by.as_ref()) {
        output.line(painted(BOLD, "Project"))?;
        output.line(format!("  trusted by {rule}\n"))?;
    }
    output.line(painted(BOLD, "Roots"))?;
    let label_width = roots
        .iter()
        .map(|root| root.root.chars().count())
        .max()
        .unwrap_or_default();
    for root in roots {
        let owner = root.plugin.as_ref().unwrap_or(&root.scope);
        let owner = if root.trusted {
            owner.clone()
        } else {
            format!("{owner}, untrusted")
        };
        let state = match root.outcome.as_str() {
            "searched" => painted(GOOD, found(root)),
            "stale" => painted(BAD, format!("{}, could not be read whole", found(root))),
            "absent" => painted(DIM, "not there"),
            "same" => painted(
                DIM,
                format!(
                    "the same as {}",
                    visible(root.same_as.as_deref().unwrap_or_default())
                ),
            ),
            _ => painted(BAD, "missing"),
        };
        let label = format!("{:label_width$}", visible(&root.root));
        output.line(format!("  {label}  {owner:18}  {state}"))?;
        if let Some(memory) = &root.memory {
            output.line(format!("{INDENT}{}", remembered(memory)))?;
        }
        for diagnostic in &root.findings {
            output.line(format!(
                "      {}[{}]: {}",
                diagnostic.severity, diagnostic.code, diagnostic.message
            ))?;
            output.line(format!(
                "      {}: {}",
                painted(DIM, "hint"),
                diagnostic.hint
            ))?;
        }
    }
    output.line("")
}

/// Returns what became of what was remembered of a root.
fn remembered(memory: &RootCacheState) -> String {
    let kept = format!("{} remembered, {} read", memory.kept, memory.read);
    let file = visible(&memory.file);
    match (&memory.problem, memory.written) {
        (Some(problem), _) => painted(
            WARN,
            format!("{kept}; nothing is missing, but: {}", visible(problem)),
        ),
        (None, true) => painted(DIM, format!("{kept}; written to {file}")),
        (None, false) => painted(DIM, format!("{kept}; kept in {file}")),
    }
}

fn found(root: &RootState) -> String {
    let skills = counted(root.skills, "skill", "skills");
    match root.refused {
        0 => skills,
        number => format!(
            "{skills}, {}",
            counted(number, "invalid SKILL.md", "invalid SKILL.md files")
        ),
    }
}

fn each_skill(skills: &Skills, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    if catalog.is_empty() {
        return Ok(());
    }
    output.line(painted(BOLD, "Skills"))?;
    let id_width = catalog
        .entries()
        .map(|entry| entry.id().chars().count())
        .max()
        .unwrap_or_default();
    for entry in catalog.entries() {
        let id = format!("{:id_width$}", visible(entry.id()));
        output.line(format!("  {id}  {}", state(&entry)))?;
        findings(
            entry.skill().diagnostics.iter().chain(&entry.notes()),
            INDENT,
            output,
        )?;
        if let Some(why) = entry.only_by_instructions() {
            let what = painted(DIM, "over MCP by tools only");
            output.line(format!("{INDENT}{what}: {why}"))?;
        }
    }
    output.line("")
}

/// Returns what became of a skill: how it was read, and how it stands.
fn state(entry: &Entry<'_>) -> String {
    let read = if entry.skill().repaired {
        "repaired"
    } else {
        "parsed"
    };
    let style = match entry.status() {
        Status::Active => GOOD,
        _ => WARN,
    };
    let status = show::status(entry);
    format!("found, {read}, {}", painted(style, status))
}

fn refused(skills: &Skills, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    if catalog.refused().is_empty() {
        return Ok(());
    }
    output.line(painted(BOLD, "No skills"))?;
    for refused in catalog.refused() {
        let root = catalog.roots()[refused.source].label();
        let folder = refused.folder.to_string();
        let place = format!("{}/{}", visible(root), visible(&folder));
        output.line(format!("  {place}  {}", painted(BAD, "found, refused")))?;
        findings(&refused.diagnostics, INDENT, output)?;
    }
    output.line("")
}

fn summary(summary: &DoctorSummary) -> String {
    let parts = [
        (summary.parsed, "parsed"),
        (summary.repaired, "repaired"),
        (summary.active, "active"),
        (summary.shadowed, "shadowed"),
        (summary.disabled, "disabled"),
        (summary.untrusted, "untrusted"),
        (summary.refused, "refused"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    match summary.found {
        0 => "No skills found. `skillfold new NAME` creates one".to_owned(),
        found => format!("{found} found: {}", parts.join(", ")),
    }
}
