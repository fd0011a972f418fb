//! An old snapshot as the cache of the next scan.

use std::ops::Range;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::Item;
use crate::read::discover::{FoundFolder, ScanCache, Skill};
use crate::source::{Folder, ListedFolder};

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
        let root_of = roots.iter().map(|root| {
            let old_root = old.roots.iter().position(|old| old.is_same_root(root))?;
            (old.options.read == options.read).then(|| (old_root, old.item_range(old_root)))
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
        let item = old.tables.item_at(*old_root, folder.path())?;
        match old.tables.found(item).with_source(root) {
            FoundFolder::Skill(skill) => Some(skill),
            FoundFolder::Refused(_) => None,
        }
    }

    /// Returns the old item of a folder. Folders come almost in order, so the expected item is tried first.
    fn find_item(&mut self, root: usize, listed: &ListedFolder) -> Option<Item> {
        let (_, range) = self.old_roots.get(root)?.as_ref()?;
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
        Some(items[at])
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
        let item = self.find_item(source, listed)?;
        if self.old.unsettled.binary_search(&item).is_ok() {
            return None;
        }
        let found = self.old.tables.found(item);
        (found.revision() == Some(listed.revision)).then(|| found.with_source(source))
    }
}
