//! Structured logging of discovery and refresh.

use crate::catalog::refresh::Refreshed;
use crate::catalog::scan_cache::CacheReport;
use crate::catalog::snapshot::Catalog;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, visible};

/// Maximum folders and files that are logged individually.
const MAX_LOGGED: usize = 100;

/// Logs the totals of a discovery, its refused folders and its oversize skills.
pub(super) fn log_discovery(catalog: &Catalog) {
    tracing::info!(
        skills = catalog.len(),
        refused = catalog.refused().len(),
        findings = catalog.findings().len(),
        "skills found"
    );
    if tracing::enabled!(tracing::Level::WARN) {
        log_refused(catalog);
        log_oversize(catalog);
    }
}

/// Logs how the scan caches of the roots were used.
pub(super) fn log_cache_use(roots: &[CacheReport]) {
    let sum = |count: fn(&CacheReport) -> usize| roots.iter().map(count).sum::<usize>();
    tracing::info!(
        kept = sum(|root| root.kept),
        read = sum(|root| root.read),
        gone = sum(|root| root.gone),
        "skills remembered"
    );
}

/// Logs the changes of a refresh.
pub(super) fn log_changes(refreshed: &Refreshed) {
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
    for folder in changes.refused.iter().take(MAX_LOGGED) {
        tracing::warn!(folder = &*visible(folder), "folder has no valid SKILL.md");
    }
}

/// Logs the refused folders, with the code and position of the first diagnostic.
fn log_refused(catalog: &Catalog) {
    for refused in catalog.refused().iter().take(MAX_LOGGED) {
        // A message may quote the file; a code and a position do not.
        let reason = refused.diagnostics.first();
        let start = reason.and_then(|reason| reason.span).map(|span| span.start);
        tracing::warn!(
            folder = &*visible(refused.folder.path()),
            code = reason.map(|reason| reason.code.number()),
            at = start.map(|start| start.to_string()),
            "folder has no valid SKILL.md"
        );
    }
}

/// Logs the skills that are larger than an agent should load at once.
fn log_oversize(catalog: &Catalog) {
    let is_oversize = |found: &&Diagnostic| found.code == Code::Oversize;
    let oversize = catalog.entries().filter(|entry| {
        entry
            .skill()
            .diagnostics
            .iter()
            .any(|found| is_oversize(&found))
    });
    // No total is logged; `doctor` lists them all.
    for entry in oversize.take(MAX_LOGGED) {
        tracing::warn!(
            skill = &*visible(entry.id()),
            bytes = entry.skill().revision.size,
            "skill is larger than an agent should load at once"
        );
    }
}
