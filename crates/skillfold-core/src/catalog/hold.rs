//! A skill whose file is being written stays as it was until the file is left alone.

use std::sync::Arc;

use crate::catalog::refresh::Known;
use crate::catalog::snapshot::Catalog;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::discover::{Discovery, Found, Skill, SourceFinding};
use crate::read::source::Finding;

/// Returns whether a file that held a skill looks as if somebody is in the middle of writing it: it holds none now, or its
/// frontmatter has no end, and it changed a moment ago.
pub(super) fn is_being_written(was: &Skill, found: &Found, now_ns: i64) -> bool {
    let is_open = |diagnostics: &[Diagnostic]| {
        let mut codes = diagnostics.iter().map(|diagnostic| diagnostic.code);
        codes.any(|code| code == Code::RepairedFence)
    };
    match found {
        Found::Skill(skill) => {
            is_open(&skill.diagnostics)
                && !is_open(&was.diagnostics)
                && skill.revision.is_recent(now_ns)
        }
        Found::Refused(refused) => refused
            .revision
            .is_some_and(|revision| revision.is_recent(now_ns)),
    }
}

/// Puts skills as they were in place of files that are being written, and says so.
pub(super) fn hold(old: &Catalog, known: &Known<'_>, found: &mut Discovery, now_ns: i64) {
    let mut held: Vec<Arc<Skill>> = Vec::new();
    let mut keep = |found: &Found| {
        let was = known.skill_at(old, found.source(), found.folder());
        match was {
            Some(was) if is_being_written(&was, found, now_ns) => {
                held.push(was);
                false
            }
            _ => true,
        }
    };
    // Most files are neither recent nor broken; only those are looked up that are.
    found.refused.retain(|refused| {
        let is_recent = refused
            .revision
            .is_some_and(|revision| revision.is_recent(now_ns));
        !is_recent || keep(&Found::Refused(Arc::clone(refused)))
    });
    found.skills.retain(|skill| {
        let is_odd = !skill.diagnostics.is_empty() && skill.revision.is_recent(now_ns);
        !is_odd || keep(&Found::Skill(Arc::clone(skill)))
    });
    for skill in held {
        let path = skill.folder.path();
        let what = "`SKILL.md` is being written; the skill stays as it was:";
        let finding = SourceFinding {
            source: skill.source,
            finding: Finding::new(Code::Changing, path, what),
        };
        let findings = &mut found.findings;
        let at = findings.partition_point(|other| other.source <= finding.source);
        findings.insert(at, finding);
        let place = (skill.source, &skill.folder);
        let skills = &mut found.skills;
        let at = skills.partition_point(|other| (other.source, &other.folder) < place);
        skills.insert(at, skill);
    }
}
