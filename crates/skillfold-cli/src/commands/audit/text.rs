//! The records of the log in words.

use std::collections::HashMap;
use std::path::Path;

use skillfold::core::diagnostic::visible;
use skillfold::core::load::Digest;
use skillfold::store::{Event, Operation, OperationOutcome, Record, RecordedApproval, Target};

use crate::terminal::digest::short;
use crate::terminal::output::{display_path, pluralize};

/// Returns the records in words, one line each. The end of something is said where it started.
pub(super) fn describe(records: &[Record]) -> Vec<(&Record, String)> {
    let names = Names::of(records);
    let ends: HashMap<u64, OperationOutcome> = (records.iter())
        .filter_map(|record| match &record.event {
            Event::Finished { started, outcome } => Some((*started, *outcome)),
            _ => None,
        })
        .collect();
    let mut lines = Vec::new();
    for record in records {
        let text = match &record.event {
            Event::Finished { .. } => continue,
            Event::Started {
                operation,
                target,
                after,
                ..
            } => {
                let text = operation_text(operation, target, *after, &names);
                match ends.get(&record.number) {
                    Some(OperationOutcome::Done) => text,
                    Some(OperationOutcome::Undone) => format!("{text} (undone)"),
                    Some(_) => format!("{text} (superseded by another change)"),
                    None => format!("{text} (not finished)"),
                }
            }
            other => event_text(other, &names),
        };
        lines.push((record, visible(&text).into_owned()));
    }
    lines
}

/// The names of proposals, by digest.
struct Names<'r>(HashMap<Digest, &'r str>);

impl<'r> Names<'r> {
    fn of(records: &'r [Record]) -> Self {
        let names = records.iter().filter_map(|record| match &record.event {
            Event::Proposed { proposal, file, .. } => {
                Some((*proposal, file.strip_suffix(".md").unwrap_or(file)))
            }
            _ => None,
        });
        Self(names.collect())
    }

    fn get(&self, proposal: Digest) -> String {
        match self.0.get(&proposal) {
            Some(name) => (*name).to_owned(),
            None => short(&proposal.to_string()),
        }
    }
}

fn event_text(event: &Event, names: &Names<'_>) -> String {
    match event {
        Event::Proposed {
            proposal, author, ..
        } => format!("{} proposed {}", quoted(&author.name), names.get(*proposal)),
        Event::ProposedAgain {
            proposal, author, ..
        } => format!(
            "{} proposed {} again",
            quoted(&author.name),
            names.get(*proposal)
        ),
        Event::Recommended {
            proposal,
            by,
            verdict,
            reason,
        } => {
            let (by, name) = (quoted(by), names.get(*proposal));
            with_reason(format!("{by} recommended `{verdict}` for {name}"), reason)
        }
        Event::Rejected {
            proposal,
            by,
            reason,
        } => {
            let text = format!("{} rejected {}", quoted(by), names.get(*proposal));
            with_reason(text, reason)
        }
        Event::ClientsMayAsk { allowed, approval } => {
            let what = if *allowed { "let" } else { "no longer lets" };
            format!("{} {what} clients ask to run skills", who(approval))
        }
        Event::Edited { skill, after, .. } => {
            let skill = display_path(&skill.path());
            format!("{skill} was changed outside Skillfold: {}", version(*after))
        }
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

fn operation_text(
    operation: &Operation,
    target: &Target,
    after: Option<Digest>,
    names: &Names<'_>,
) -> String {
    let skill = match target {
        Target::Skill(place, _) => file_name(&place.path()),
        Target::File(path) => display_path(path),
        _ => String::new(),
    };
    match operation {
        Operation::Approve {
            proposal, approval, ..
        } => format!(
            "{} approved {}: {skill} is now {}",
            who(approval),
            names.get(*proposal),
            version(after)
        ),
        Operation::RollBack { approval, reason } => {
            let text = format!(
                "{} rolled {skill} back to {}",
                who(approval),
                version(after)
            );
            with_reason(text, reason)
        }
        Operation::Install { lock } => format!(
            "installed {skill} from {}: it is {}",
            display_path(lock),
            version(after)
        ),
        Operation::Remove { reason } => with_reason(format!("removed {skill}"), reason),
        Operation::Trust { folder } => format!("trusted {}", display_path(folder)),
        Operation::Distrust { folder } | Operation::DistrustSkill { folder } => {
            format!("stopped trusting {}", display_path(folder))
        }
        Operation::TrustSkills { folders, total } => {
            let shown: Vec<_> = folders.iter().map(|it| display_path(it)).collect();
            let more = match total.saturating_sub(folders.len()) {
                0 => String::new(),
                more => format!(" and {}", pluralize(more, "more", "more")),
            };
            format!("trusted {}{more}", shown.join(", "))
        }
        Operation::Allow {
            allowance,
            approval,
        } => {
            let folder = display_path(&allowance.folder);
            let mut text = format!("{} allowed {folder} to run", who(approval));
            let lists = [
                ("granted", &allowance.granted),
                ("packages", &allowance.packages),
            ];
            for (what, list) in lists {
                if !list.is_empty() {
                    text = format!("{text}; {what}: {}", list.join(", "));
                }
            }
            text
        }
        Operation::Disallow { folder } => {
            format!("stopped allowing {} to run", display_path(folder))
        }
        Operation::SetPassphrase => "set the passphrase".to_owned(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Returns who approved something, and how.
fn who(approval: &RecordedApproval) -> String {
    format!("{} ({})", quoted(&approval.by), approval.how)
}

/// Returns a name in quotes: a client chooses its own, and could choose a sentence.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "'"))
}

fn with_reason(text: String, reason: &str) -> String {
    match reason.lines().next() {
        Some(reason) if !reason.is_empty() => format!("{text}: {reason}"),
        _ => text,
    }
}

fn version(digest: Option<Digest>) -> String {
    digest.map_or_else(|| "removed".to_owned(), |it| short(&it.to_string()))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
