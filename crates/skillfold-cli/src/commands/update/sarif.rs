//! What updates do as SARIF: one result for each thing that a reviewer should see.

use std::path::Path;

use serde_json::Value;
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::source::SKILL_FILE;
use skillfold::improve::{Effects, ReachKind};
use skillfold::registry::AddedSkill;

use crate::failure::Failure;
use crate::terminal::output::Output;
use crate::terminal::sarif::{Log, finding_result, line_result, rule};

/// Effects that are not reaches and not findings: the rule, what it says, and its level.
const OTHERS: [(&str, &str, Severity); 3] = [
    ("new-tool", "Wants more tools", Severity::Warning),
    ("changed-script", "New or changed script", Severity::Info),
    (
        "conflict",
        "You and the author changed the same lines",
        Severity::Warning,
    ),
];

/// Prints updates. Files are named relative to `directory`.
pub(super) fn print<'a>(
    updates: impl Iterator<Item = (&'a AddedSkill, &'a Effects)>,
    directory: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let help = "Review the change before you approve the update";
    let rules = ReachKind::ALL.map(|it| rule(it.id(), it.of_update(), help, severity(it)));
    let others = OTHERS.map(|(id, what, severity)| rule(id, what, help, severity));
    let mut log = Log::start(&[&rules[..], &others[..]].concat(), output)?;
    for (skill, effects) in updates {
        let folder = skill.folder.strip_prefix(directory);
        let folder = folder.unwrap_or(&skill.folder);
        for result in results(skill, effects, folder) {
            log.add(&result, output)?;
        }
    }
    log.finish(output)
}

fn results(skill: &AddedSkill, effects: &Effects, folder: &Path) -> Vec<Value> {
    let mut results = Vec::new();
    for reach in &effects.reaches {
        let (id, severity) = (reach.kind.id(), severity(reach.kind));
        let what = effects.says(reach.kind);
        for mention in &reach.mentions {
            let text = format!("{what}: {}", mention.name);
            let file = folder.join(&mention.file);
            results.push(line_result(id, severity, &text, &file, mention.line));
        }
        let more = reach.total - reach.mentions.len();
        if more > 0 {
            let text = format!("{what}: {more} more");
            results.push(line_result(
                id,
                severity,
                &text,
                &folder.join(SKILL_FILE),
                1,
            ));
        }
    }
    let tools = effects.added_tools.iter().map(|tool| (&**tool, SKILL_FILE));
    let scripts = effects.changed_scripts.iter().map(|it| (&**it, &**it));
    let conflicts = skill.conflicts.iter().map(|it| (&**it, &**it));
    let lists: [Vec<(&str, &str)>; 3] = [tools.collect(), scripts.collect(), conflicts.collect()];
    for ((id, what, severity), list) in OTHERS.into_iter().zip(lists) {
        results.extend(list.into_iter().map(|(name, file)| {
            let text = format!("{what}: {}", visible(name));
            line_result(id, severity, &text, &folder.join(file), 1)
        }));
    }
    let findings = effects.new_findings.iter();
    results.extend(findings.map(|finding| finding_result(&folder.join(SKILL_FILE), finding)));
    results
}

fn severity(kind: ReachKind) -> Severity {
    match kind {
        ReachKind::HiddenCharacters => Severity::Error,
        ReachKind::Path => Severity::Info,
        _ => Severity::Warning,
    }
}
