//! An old snapshot as the cache of the next scan.

use std::ops::Range;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::Item;
use crate::read::discover::{FoundFolder, RefusedFolder, ScanCache, Skill};
use crate::source::{Folder, ListedFolder, Revision};

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
