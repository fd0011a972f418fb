//! Rescans only the given folders.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::catalog::last_good::is_being_written;
use crate::catalog::previous_scan::PreviousScan;
use crate::catalog::refresh::{Changes, Refreshed, diff, log_changes};
use crate::catalog::snapshot::Catalog;
use crate::catalog::tables::{Item, Tables};
use crate::codes::Code;
use crate::read::discover::{Discovery, FoundFolder, SourceFinding, discover_at};
use crate::source::Folder;

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
    /// nothing changed elsewhere, the new snapshot equals that of [`refresh`](Self::refresh). Only these
    /// folders are read; the lookup tables are built for all skills.
    ///
    /// Returns `None` if only a full refresh can tell what changed: links were followed, a bound ended the search, or
    /// there are findings about the folders.
    pub fn refresh_folders(&self, folders: &[(usize, &str)], now: SystemTime) -> Option<Refreshed> {
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
            (!found.followed_links).then_some(())?;
            self.compare_folder(root, &path, found, now, &mut changes)?;
        }
        let refreshed = self.apply_changes(changes, now)?;
        log_changes(&refreshed);
        Some(refreshed)
    }

    /// Returns the folders to rescan soon, each by the index of its root and its path in it: their file changed so
    /// shortly before it was read that another change would give the same revision, is being written, or could not be
    /// read.
    pub fn unsettled_folders(&self) -> Vec<(usize, &str)> {
        let items = self.unsettled.iter().map(|item| {
            let (root, folder) = self.tables.location(*item);
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
            let skill = ancestors.find(|ancestor| self.tables.item_at(*root, ancestor).is_some());
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

    /// Returns the known items at and below a folder.
    fn items_below(&self, root: usize, path: &str) -> Vec<Item> {
        let items = self.tables.by_location();
        let prefix = format!("{path}/");
        let location = |item: &Item| {
            let (root, folder) = self.tables.location(*item);
            (root, folder.path())
        };
        let start = items.partition_point(|item| location(item) < (root, prefix.as_str()));
        let is_below = |item: &&Item| {
            let (item_root, folder) = location(item);
            item_root == root && folder.starts_with(&prefix)
        };
        let rest = items[start..].iter().take_while(is_below).copied();
        self.tables
            .item_at(root, path)
            .into_iter()
            .chain(rest)
            .collect()
    }

    /// Compares what was found at and below a folder with the known items. Returns `None` if a full rescan is needed.
    fn compare_folder(
        &self,
        root: usize,
        path: &str,
        found: Discovery,
        now: SystemTime,
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
        let new = skills.chain(refused);
        let mut new: BTreeMap<Folder, FoundFolder> =
            new.map(|found| (found.folder().clone(), found)).collect();
        for item in self.items_below(root, path) {
            let folder = self.tables.location(item).1;
            match new.remove(folder) {
                None => changes.removed.push(item),
                Some(found) if self.tables.found(item) == found => changes.unchanged.push(item),
                Some(found) => {
                    if let Item::Skill(index) = item
                        && is_being_written(&self.tables.row(index).skill, &found, now)
                    {
                        return None;
                    }
                    changes.removed.push(item);
                    changes.added.push(found);
                }
            }
        }
        changes.added.extend(new.into_values());
        Some(())
    }

    /// Returns the snapshot with the changes applied, or `None` if they may reach the bound on skills.
    fn apply_changes(&self, changes: FolderChanges, now: SystemTime) -> Option<Refreshed> {
        let FolderChanges {
            mut removed,
            added,
            mut unchanged,
        } = changes;
        removed.sort_unstable();
        unchanged.sort_unstable();
        let is_removed = |item: &Item| removed.binary_search(item).is_ok();
        let is_unchanged = |item: &Item| unchanged.binary_search(item).is_ok();
        let unsettled = self.unsettled.iter().filter(|item| !is_removed(item));
        let (rechecked, others): (Vec<Item>, Vec<Item>) =
            unsettled.copied().partition(is_unchanged);
        if removed.is_empty() && added.is_empty() {
            return Some(Refreshed {
                catalog: self.with_rechecked(&rechecked, others, now),
                changes: Changes::default(),
            });
        }
        self.is_within_bounds(&removed, &added).then_some(())?;
        let locations: Vec<_> = added
            .iter()
            .map(|found| (found.source(), found.folder().clone()))
            .collect();
        let found = self.without(&removed, added);
        let tables = Tables::new(found, &self.roots, self.options.rules());
        let new_item = |root: usize, folder: &Folder| tables.item_at(root, folder.path());
        let moved = |item: &Item| {
            let (root, folder) = self.tables.location(*item);
            new_item(root, folder)
        };
        let new = locations
            .iter()
            .filter_map(|(root, folder)| new_item(*root, folder));
        let rechecked: Vec<Item> = rechecked.iter().filter_map(moved).chain(new).collect();
        let others = others.iter().filter_map(moved).collect();
        let catalog = self.with_tables(tables, &rechecked, others, now);
        let changes = diff(self, &catalog);
        Some(Refreshed { catalog, changes })
    }

    /// Returns the items of this snapshot without the removed ones, which are sorted, and with the added ones, in order.
    fn without(&self, removed: &[Item], added: Vec<FoundFolder>) -> Discovery {
        let mut found = Discovery::default();
        let added = added.into_iter();
        let mut added: BTreeMap<(usize, Folder), FoundFolder> = added
            .map(|new| ((new.source(), new.folder().clone()), new))
            .collect();
        for item in self.tables.by_location() {
            if removed.binary_search(item).is_ok() {
                let (root, folder) = self.tables.location(*item);
                // A changed item takes the place of the old one, so that nothing has to be sorted.
                if let Some(new) = added.remove(&(root, folder.clone())) {
                    found.push(new);
                }
                continue;
            }
            found.push(self.tables.found(*item));
        }
        if !added.is_empty() {
            for new in added.into_values() {
                found.push(new);
            }
            found.sort();
        }
        found
    }

    /// Returns whether the added items cannot reach the bound on skills per source.
    fn is_within_bounds(&self, removed: &[Item], added: &[FoundFolder]) -> bool {
        let growth = added.len().saturating_sub(removed.len());
        self.tables.by_location().len() + growth <= self.options.read.walk.limits.skills
    }
}
