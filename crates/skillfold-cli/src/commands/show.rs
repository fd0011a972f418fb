//! `skillfold show`

use std::process::ExitCode;

use skillfold::core::Entry;
use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::visible;
use skillfold::core::read::Triggers;
use skillfold::view::{Document, SkillView};

use crate::arguments::{Global, Show};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::choose;
use crate::terminal::output::{BOLD, DIM, Output, paint, print_findings};

pub(crate) fn run(global: &Global, options: &Show, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let catalog = skills.catalog();
    let id = choose::skill_id(options.id.as_deref(), &catalog, output)?;
    let entry = catalog.resolve_or_suggest(&id)?;
    if output.is_json() {
        output.json(Document::Skill(Box::new(SkillView::new(&entry))))?;
    } else {
        print(&entry, output)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(entry: &Entry<'_>, output: &mut Output) -> Result<(), Failure> {
    let view = SkillView::new(entry);
    output.line(paint(BOLD, visible(entry.id())))?;
    for line in view.record.description.lines() {
        output.line(visible(line))?;
    }
    output.line("")?;
    let mut row = |name: &str, value: Option<String>| match value {
        Some(value) => output.field(&paint(DIM, format!("{name:>13}")), &visible(&value)),
        None => Ok(()),
    };
    let list = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    let status = status_text(entry);
    row("status", Some(status))?;
    row(
        "scope",
        Some(format!("{} ({})", entry.scope(), entry.root().label())),
    )?;
    row("plugin", view.record.plugin)?;
    row(
        "name",
        (view.record.name != view.record.id).then_some(view.record.name),
    )?;
    row("also known as", view.alias)?;
    row("file", view.record.file)?;
    row(
        "instructions",
        Some(format!(
            "{} bytes, about {} tokens",
            view.body.bytes, view.body.tokens
        )),
    )?;
    let unknown = || Some("unknown: some files cannot be read".to_owned());
    row("digest", view.digest.or_else(unknown))?;
    row("version", view.record.version)?;
    row("license", view.license)?;
    row("compatibility", view.compatibility)?;
    let engines = view.engines.iter();
    let engines: Vec<_> = engines
        .map(|(program, range)| format!("{program} {range}"))
        .collect();
    row("needs", list(&engines))?;
    row("model", view.model)?;
    row("tools", list(&view.allowed_tools))?;
    row("tags", list(&view.record.tags))?;
    row("requires", list(&view.requires))?;
    let triggers = entry.manifest().triggers();
    row("triggers", triggers.and_then(trigger_text))?;
    for clause in &view.not_for {
        row("not for", Some(clause.to_string()))?;
    }
    row("toolsets", list(&view.toolsets))?;
    row("shadows", list(&view.shadows))?;
    row(
        "for a person",
        view.disable_model_invocation
            .then(|| "only; a model may not start it".to_owned()),
    )?;
    let notes = entry.notes();
    let all = entry.skill().diagnostics.iter().chain(&notes);
    if all.clone().next().is_some() {
        output.line("")?;
    }
    print_findings(all, "", output)
}

/// Returns the triggers of a skill, each kind with its name.
fn trigger_text(triggers: &Triggers) -> Option<String> {
    let kinds: Vec<(&str, &[Box<str>])> = match triggers {
        Triggers::Flat(texts) => vec![("", texts)],
        Triggers::Structured {
            keywords,
            verbs,
            patterns,
        } => vec![
            ("keywords ", keywords),
            ("verbs ", verbs),
            ("patterns ", patterns),
        ],
        _ => Vec::new(),
    };
    let kinds = kinds.into_iter().filter(|(_, texts)| !texts.is_empty());
    let kinds: Vec<_> = kinds
        .map(|(kind, texts)| {
            let texts: Vec<_> = texts.iter().map(|text| format!("`{text}`")).collect();
            format!("{kind}{}", texts.join(", "))
        })
        .collect();
    (!kinds.is_empty()).then(|| kinds.join("; "))
}

/// Returns the status of a skill, and what shadows it.
pub(crate) fn status_text(entry: &Entry<'_>) -> String {
    let status = entry.status();
    match entry.shadowed_by() {
        Some(winner) if status == Status::Shadowed => {
            format!("shadowed by {}", visible(winner.id()))
        }
        Some(winner) => format!("{status}, shadowed by {}", visible(winner.id())),
        None => status.to_string(),
    }
}
