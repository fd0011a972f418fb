//! Rescans all roots from an old snapshot, reading only the files that changed.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::last_good::{keep_half_written, keep_unavailable};
use crate::catalog::log;
use crate::catalog::root::{Root, sort_and_label};
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::{Item, Tables};
use crate::read::discover::{
    Discovery, FoundFolder, RefusedFolder, ScanCache, Skill, discover_with,
};
use crate::read::source::{Folder, ListedFolder, Revision, Source};

/// A new snapshot, and how it differs from the previous one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refreshed {
    /// The new snapshot.
    pub catalog: Catalog,
    /// The differences.
    pub changes: Changes,
}

/// How two snapshots differ, as sorted ids and folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Ids that are new.
    pub added: Vec<Box<str>>,
    /// Ids that are gone.
    pub removed: Vec<Box<str>>,
    /// Ids whose file, content or status changed.
    pub changed: Vec<Box<str>>,
    /// Refused folders that are new or whose file changed, as displayed.
    pub refused: Vec<Box<str>>,
    /// Formerly refused folders that are gone or hold a skill now, as displayed.
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
    /// Rescans the roots, and reads only files whose revision differs from this snapshot or was not settled; `now_ns`
    /// is the time before anything is read, in nanoseconds since 1970.
    ///
    /// Roots are matched by label, qualifier and location. If nothing changed, the new snapshot shares the data of this
    /// one. What is temporarily unreadable keeps its known state, and [`is_stale`](Self::is_stale) reports it.
    pub fn refresh(&self, roots: Vec<Root>, options: CatalogOptions, now_ns: i64) -> Refreshed {
        let _span = tracing::debug_span!("refresh", roots = roots.len()).entered();
        let refreshed = self.rescan(roots, options, now_ns);
        log::log_changes(&refreshed);
        refreshed
    }

    fn rescan(&self, roots: Vec<Root>, options: CatalogOptions, now_ns: i64) -> Refreshed {
        let roots = sort_and_label(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let mut known = PreviousScan::new(self, &roots, &options);
        let mut found = discover_with(&sources, &options.read, &mut known);
        keep_unavailable(self, &roots, &mut found);
        keep_half_written(self, &known, &mut found, now_ns);
        reuse_equal(self, &mut found);
        let is_equivalent = self.options.precedence == options.precedence
            && self.options.enablement == options.enablement
            && self.roots.len() == roots.len()
            && self
                .roots
                .iter()
                .zip(&roots)
                .all(|(a, b)| a.is_equivalent(b));
        if is_equivalent && is_identical(&self.tables, &found) {
            let mut catalog = self.with_findings(roots.into(), found.findings, now_ns);
            catalog.options = Arc::new(options);
            let changes = Changes::default();
            return Refreshed { catalog, changes };
        }
        let catalog = Self::from_discovery(found, roots.into(), Arc::new(options), now_ns);
        let changes = diff(self, &catalog);
        Refreshed { catalog, changes }
    }
}

/// The old snapshot as a cache for the next scan.
pub(super) struct PreviousScan<'a> {
    old: &'a Catalog,
    /// For each new root: the index of the same old root and the range of its items.
    old_roots: Vec<Option<(usize, Range<usize>)>>,
    /// For each new root: the old item that is expected next.
    next: Vec<usize>,
}

impl<'a> PreviousScan<'a> {
    pub(super) fn new(old: &'a Catalog, roots: &[Root], options: &CatalogOptions) -> Self {
        let items = old.tables.by_location();
        let range_of = |root: usize| {
            let start_of =
                |root: usize| items.partition_point(|item| old.tables.location(*item).0 < root);
            start_of(root)..start_of(root + 1)
        };
        let root_of = roots.iter().map(|root| {
            let old_root = old.roots.iter().position(|old| old.is_same_root(root))?;
            (old.options.read == options.read).then(|| (old_root, range_of(old_root)))
        });
        let root_of: Vec<_> = root_of.collect();
        let next = root_of
            .iter()
            .map(|known| known.as_ref().map_or(0, |(_, items)| items.start))
            .collect();
        Self {
            old,
            old_roots: root_of,
            next,
        }
    }

    /// Returns the old skill of a folder, with its source index updated to the new root.
    pub(super) fn old_skill(
        &self,
        old: &Catalog,
        root: usize,
        folder: &Folder,
    ) -> Option<Arc<Skill>> {
        let (old_root, _) = self.old_roots.get(root)?.as_ref()?;
        match old.tables.item_at(*old_root, folder.path())? {
            Item::Skill(index) => {
                let skill = &old.tables.row(index).skill;
                Some(skill_with_source(skill, *old_root, root))
            }
            Item::Refused(_) => None,
        }
    }

    /// Returns the old root and item of a folder. Folders come almost in order, so the expected item is tried first.
    fn find_item(&mut self, root: usize, listed: &ListedFolder) -> Option<(usize, Item)> {
        let (old_root, range) = self.old_roots.get(root)?.as_ref()?;
        let tables = &self.old.tables;
        let items = &tables.by_location()[range.clone()];
        let folder = |item: &Item| tables.location(*item).1;
        let next = self.next[root] - range.start;
        let at = match items.get(next) {
            Some(item) if *folder(item) == listed.folder => next,
            _ => items
                .binary_search_by(|item| folder(item).cmp(&listed.folder))
                .ok()?,
        };
        self.next[root] = range.start + at + 1;
        Some((*old_root, items[at]))
    }
}

impl ScanCache for PreviousScan<'_> {
    fn has_entries(&self, source: usize) -> bool {
        let known = self.old_roots.get(source).and_then(Option::as_ref);
        known.is_some_and(|(_, items)| !items.is_empty())
    }

    fn len(&self) -> usize {
        let known = self.old_roots.iter().flatten();
        known.map(|(_, items)| items.len()).sum()
    }

    fn find_unchanged(&mut self, source: usize, listed: &ListedFolder) -> Option<FoundFolder> {
        let (old_source, item) = self.find_item(source, listed)?;
        if self.old.unsettled.binary_search(&item).is_ok() {
            return None;
        }
        let tables = &self.old.tables;
        let is_equal = |revision: Option<Revision>| revision == Some(listed.revision);
        match item {
            Item::Skill(index) => {
                let skill = &tables.row(index).skill;
                is_equal(Some(skill.revision))
                    .then(|| FoundFolder::Skill(skill_with_source(skill, old_source, source)))
            }
            Item::Refused(index) => {
                let refused = tables.refused_at(index);
                is_equal(refused.revision)
                    .then(|| FoundFolder::Refused(refused_with_source(refused, old_source, source)))
            }
        }
    }
}

/// Returns a skill with its source index updated; shares it if the index is the same.
pub(super) fn skill_with_source(
    skill: &Arc<Skill>,
    old_source: usize,
    source: usize,
) -> Arc<Skill> {
    if old_source == source {
        return Arc::clone(skill);
    }
    Arc::new(Skill {
        source,
        ..Skill::clone(skill)
    })
}

/// Returns a refused folder with its source index updated; shares it if the index is the same.
pub(super) fn refused_with_source(
    refused: &Arc<RefusedFolder>,
    old_source: usize,
    source: usize,
) -> Arc<RefusedFolder> {
    if old_source == source {
        return Arc::clone(refused);
    }
    Arc::new(RefusedFolder {
        source,
        ..RefusedFolder::clone(refused)
    })
}

/// Replaces items that were reread and are equal with the old ones, so that the snapshots share them.
fn reuse_equal(old: &Catalog, found: &mut Discovery) {
    for item in old.unsettled.iter() {
        let location = old.tables.location(*item);
        match item {
            Item::Skill(index) => {
                let known = &old.tables.row(*index).skill;
                let skills = &mut found.skills;
                if let Ok(at) =
                    skills.binary_search_by(|new| (new.source, &new.folder).cmp(&location))
                    && skills[at] == *known
                {
                    skills[at] = Arc::clone(known);
                }
            }
            Item::Refused(index) => {
                let known = old.tables.refused_at(*index);
                let refused = &mut found.refused;
                if let Ok(at) =
                    refused.binary_search_by(|new| (new.source, &new.folder).cmp(&location))
                    && refused[at] == *known
                {
                    refused[at] = Arc::clone(known);
                }
            }
        }
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
        && old.root().is_same_root(new.root())
        && (Arc::ptr_eq(old.skill(), new.skill()) || is_same_file())
}
