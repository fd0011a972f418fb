//! What the user reviews before they trust skills: what each can do, and what is wrong with it.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::load::{FileKind, FileList, SkillFile};
use skillfold::core::{Diagnostic, Entry, Limits, Scope};
use skillfold::{Skills, author::CheckTarget};

use crate::failure::Failure;
use crate::terminal::finding_counts::{FindingCounts, is_grave};
use crate::terminal::output::{
    BOLD, DIM, Output, PLAIN, WARN, display_path, format_finding, paint, pluralize,
};
use crate::terminal::table::Table;

/// Maximum skills shown.
const MAX_SKILLS: usize = 50;

/// Maximum files of a skill that are looked at for scripts.
const MAX_FILES: usize = 1_000;

/// Maximum scripts or tools of a skill that are named.
const MAX_NAMES: usize = 5;

/// Maximum findings shown.
const MAX_FINDINGS: usize = 50;

/// Shows skills, each with what it can do; `list` is the command that lists all of them. Returns how many there are.
pub(crate) fn show_skills(
    skills: &Skills,
    is_reviewed: impl Fn(&Entry<'_>) -> bool,
    list: &str,
    output: &mut Output,
) -> Result<usize, Failure> {
    let catalog = skills.catalog();
    let entries: Vec<_> = catalog.entries().filter(is_reviewed).collect();
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
            (BOLD, entry.id()),
            (DIM, &number),
            (PLAIN, &entry.manifest().brief()),
        ]);
    }
    let lines = table.lines(output.columns());
    for ((entry, files), line) in shown.iter().zip(&files).zip(lines) {
        output.show_drawing(line)?;
        for power in powers(entry, files.as_ref()) {
            output.show(format!("      {}", paint(WARN, power)))?;
        }
    }
    if let more @ 1.. = entries.len() - shown.len() {
        output.show(format!("  and {more} more: `{list}`"))?;
    }
    Ok(entries.len())
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
            "wants to use tools without asking: {}",
            list(tools)
        ));
    }
    if manifest.disable_model_invocation() {
        powers.push("only the user may start it".to_owned());
    }
    for other in entry.shadows() {
        let name = other.manifest().name().to_string();
        let (name, root) = (visible(&name), other.root());
        powers.push(match other.scope() {
            Scope::User => format!("replaces your `{name}` of {}", visible(root.label())),
            Scope::Plugin => {
                let plugin = visible(root.qualifier());
                format!("replaces `{name}` of the plugin `{plugin}`")
            }
            _ => format!("replaces `{name}` of {}", visible(root.label())),
        });
    }
    powers
}

/// Shows the findings of skills that are no matter of style. `name_file` returns the name of a file that is reviewed.
pub(crate) fn show_findings(
    skills: &Skills,
    name_file: impl Fn(&Path) -> Option<PathBuf>,
    output: &mut Output,
) -> Result<(), Failure> {
    let profile = skills.report().settings.profile.value;
    let mut shown: Vec<(PathBuf, Diagnostic)> = Vec::new();
    let mut not_shown = FindingCounts::default();
    let mut style = 0;
    for target in CheckTarget::all_in(&skills.catalog()) {
        let Some(file) = name_file(&target.file()) else {
            continue;
        };
        let checked = match target.check(profile, &Limits::default()) {
            Ok(checked) => checked,
            Err(error) => {
                output.show(format!("  {}: {}", display_path(&file), error.with_cause()))?;
                continue;
            }
        };
        let findings = checked.findings.into_iter();
        for finding in findings.filter(|finding| finding.severity > Severity::Info) {
            if is_grave(finding.severity, finding.code) {
                shown.push((file.clone(), finding));
            } else {
                // The rest is style, which is no reason for or against a skill.
                style += 1;
            }
        }
        // Safety findings come first, then by severity: many minor findings must not hide them.
        shown.sort_by_key(|(_, finding)| {
            Reverse((finding.code.is_about_safety(), finding.severity))
        });
        for (file, finding) in shown.drain(shown.len().min(MAX_FINDINGS)..) {
            not_shown.add(&file, &finding);
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
        let style = pluralize(style, "style warning", "style warnings");
        output.show(paint(
            DIM,
            format!("  {style}; run `skillfold check` for details"),
        ))?;
    }
    Ok(())
}
