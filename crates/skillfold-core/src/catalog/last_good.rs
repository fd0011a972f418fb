//! What cannot be known now stays as it was: a skill whose file is being written, and what cannot be read right now.

use std::collections::HashSet;
use std::sync::Arc;

use crate::catalog::refresh::{PreviousScan, moved, moved_refused};
use crate::catalog::root::Root;
use crate::catalog::snapshot::Catalog;
use crate::catalog::tables::Item;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::discover::{Discovery, FoundFolder, Skill, SourceFinding};
use crate::read::source::{Finding, Folder, Revision};

/// Returns whether a file that held a skill looks as if somebody is in the middle of writing it: it holds none now, or its
/// frontmatter has no end, and it changed a moment ago.
pub(super) fn is_being_written(was: &Skill, found: &FoundFolder, now_ns: i64) -> bool {
    let is_open = |diagnostics: &[Diagnostic]| {
        let mut codes = diagnostics.iter().map(|diagnostic| diagnostic.code);
        codes.any(|code| code == Code::RepairedFence)
    };
    match found {
        FoundFolder::Skill(skill) => {
            is_open(&skill.diagnostics)
                && !is_open(&was.diagnostics)
                && skill.revision.is_recent(now_ns)
        }
        FoundFolder::Refused(refused) => refused
            .revision
            .is_some_and(|revision| revision.is_recent(now_ns)),
    }
}

/// Puts skills as they were in place of files that are being written, and says so.
pub(super) fn keep_half_written(
    old: &Catalog,
    known: &PreviousScan<'_>,
    found: &mut Discovery,
    now_ns: i64,
) {
    let mut held: Vec<Arc<Skill>> = Vec::new();
    let mut keep = |found: &FoundFolder| {
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
        !is_recent || keep(&FoundFolder::Refused(Arc::clone(refused)))
    });
    found.skills.retain(|skill| {
        let is_odd = !skill.diagnostics.is_empty() && skill.revision.is_recent(now_ns);
        !is_odd || keep(&FoundFolder::Skill(Arc::clone(skill)))
    });
    for skill in held {
        let path = skill.folder.path();
        let what = "`SKILL.md` is being written; keeping the previous version:";
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

/// The places that cannot be read right now.
pub(super) struct Unavailable<'a>(HashSet<(usize, &'a str)>);

impl<'a> Unavailable<'a> {
    pub(super) fn of(findings: &'a [SourceFinding]) -> Self {
        let places = findings
            .iter()
            .filter(|of| of.finding.diagnostic.code == Code::Unavailable)
            .map(|of| (of.source, &*of.finding.path));
        Self(places.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a folder is one of the places, or below one.
    pub(super) fn has(&self, source: usize, folder: &Folder) -> bool {
        let path = folder.path();
        let ends = path.match_indices('/').map(|(at, _)| at);
        let mut ways = [0, path.len()].into_iter().chain(ends);
        ways.any(|end| self.0.contains(&(source, &path[..end])))
    }
}

/// Adds what was known where nothing could be read just now, so that a fault that passes takes nothing away.
pub(super) fn keep_unavailable(old: &Catalog, roots: &[Root], found: &mut Discovery) {
    let findings = std::mem::take(&mut found.findings);
    let unavailable = Unavailable::of(&findings);
    if !unavailable.is_empty() {
        let mut kept = Discovery::default();
        for (source, root) in roots.iter().enumerate() {
            let was = old.roots.iter().position(|old| old.is_same_place(root));
            let Some(was) = was else {
                continue;
            };
            for item in old.items_of(was) {
                let folder = old.tables.place(*item).1;
                if !unavailable.has(source, folder) || has_place(found, source, folder) {
                    continue;
                }
                match item {
                    Item::Skill(at) => {
                        let skill = &old.tables.node(*at).skill;
                        kept.skills.push(moved(skill, was, source));
                    }
                    Item::Refused(at) => {
                        let refused = old.tables.refused_at(*at);
                        kept.refused.push(moved_refused(refused, was, source));
                    }
                }
            }
        }
        leave_out_twice(old, roots, &kept, found);
        found.skills.append(&mut kept.skills);
        found.refused.append(&mut kept.refused);
        found.put_in_order();
    }
    found.findings = findings;
}

fn has_place(found: &Discovery, source: usize, folder: &Folder) -> bool {
    let place = (source, folder.path());
    let skills = &found.skills;
    let refused = &found.refused;
    skills
        .binary_search_by(|other| (other.source, other.folder.path()).cmp(&place))
        .is_ok()
        || refused
            .binary_search_by(|other| (other.source, other.folder.path()).cmp(&place))
            .is_ok()
}

/// Takes out what is new and has the file of something that was kept: a link to it, or its new place. Which of the two it
/// is, is known when both can be read.
fn leave_out_twice(old: &Catalog, roots: &[Root], kept: &Discovery, found: &mut Discovery) {
    let file = |revision: &Revision| (revision.device, revision.inode);
    let skills = kept.skills.iter().map(|skill| Some(skill.revision));
    let refused = kept.refused.iter().map(|refused| refused.revision);
    let files: HashSet<_> = skills
        .chain(refused)
        .flatten()
        .filter(|revision| revision.inode != 0)
        .map(|revision| file(&revision))
        .collect();
    let is_new = |source: usize, folder: &Folder| {
        let was = old
            .roots
            .iter()
            .position(|old| old.is_same_place(&roots[source]));
        was.is_none_or(|was| old.tables.find_place(was, folder).is_err())
    };
    found.skills.retain(|skill| {
        !files.contains(&file(&skill.revision)) || !is_new(skill.source, &skill.folder)
    });
    found.refused.retain(|refused| {
        let is_kept = |revision: Revision| files.contains(&file(&revision));
        !refused.revision.is_some_and(is_kept) || !is_new(refused.source, &refused.folder)
    });
}
