//! Rescans only the given folders, and patches the snapshot.

use std::sync::Arc;

use crate::catalog::last_good::is_being_written;
use crate::catalog::log;
use crate::catalog::refresh::{Changes, PreviousScan, Refreshed, diff_entries, diff_refused};
use crate::catalog::snapshot::Catalog;
use crate::catalog::tables::{Item, Patched};
use crate::codes::Code;
use crate::read::discover::{Discovery, FoundFolder, RefusedFolder, SourceFinding, discover_at};
use crate::read::source::Folder;

/// Maximum folders to rescan separately; more need a full rescan.
const MAX_FOLDERS: usize = 256;

/// Findings that depend on the whole scan. A rescan of one folder cannot update them.
const NEEDS_FULL_RESCAN: [Code; 5] = [
    Code::Unavailable,
    Code::SameFolder,
    Code::Loop,
    Code::BoundReached,
    Code::MoreFindings,
];

/// The result of rescanning some folders.
#[derive(Default)]
struct FolderChanges {
    /// Items that are gone or changed.
    removed: Vec<Item>,
    /// Items that are new or changed.
    added: Vec<FoundFolder>,
    unchanged: Vec<Item>,
}

impl Catalog {
    /// Rescans some folders and everything below them, each given by the index of its root and its path in it. If
    /// nothing changed elsewhere, the new snapshot equals that of [`refresh`](Self::refresh). The cost depends on what
    /// changed, not on the number of skills.
    ///
    /// Returns `None` if only a full refresh can tell what changed: links were followed, a bound ended the search, or
    /// there are findings about the folders.
    pub fn refresh_folders(&self, folders: &[(usize, &str)], now_ns: i64) -> Option<Refreshed> {
        let _span = tracing::debug_span!("refresh", folders = folders.len()).entered();
        let needs_full_rescan =
            |found: &SourceFinding| NEEDS_FULL_RESCAN.contains(&found.finding.diagnostic.code);
        if folders.len() > MAX_FOLDERS
            || self.has_links
            || self.findings().iter().any(needs_full_rescan)
        {
            return None;
        }
        let mut changes = FolderChanges::default();
        let mut known = PreviousScan::new(self, &self.roots, &self.options);
        for (root, path) in self.outermost_folders(folders)? {
            let source = self.roots[root].source();
            let found = discover_at((root, source), &path, &self.options.read, &mut known)?;
            // The target of a link may be known by another path.
            (!source.followed_links()).then_some(())?;
            self.compare_folder(root, &path, found, now_ns, &mut changes)?;
        }
        let refreshed = self.apply_changes(changes, now_ns)?;
        log::log_changes(&refreshed);
        Some(refreshed)
    }

    /// Returns the folders to rescan soon, each by the index of its root and its path in it: their file changed so
    /// shortly before it was read that another change would give the same revision, is being written, or could not be
    /// read.
    pub fn unsettled_folders(&self) -> Vec<(usize, &str)> {
        let items = self.unsettled.iter().map(|item| {
            let (root, folder) = self.tables.place(*item);
            (root, folder.path())
        });
        let is_pending = |code: Code| matches!(code, Code::Changing | Code::Unavailable);
        let findings = self.findings().iter();
        let pending = findings
            .filter(|found| is_pending(found.finding.diagnostic.code))
            .map(|found| (found.source, &*found.finding.path));
        items.chain(pending).collect()
    }

    /// Returns the folders that are not below another one. A folder inside a skill is replaced by the skill's folder.
    fn outermost_folders(&self, folders: &[(usize, &str)]) -> Option<Vec<(usize, String)>> {
        let mut wanted: Vec<(usize, String)> = Vec::with_capacity(folders.len());
        for (root, path) in folders {
            self.roots.get(*root)?;
            let ends = path.match_indices('/').map(|(at, _)| at);
            let mut ancestors = ends.map(|end| &path[..end]);
            let skill = ancestors.find(|ancestor| self.item_at(*root, ancestor).is_some());
            wanted.push((*root, skill.unwrap_or(path).to_owned()));
        }
        wanted.sort();
        wanted.dedup();
        let is_below = |(root, path): &(usize, String)| {
            let mut ancestors = path.match_indices('/').map(|(at, _)| &path[..at]);
            let is_wanted = |ancestor: &str| {
                wanted
                    .binary_search_by(|(a, b)| (*a, b.as_str()).cmp(&(*root, ancestor)))
                    .is_ok()
            };
            ancestors.any(is_wanted)
        };
        let (_, outer) = wanted.iter().cloned().partition::<Vec<_>, _>(is_below);
        Some(outer)
    }

    fn item_at(&self, root: usize, path: &str) -> Option<Item> {
        let folder = Folder::new(path).ok()?;
        let at = self.tables.find_place(root, &folder).ok()?;
        Some(self.tables.places()[at])
    }

    /// Returns the known items at and below a folder.
    fn items_below(&self, root: usize, path: &str) -> Vec<Item> {
        let items = self.tables.places();
        let prefix = format!("{path}/");
        let location = |item: &Item| {
            let (root, folder) = self.tables.place(*item);
            (root, folder.path())
        };
        let start = items.partition_point(|item| location(item) < (root, prefix.as_str()));
        let is_below = |item: &&Item| {
            let (item_root, folder) = location(item);
            item_root == root && folder.starts_with(&prefix)
        };
        let rest = items[start..].iter().take_while(is_below).copied();
        self.item_at(root, path).into_iter().chain(rest).collect()
    }

    /// Compares what was found at and below a folder with the known items. Returns `None` if a full rescan is needed.
    fn compare_folder(
        &self,
        root: usize,
        path: &str,
        found: Discovery,
        now_ns: i64,
        changes: &mut FolderChanges,
    ) -> Option<()> {
        let is_here = |other: &str| {
            let rest = other.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut findings = self.findings().iter();
        let had_findings =
            findings.any(|known| known.source == root && is_here(&known.finding.path));
        if had_findings || !found.findings.is_empty() {
            return None;
        }
        let skills = found.skills.into_iter().map(FoundFolder::Skill);
        let refused = found.refused.into_iter().map(FoundFolder::Refused);
        let mut new: Vec<Option<FoundFolder>> = skills.chain(refused).map(Some).collect();
        for item in self.items_below(root, path) {
            let folder = self.tables.place(item).1;
            let is_same_folder = |found: &&mut Option<FoundFolder>| {
                found.as_ref().is_some_and(|found| found.folder() == folder)
            };
            match new.iter_mut().find(is_same_folder).and_then(Option::take) {
                None => changes.removed.push(item),
                Some(found) if self.is_same_content(item, &found) => changes.unchanged.push(item),
                Some(found) => {
                    if let Item::Skill(index) = item
                        && is_being_written(&self.tables.node(index).skill, &found, now_ns)
                    {
                        return None;
                    }
                    changes.removed.push(item);
                    changes.added.push(found);
                }
            }
        }
        changes.added.extend(new.into_iter().flatten());
        Some(())
    }

    fn is_same_content(&self, item: Item, found: &FoundFolder) -> bool {
        match (item, found) {
            (Item::Skill(index), FoundFolder::Skill(new)) => {
                let known = &self.tables.node(index).skill;
                Arc::ptr_eq(known, new) || known == new
            }
            (Item::Refused(index), FoundFolder::Refused(new)) => {
                let known = self.tables.refused_at(index);
                Arc::ptr_eq(known, new) || known == new
            }
            _ => false,
        }
    }

    /// Returns the snapshot with the changes applied, or `None` if its tables must be rebuilt.
    fn apply_changes(&self, changes: FolderChanges, now_ns: i64) -> Option<Refreshed> {
        let FolderChanges {
            removed,
            added,
            mut unchanged,
        } = changes;
        unchanged.sort_unstable();
        let is_unchanged = |item: &Item| unchanged.binary_search(item).is_ok();
        if removed.is_empty() && added.is_empty() {
            let (rechecked, others): (Vec<Item>, Vec<Item>) =
                self.unsettled.iter().copied().partition(is_unchanged);
            return Some(Refreshed {
                catalog: self.with_rechecked(&rechecked, others, now_ns),
                changes: Changes::default(),
            });
        }
        self.is_within_bounds(&removed, &added).then_some(())?;
        let patched =
            self.tables
                .patched(&removed, added, &self.roots, &self.options.enablement)?;
        let renumber = |item: &Item| match item {
            Item::Skill(index) => {
                let moved = patched.moved.iter().find(|(before, _)| before == index);
                Item::Skill(moved.map_or(*index, |(_, after)| *after))
            }
            Item::Refused(_) => *item,
        };
        let remaining = self.unsettled.iter().filter(|item| !removed.contains(item));
        let (rechecked, others): (Vec<Item>, Vec<Item>) =
            remaining.copied().partition(is_unchanged);
        let rechecked: Vec<Item> = rechecked.iter().map(renumber).collect();
        let rechecked: Vec<Item> = rechecked.into_iter().chain(patched.found.clone()).collect();
        let others: Vec<Item> = others.iter().map(renumber).collect();
        let Patched {
            tables,
            left,
            entered,
            found,
            ..
        } = patched;
        let catalog = self.with_tables(tables, &rechecked, others, now_ns);
        let changes = self.diff_items(&catalog, (&left, &removed), (&entered, &found));
        Some(Refreshed { catalog, changes })
    }

    /// Returns whether the added items cannot reach the bound on skills per source.
    fn is_within_bounds(&self, removed: &[Item], added: &[FoundFolder]) -> bool {
        let growth = added.len().saturating_sub(removed.len());
        self.tables.places().len() + growth <= self.options.read.walk.limits.skills
    }

    /// Compares the rows and items that left with those that entered.
    fn diff_items(
        &self,
        new: &Self,
        (left, removed): (&[u32], &[Item]),
        (entered, added): (&[u32], &[Item]),
    ) -> Changes {
        let mut before: Vec<_> = left.iter().map(|index| self.entry(*index)).collect();
        let mut after: Vec<_> = entered.iter().map(|index| new.entry(*index)).collect();
        before.sort_by(|a, b| a.id().cmp(b.id()));
        after.sort_by(|a, b| a.id().cmp(b.id()));
        let mut changes = diff_entries(before.into_iter(), after.into_iter());
        let refused = |catalog: &Self, items: &[Item]| -> Vec<Arc<RefusedFolder>> {
            let refused = items.iter().filter_map(|item| match item {
                Item::Refused(index) => Some(Arc::clone(catalog.tables.refused_at(*index))),
                Item::Skill(_) => None,
            });
            let mut refused: Vec<_> = refused.collect();
            refused.sort_by(|a, b| (a.source, &a.folder).cmp(&(b.source, &b.folder)));
            refused
        };
        let (before, after) = (refused(self, removed), refused(new, added));
        diff_refused((self, &before), (new, &after), &mut changes);
        changes
    }
}
