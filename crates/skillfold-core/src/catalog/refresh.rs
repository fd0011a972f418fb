//! Rescans all roots from an old snapshot, reading only the files that changed.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use crate::catalog::discover::MAX_LOGGED;
use crate::catalog::entry::Entry;
use crate::catalog::last_good::{keep_half_written, keep_unavailable};
use crate::catalog::previous_scan::PreviousScan;
use crate::catalog::root::{Root, sort_and_label};
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::{Item, Tables};
use crate::diagnostic::visible;
use crate::read::discover::{Discovery, FoundFolder, RefusedFolder, Skill, discover_with};
use crate::source::Source;

/// A new snapshot, and how it differs from the previous one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refreshed {
    /// The new snapshot.
    pub catalog: Catalog,
    /// The differences.
    pub changes: Changes,
}

/// What a refresh changed; everything is absent if nothing did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "ChangesView")]
#[non_exhaustive]
pub struct Changes {
    /// Ids of new skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Box<str>>,
    /// Ids of skills that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Box<str>>,
    /// Ids of skills whose file, content or status changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Box<str>>,
    /// Refused folders that are new or whose file changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Box<str>>,
    /// Formerly refused folders that are gone or hold a skill now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<Box<str>>,
}

impl Changes {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        let Self {
            added,
            removed,
            changed,
            refused,
            cleared,
        } = self;
        [added, removed, changed, refused, cleared]
            .iter()
            .all(|ids| ids.is_empty())
    }
}

impl Catalog {
    /// Rescans the roots, and reads only files whose revision differs from this snapshot or was not settled; `now`
    /// is the time before anything is read.
    ///
    /// Roots are matched by label, qualifier and location. If nothing changed, the new snapshot shares the data of this
    /// one. What is temporarily unreadable keeps its known state, and [`is_stale`](Self::is_stale) reports it.
    pub fn refresh(&self, roots: Vec<Root>, options: CatalogOptions, now: SystemTime) -> Refreshed {
        let _span = tracing::debug_span!("refresh", roots = roots.len()).entered();
        let refreshed = self.rescan(roots, options, now);
        log_changes(&refreshed);
        refreshed
    }

    fn rescan(&self, roots: Vec<Root>, options: CatalogOptions, now: SystemTime) -> Refreshed {
        let roots = sort_and_label(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let mut known = PreviousScan::new(self, &roots, &options);
        let mut found = discover_with(&sources, &options.read, &mut known);
        keep_unavailable(self, &roots, &mut found);
        keep_half_written(self, &known, &mut found, now);
        reuse_equal(self, &mut found);
        let is_equivalent = self.options.rules() == options.rules()
            && self.roots.len() == roots.len()
            && self
                .roots
                .iter()
                .zip(&roots)
                .all(|(a, b)| a.is_equivalent(b));
        if is_equivalent && is_identical(&self.tables, &found) {
            let mut catalog = self.with_findings(roots.into(), found.findings, now);
            catalog.options = Arc::new(options);
            catalog.has_links |= found.followed_links;
            let changes = Changes::default();
            return Refreshed { catalog, changes };
        }
        let catalog = Self::from_discovery(found, roots.into(), Arc::new(options), now);
        let changes = diff(self, &catalog);
        Refreshed { catalog, changes }
    }
}

/// Replaces items that were reread and are equal with the old ones, so that the snapshots share them.
fn reuse_equal(old: &Catalog, found: &mut Discovery) {
    for item in old.unsettled.iter() {
        match old.tables.found(*item) {
            FoundFolder::Skill(known) => {
                let order =
                    |new: &Skill| (new.source, &new.folder).cmp(&(known.source, &known.folder));
                reuse(&mut found.skills, &known, order);
            }
            FoundFolder::Refused(known) => {
                let order = |new: &RefusedFolder| {
                    (new.source, &new.folder).cmp(&(known.source, &known.folder))
                };
                reuse(&mut found.refused, &known, order);
            }
        }
    }
}

fn reuse<T: Eq>(list: &mut [Arc<T>], known: &Arc<T>, order: impl Fn(&T) -> Ordering) {
    if let Ok(at) = list.binary_search_by(|new| order(new))
        && list[at] == *known
    {
        list[at] = Arc::clone(known);
    }
}

/// Returns whether the scan found exactly the old items.
fn is_identical(old: &Tables, found: &Discovery) -> bool {
    let (mut skills, mut refused) = (found.skills.iter(), found.refused.iter());
    let all_known = old.by_location().iter().all(|item| match item {
        Item::Skill(index) => {
            let known = &old.row(*index).skill;
            skills.next().is_some_and(|new| Arc::ptr_eq(new, known))
        }
        Item::Refused(index) => {
            let known = old.refused_at(*index);
            refused.next().is_some_and(|new| Arc::ptr_eq(new, known))
        }
    });
    all_known && skills.next().is_none() && refused.next().is_none()
}

/// Compares two snapshots.
pub(super) fn diff(old: &Catalog, new: &Catalog) -> Changes {
    let mut changes = diff_entries(old.entries(), new.entries());
    diff_refused((old, old.refused()), (new, new.refused()), &mut changes);
    changes
}

/// Compares the skills of two snapshots. Both iterators must be ordered by id.
fn diff_entries<'o, 'n>(
    before: impl Iterator<Item = Entry<'o>>,
    after: impl Iterator<Item = Entry<'n>>,
) -> Changes {
    let mut changes = Changes::default();
    let (mut before, mut after) = (before.peekable(), after.peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) if old.has_same_id(new) => Ordering::Equal,
            (Some(old), Some(new)) => old.id().cmp(new.id()),
        };
        let old = before.next_if(|_| order != Ordering::Greater);
        let new = after.next_if(|_| order != Ordering::Less);
        match (old, new) {
            (Some(old), Some(new)) if !is_unchanged(&old, &new) => {
                changes.changed.push(new.id().into());
            }
            (Some(old), None) => changes.removed.push(old.id().into()),
            (None, Some(new)) => changes.added.push(new.id().into()),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    changes
}

/// Compares the refused folders of two snapshots.
fn diff_refused(
    (old, before): (&Catalog, &[Arc<RefusedFolder>]),
    (new, after): (&Catalog, &[Arc<RefusedFolder>]),
    changes: &mut Changes,
) {
    let location = |catalog: &Catalog, refused: &RefusedFolder| {
        let label = catalog.roots[refused.source].label();
        (Box::<str>::from(label), refused.folder.to_string())
    };
    let mut known: HashMap<_, _> = before
        .iter()
        .map(|refused| (location(old, refused), refused))
        .collect();
    for refused in after {
        let is_known = known.remove(&location(new, refused)).is_some_and(|known| {
            known.revision == refused.revision && known.diagnostics == refused.diagnostics
        });
        if !is_known {
            changes.refused.push(refused.folder.to_string().into());
        }
    }
    let cleared = known.into_keys().map(|(_, folder)| folder.into());
    changes.cleared.extend(cleared);
    changes.cleared.sort();
}

fn is_unchanged(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    let is_same_file = || {
        let (old, new) = (old.skill(), new.skill());
        old.folder == new.folder && old.revision == new.revision && old.manifest == new.manifest
    };
    old.status() == new.status()
        && (std::ptr::eq(old.root(), new.root()) || old.root().is_same_root(new.root()))
        && (Arc::ptr_eq(old.skill(), new.skill()) || is_same_file())
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
