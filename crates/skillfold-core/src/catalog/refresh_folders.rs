//! A new snapshot from the old one and a word of which folders changed: nothing else is looked at.

use std::sync::Arc;

use crate::catalog::last_good::is_being_written;
use crate::catalog::log;
use crate::catalog::refresh::{Changes, PreviousScan, Refreshed, changes_between, compare_refused};
use crate::catalog::snapshot::Catalog;
use crate::catalog::tables::{Item, Patched};
use crate::codes::Code;
use crate::read::discover::{Discovery, FoundFolder, RefusedFolder, discover_at};
use crate::read::source::Folder;

/// Folders that are looked at by themselves; for more, everything is.
const FOLDERS: usize = 256;

/// What is known of all only together: whoever looks at one folder cannot tell how it would be now.
const OF_ALL: [Code; 5] = [
    Code::Unavailable,
    Code::SameFolder,
    Code::Loop,
    Code::BoundReached,
    Code::MoreFindings,
];

/// What a look at some folders found.
#[derive(Default)]
struct FolderChanges {
    /// What is not there any more as it was.
    out: Vec<Item>,
    /// What is there instead.
    put: Vec<FoundFolder>,
    /// What is there as it was.
    same: Vec<Item>,
}

impl Catalog {
    /// Looks at some folders again and at what is below them, each given by the index of its root and its path there. The
    /// new snapshot is the one that [`refresh`](Self::refresh) makes if nothing changed elsewhere; the work goes by what
    /// changed, not by the number of skills.
    ///
    /// Returns nothing where only a refresh can tell what changed: where links lead to folders, a bound cut the search, or
    /// something is to be said of the folder beside what it holds.
    pub fn refresh_folders(&self, folders: &[(usize, &str)], now_ns: i64) -> Option<Refreshed> {
        let _span = tracing::debug_span!("refresh", folders = folders.len()).entered();
        let is_of_all = |code: Code| OF_ALL.contains(&code);
        let mut codes = self.findings().iter().map(|of| of.finding.diagnostic.code);
        if folders.len() > FOLDERS || self.has_links || codes.any(is_of_all) {
            return None;
        }
        let mut looked = FolderChanges::default();
        let mut known = PreviousScan::new(self, &self.roots, &self.options);
        for (root, path) in self.outermost(folders)? {
            let source = self.roots[root].source();
            let found = discover_at((root, source), &path, &self.options.read, &mut known)?;
            // What a link leads to may be known by another path.
            (!source.went_over_links()).then_some(())?;
            self.compare(root, &path, found, now_ns, &mut looked)?;
        }
        let refreshed = self.with(looked, now_ns)?;
        log::changed(&refreshed);
        Some(refreshed)
    }

    /// Returns the folders that have to be looked at again soon, each by the index of its root and its path there: their
    /// files changed so shortly before they were read that another change would look the same, are being written, or could not
    /// be read.
    pub fn unsettled_folders(&self) -> Vec<(usize, &str)> {
        let items = self.unsettled.iter().map(|item| {
            let (root, folder) = self.tables.place(*item);
            (root, folder.path())
        });
        let is_held = |code: Code| matches!(code, Code::Changing | Code::Unavailable);
        let findings = self.findings().iter();
        let held = findings
            .filter(|of| is_held(of.finding.diagnostic.code))
            .map(|of| (of.source, &*of.finding.path));
        items.chain(held).collect()
    }

    /// Returns the folders without those that are below others; one inside a skill stands for the skill.
    fn outermost(&self, folders: &[(usize, &str)]) -> Option<Vec<(usize, String)>> {
        let mut wanted: Vec<(usize, String)> = Vec::with_capacity(folders.len());
        for (root, path) in folders {
            self.roots.get(*root)?;
            let ends = path.match_indices('/').map(|(at, _)| at);
            let mut ways = ends.map(|end| &path[..end]);
            let skill = ways.find(|way| self.item_at(*root, way).is_some());
            wanted.push((*root, skill.unwrap_or(path).to_owned()));
        }
        wanted.sort();
        wanted.dedup();
        let is_below = |(root, path): &(usize, String)| {
            let mut ways = path.match_indices('/').map(|(at, _)| &path[..at]);
            let is_wanted = |way: &str| {
                let found = wanted.binary_search_by(|(a, b)| (*a, b.as_str()).cmp(&(*root, way)));
                found.is_ok()
            };
            ways.any(is_wanted)
        };
        let (_, outer) = wanted.iter().cloned().partition::<Vec<_>, _>(is_below);
        Some(outer)
    }

    fn item_at(&self, root: usize, path: &str) -> Option<Item> {
        let folder = Folder::new(path).ok()?;
        let at = self.tables.find_place(root, &folder).ok()?;
        Some(self.tables.places()[at])
    }

    /// Returns what was known of a folder and of what is below it.
    fn items_below(&self, root: usize, path: &str) -> Vec<Item> {
        let places = self.tables.places();
        let below = format!("{path}/");
        let place = |item: &Item| {
            let (at, folder) = self.tables.place(*item);
            (at, folder.path())
        };
        let start = places.partition_point(|item| place(item) < (root, below.as_str()));
        let is_below = |item: &&Item| {
            let (at, folder) = place(item);
            at == root && folder.starts_with(&below)
        };
        let rest = places[start..].iter().take_while(is_below).copied();
        self.item_at(root, path).into_iter().chain(rest).collect()
    }

    /// Compares what was found at and below a folder with what is known.
    fn compare(
        &self,
        root: usize,
        path: &str,
        found: Discovery,
        now_ns: i64,
        looked: &mut FolderChanges,
    ) -> Option<()> {
        let is_here = |other: &str| {
            let rest = other.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut findings = self.findings().iter();
        let is_known = findings.any(|of| of.source == root && is_here(&of.finding.path));
        if is_known || !found.findings.is_empty() {
            return None;
        }
        let skills = found.skills.into_iter().map(FoundFolder::Skill);
        let refused = found.refused.into_iter().map(FoundFolder::Refused);
        let mut new: Vec<Option<FoundFolder>> = skills.chain(refused).map(Some).collect();
        for item in self.items_below(root, path) {
            let folder = self.tables.place(item).1;
            let is_it = |found: &&mut Option<FoundFolder>| {
                found.as_ref().is_some_and(|found| found.folder() == folder)
            };
            match new.iter_mut().find(is_it).and_then(Option::take) {
                None => looked.out.push(item),
                Some(found) if self.is_as_known(item, &found) => looked.same.push(item),
                Some(found) => {
                    if let Item::Skill(at) = item
                        && is_being_written(&self.tables.node(at).skill, &found, now_ns)
                    {
                        return None;
                    }
                    looked.out.push(item);
                    looked.put.push(found);
                }
            }
        }
        looked.put.extend(new.into_iter().flatten());
        Some(())
    }

    fn is_as_known(&self, item: Item, found: &FoundFolder) -> bool {
        match (item, found) {
            (Item::Skill(at), FoundFolder::Skill(new)) => {
                let known = &self.tables.node(at).skill;
                Arc::ptr_eq(known, new) || known == new
            }
            (Item::Refused(at), FoundFolder::Refused(new)) => {
                let known = self.tables.refused_at(at);
                Arc::ptr_eq(known, new) || known == new
            }
            _ => false,
        }
    }

    /// Returns the snapshot with what was found.
    fn with(&self, looked: FolderChanges, now_ns: i64) -> Option<Refreshed> {
        let FolderChanges { out, put, mut same } = looked;
        same.sort_unstable();
        let is_due = |item: &Item| same.binary_search(item).is_ok();
        if out.is_empty() && put.is_empty() {
            let (looked_at, others): (Vec<Item>, Vec<Item>) =
                self.unsettled.iter().copied().partition(is_due);
            return Some(Refreshed {
                catalog: self.same_skills(&looked_at, others, now_ns),
                changes: Changes::default(),
            });
        }
        self.is_within_bounds(&out, &put).then_some(())?;
        let was_refused = out.clone();
        let patched = self
            .tables
            .patched(&out, put, &self.roots, &self.options.enablement)?;
        let renumbered = |item: &Item| match item {
            Item::Skill(at) => {
                let moved = patched.moved.iter().find(|(before, _)| before == at);
                Item::Skill(moved.map_or(*at, |(_, after)| *after))
            }
            Item::Refused(_) => *item,
        };
        let is_out = |item: &&Item| was_refused.contains(item);
        let still = self.unsettled.iter().filter(|item| !is_out(item));
        let (looked_at, others): (Vec<Item>, Vec<Item>) = still.copied().partition(is_due);
        let looked_at: Vec<Item> = looked_at.iter().map(renumbered).collect();
        let looked_at: Vec<Item> = looked_at.into_iter().chain(patched.found.clone()).collect();
        let others: Vec<Item> = others.iter().map(renumbered).collect();
        let Patched {
            tables,
            left,
            entered,
            found,
            ..
        } = patched;
        let catalog = self.with_tables(tables, &looked_at, others, now_ns);
        let changes = self.changes_to(&catalog, (&left, &out), (&entered, &found));
        Some(Refreshed { catalog, changes })
    }

    /// Returns whether no bound on a source can be reached by what is new.
    fn is_within_bounds(&self, out: &[Item], put: &[FoundFolder]) -> bool {
        let more = put.len().saturating_sub(out.len());
        self.tables.places().len() + more <= self.options.read.walk.limits.skills
    }

    /// Compares what left with what entered.
    fn changes_to(
        &self,
        new: &Self,
        (left, out): (&[u32], &[Item]),
        (entered, put): (&[u32], &[Item]),
    ) -> Changes {
        let mut before: Vec<_> = left.iter().map(|at| self.entry(*at)).collect();
        let mut after: Vec<_> = entered.iter().map(|at| new.entry(*at)).collect();
        before.sort_by(|a, b| a.id().cmp(b.id()));
        after.sort_by(|a, b| a.id().cmp(b.id()));
        let mut changes = changes_between(before.into_iter(), after.into_iter());
        let refused = |catalog: &Self, items: &[Item]| -> Vec<Arc<RefusedFolder>> {
            let refused = items.iter().filter_map(|item| match item {
                Item::Refused(at) => Some(Arc::clone(catalog.tables.refused_at(*at))),
                Item::Skill(_) => None,
            });
            let mut refused: Vec<_> = refused.collect();
            refused.sort_by(|a, b| (a.source, &a.folder).cmp(&(b.source, &b.folder)));
            refused
        };
        let (gone, come) = (refused(self, out), refused(new, put));
        compare_refused((self, &gone), (new, &come), &mut changes);
        changes
    }
}
