//! What is logged of finding skills: numbers, names, and what is not as it should be.

use crate::catalog::refresh::Refreshed;
use crate::catalog::scan_cache::CacheReport;
use crate::catalog::snapshot::Catalog;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, visible};

/// Folders and files that are named one by one; the rest is in the numbers.
const NAMED: usize = 100;

/// Says what was found.
pub(super) fn found(catalog: &Catalog) {
    tracing::info!(
        skills = catalog.len(),
        refused = catalog.refused().len(),
        findings = catalog.findings().len(),
        "skills found"
    );
    if tracing::enabled!(tracing::Level::WARN) {
        name_refused(catalog);
        name_oversize(catalog);
    }
}

/// Says what was remembered.
pub(super) fn recalled(roots: &[CacheReport]) {
    let sum = |of: fn(&CacheReport) -> usize| roots.iter().map(of).sum::<usize>();
    tracing::info!(
        kept = sum(|root| root.kept),
        read = sum(|root| root.read),
        gone = sum(|root| root.gone),
        "skills remembered"
    );
}

/// Says what changed.
pub(super) fn changed(refreshed: &Refreshed) {
    let changes = &refreshed.changes;
    if changes.is_empty() {
        tracing::debug!(skills = refreshed.catalog.len(), "no skill changed");
        return;
    }
    tracing::info!(
        skills = refreshed.catalog.len(),
        added = changes.added.len(),
        changed = changes.changed.len(),
        removed = changes.removed.len(),
        refused = changes.refused.len(),
        "skills changed"
    );
    for folder in changes.refused.iter().take(NAMED) {
        tracing::warn!(folder = &*visible(folder), "folder has no valid SKILL.md");
    }
}

/// Names the folders that hold no skill, and why.
fn name_refused(catalog: &Catalog) {
    for refused in catalog.refused().iter().take(NAMED) {
        // A message may quote the file; a code and a place do not.
        let why = refused.diagnostics.first();
        let at = why.and_then(|why| why.span).map(|span| span.start);
        tracing::warn!(
            folder = &*visible(refused.folder.path()),
            code = why.map(|why| why.code.number()),
            at = at.map(|at| at.to_string()),
            "folder has no valid SKILL.md"
        );
    }
}

/// Names the skills that are larger than an agent should load at once.
fn name_oversize(catalog: &Catalog) {
    let is_oversize = |found: &&Diagnostic| found.code == Code::Oversize;
    let oversize = catalog.entries().filter(|entry| {
        entry
            .skill()
            .diagnostics
            .iter()
            .any(|found| is_oversize(&found))
    });
    // The rest is in no number of its own; `doctor` has them all.
    for entry in oversize.take(NAMED) {
        tracing::warn!(
            skill = &*visible(entry.id()),
            bytes = entry.skill().revision.size,
            "skill is larger than an agent should load at once"
        );
    }
}
