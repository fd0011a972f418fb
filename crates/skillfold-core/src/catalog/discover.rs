//! Builds the first snapshot.

use std::sync::Arc;
use std::time::SystemTime;

use crate::catalog::root::{Root, sort_and_label};
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, visible};
use crate::read::discover::discover;
use crate::source::Source;

/// Maximum folders, and maximum skills, that are logged individually. More would bury everything else in a log.
pub(super) const MAX_LOGGED: usize = 5;

impl Catalog {
    /// Finds all skills of some roots; `now` is the time before anything is read.
    ///
    /// Never fails: what cannot be read is in [`findings`](Self::findings) and [`refused`](Self::refused).
    pub fn discover(roots: Vec<Root>, options: CatalogOptions, now: SystemTime) -> Self {
        let _span = tracing::debug_span!("discover", roots = roots.len()).entered();
        let roots = sort_and_label(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let found = discover(&sources, &options.read);
        let catalog = Self::from_discovery(found, roots.into(), Arc::new(options), now);
        log_discovery(&catalog);
        catalog
    }
}

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
    if let more @ 1.. = catalog.refused().len().saturating_sub(MAX_LOGGED) {
        tracing::warn!(more, "more folders have no valid SKILL.md");
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
    let oversize: Vec<_> = oversize.collect();
    for entry in oversize.iter().take(MAX_LOGGED) {
        tracing::warn!(
            skill = &*visible(entry.id()),
            bytes = entry.skill().revision.size(),
            "skill is larger than an agent should load at once"
        );
    }
    if let more @ 1.. = oversize.len().saturating_sub(MAX_LOGGED) {
        tracing::warn!(
            more,
            "more skills are larger than an agent should load at once"
        );
    }
}
