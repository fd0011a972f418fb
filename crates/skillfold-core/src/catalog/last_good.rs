//! Keeps the last good state of skills whose file is being written or temporarily unreadable.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use crate::catalog::previous_scan::PreviousScan;
use crate::catalog::root::Root;
use crate::catalog::snapshot::Catalog;
use crate::catalog::unavailable::UnavailablePaths;
use crate::codes::Code;
use crate::read::discover::{Discovery, FoundFolder, Skill, SourceFinding};
use crate::source::{Finding, Folder, Revision};

/// Returns whether the file of a known skill looks half written: it changed a moment ago, and it is no longer a skill,
/// its frontmatter has lost its closing fence, or it has lost its description.
pub(super) fn is_being_written(previous: &Skill, found: &FoundFolder, now: SystemTime) -> bool {
    let is_unclosed = |skill: &Skill| {
        let mut codes = skill.diagnostics.iter().map(|diagnostic| diagnostic.code);
        codes.any(|code| code == Code::RepairedFence)
    };
    let is_broken = match found {
        FoundFolder::Skill(new) => {
            (is_unclosed(new) && !is_unclosed(previous))
                || (previous.describes_itself() && !new.describes_itself())
        }
        FoundFolder::Refused(_) => true,
    };
    is_broken && found.revision().is_some_and(|it| it.is_recent(now))
}

/// Replaces files that are being written with the skills they held before, and reports a finding for each.
pub(super) fn keep_half_written(
    old: &Catalog,
    known: &PreviousScan<'_>,
    found: &mut Discovery,
    now: SystemTime,
) {
    let mut kept: Vec<Arc<Skill>> = Vec::new();
    let mut keep = |found: &FoundFolder| {
        let previous = known.old_skill(old, found.source(), found.folder());
        match previous {
            Some(previous) if is_being_written(&previous, found, now) => {
                kept.push(previous);
                false
            }
            _ => true,
        }
    };
    // Look up only recent files with problems; most files are neither recent nor broken.
    found.refused.retain(|refused| {
        let is_recent = refused
            .revision
            .is_some_and(|revision| revision.is_recent(now));
        !is_recent || keep(&FoundFolder::Refused(Arc::clone(refused)))
    });
    found.skills.retain(|skill| {
        let is_suspect = !skill.diagnostics.is_empty() && skill.revision.is_recent(now);
        !is_suspect || keep(&FoundFolder::Skill(Arc::clone(skill)))
    });
    for skill in kept {
        let path = skill.folder.path();
        let what = "`SKILL.md` is being written; keeping the previous version:";
        let finding = SourceFinding {
            source: skill.source,
            finding: Finding::new(Code::Changing, path, what),
        };
        let findings = &mut found.findings;
        let at = findings.partition_point(|other| other.source <= finding.source);
        findings.insert(at, finding);
        let location = (skill.source, &skill.folder);
        let skills = &mut found.skills;
        let at = skills.partition_point(|other| (other.source, &other.folder) < location);
        skills.insert(at, skill);
    }
}

/// Adds the known skills and refused folders of paths that were temporarily unreadable, so that a transient fault does
/// not remove them.
pub(super) fn keep_unavailable(old: &Catalog, roots: &[Root], found: &mut Discovery) {
    let findings = std::mem::take(&mut found.findings);
    let unavailable = UnavailablePaths::from_findings(&findings);
    if !unavailable.is_empty() {
        let mut kept = Discovery::default();
        for (source, root) in roots.iter().enumerate() {
            let old_source = old.roots.iter().position(|old| old.is_same_root(root));
            let Some(old_source) = old_source else {
                continue;
            };
            for item in old.items_in_root(old_source) {
                let folder = old.tables.location(*item).1;
                if !unavailable.covers(source, folder) || contains_folder(found, source, folder) {
                    continue;
                }
                kept.push(old.tables.found(*item).with_source(source));
            }
        }
        drop_duplicates(old, roots, &kept, found);
        found.skills.append(&mut kept.skills);
        found.refused.append(&mut kept.refused);
        found.sort();
    }
    found.findings = findings;
}

fn contains_folder(found: &Discovery, source: usize, folder: &Folder) -> bool {
    let location = (source, folder.path());
    let skills = &found.skills;
    let refused = &found.refused;
    skills
        .binary_search_by(|other| (other.source, other.folder.path()).cmp(&location))
        .is_ok()
        || refused
            .binary_search_by(|other| (other.source, other.folder.path()).cmp(&location))
            .is_ok()
}

/// Drops new items that share a file with a kept one: either a link to it or its new location. A later scan that can
/// read both will tell which.
fn drop_duplicates(old: &Catalog, roots: &[Root], kept: &Discovery, found: &mut Discovery) {
    let skills = kept.skills.iter().map(|skill| Some(skill.revision));
    let refused = kept.refused.iter().map(|refused| refused.revision);
    let files: HashSet<_> = skills
        .chain(refused)
        .filter_map(|revision| revision?.inode())
        .collect();
    let is_kept = |revision: Revision| revision.inode().is_some_and(|inode| files.contains(&inode));
    let is_new = |source: usize, folder: &Folder| {
        let old_source = old
            .roots
            .iter()
            .position(|old| old.is_same_root(&roots[source]));
        old_source.is_none_or(|old_source| old.tables.item_at(old_source, folder.path()).is_none())
    };
    found
        .skills
        .retain(|skill| !is_kept(skill.revision) || !is_new(skill.source, &skill.folder));
    found.refused.retain(|refused| {
        !refused.revision.is_some_and(is_kept) || !is_new(refused.source, &refused.folder)
    });
}
