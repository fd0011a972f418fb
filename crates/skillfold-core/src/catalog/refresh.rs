//! A new snapshot from the old one: only what changed is read.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::last_good::{keep_half_written, keep_unavailable};
use crate::catalog::log;
use crate::catalog::root::{Root, arranged};
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::{Item, Tables};
use crate::read::discover::{
    Discovery, FoundFolder, RefusedFolder, ScanCache, Skill, discover_with,
};
use crate::read::source::{Folder, ListedFolder, Revision, Source};

/// A new snapshot, and how it differs from the one before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refreshed {
    /// The new snapshot.
    pub catalog: Catalog,
    /// How it differs.
    pub changes: Changes,
}

/// How two snapshots differ: ids, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Skills that are new.
    pub added: Vec<Box<str>>,
    /// Skills that are gone.
    pub removed: Vec<Box<str>>,
    /// Skills that another file, another text or another standing is behind.
    pub changed: Vec<Box<str>>,
    /// Folders that hold no skill and did not hold the same text before, as they are shown.
    pub refused: Vec<Box<str>>,
    /// Folders that held no skill and are gone or hold one now, as they are shown.
    pub cleared: Vec<Box<str>>,
}

impl Changes {
    /// Returns whether nothing differs.
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
    /// Finds all skills again, from the roots as they are now, and reads only files whose revision is another than in
    /// this snapshot, or was not settled; `now_ns` is the time before anything is read, in nanoseconds since 1970.
    ///
    /// A root is known again by its label. Where nothing differs, the new snapshot shares all of this one. Where something
    /// cannot be read just now, what was known of it stays, and [`is_stale`](Self::is_stale) says so.
    pub fn refresh(&self, roots: Vec<Root>, rules: CatalogOptions, now_ns: i64) -> Refreshed {
        let _span = tracing::debug_span!("refresh", roots = roots.len()).entered();
        let refreshed = self.refreshed(roots, rules, now_ns);
        log::changed(&refreshed);
        refreshed
    }

    fn refreshed(&self, roots: Vec<Root>, rules: CatalogOptions, now_ns: i64) -> Refreshed {
        let roots = arranged(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let mut known = PreviousScan::new(self, &roots, &rules);
        let mut found = discover_with(&sources, &rules.read, &mut known);
        keep_unavailable(self, &roots, &mut found);
        keep_half_written(self, &known, &mut found, now_ns);
        keep_equal(self, &mut found);
        let is_alike = self.options.precedence == rules.precedence
            && self.options.enablement == rules.enablement
            && self.roots.len() == roots.len()
            && self.roots.iter().zip(&roots).all(|(a, b)| a.is_alike(b));
        if is_alike && is_same(&self.tables, &found) {
            let mut catalog = self.again(roots.into(), found.findings, now_ns);
            catalog.options = Arc::new(rules);
            let changes = Changes::default();
            return Refreshed { catalog, changes };
        }
        let catalog = Self::of(found, roots.into(), Arc::new(rules), now_ns);
        let changes = changes(self, &catalog);
        Refreshed { catalog, changes }
    }
}

/// What the old snapshot knows.
pub(super) struct PreviousScan<'a> {
    old: &'a Catalog,
    /// For each root now: the root it was, and the places of that.
    root_of: Vec<Option<(usize, Range<usize>)>>,
    /// For each root now: the place that is expected next.
    next: Vec<usize>,
}

impl<'a> PreviousScan<'a> {
    pub(super) fn new(old: &'a Catalog, roots: &[Root], rules: &CatalogOptions) -> Self {
        let places = old.tables.places();
        let range_of = |at: usize| {
            let end_of = |at: usize| places.partition_point(|item| old.tables.place(*item).0 < at);
            end_of(at)..end_of(at + 1)
        };
        let root_of = roots.iter().map(|root| {
            let at = old.roots.iter().position(|old| old.is_same_place(root))?;
            (old.options.read == rules.read).then(|| (at, range_of(at)))
        });
        let root_of: Vec<_> = root_of.collect();
        let next = root_of
            .iter()
            .map(|known| known.as_ref().map_or(0, |(_, places)| places.start))
            .collect();
        Self { old, root_of, next }
    }

    /// Returns the skill that stood in a folder, as one of the root of now.
    pub(super) fn skill_at(
        &self,
        old: &Catalog,
        root: usize,
        folder: &Folder,
    ) -> Option<Arc<Skill>> {
        let (was, _) = self.root_of.get(root)?.as_ref()?;
        let at = old.tables.find_place(*was, folder).ok()?;
        match old.tables.places()[at] {
            Item::Skill(at) => Some(moved(&old.tables.node(at).skill, *was, root)),
            Item::Refused(_) => None,
        }
    }

    /// Returns what stood in a folder. Folders come nearly in order, so that the next place is looked at first.
    fn place(&mut self, root: usize, listed: &ListedFolder) -> Option<(usize, Item)> {
        let (was, range) = self.root_of.get(root)?.as_ref()?;
        let tables = &self.old.tables;
        let places = &tables.places()[range.clone()];
        let folder = |item: &Item| tables.place(*item).1;
        let next = self.next[root] - range.start;
        let at = match places.get(next) {
            Some(item) if *folder(item) == listed.folder => next,
            _ => places
                .binary_search_by(|item| folder(item).cmp(&listed.folder))
                .ok()?,
        };
        self.next[root] = range.start + at + 1;
        Some((*was, places[at]))
    }
}

impl ScanCache for PreviousScan<'_> {
    fn knows(&self, source: usize) -> bool {
        let known = self.root_of.get(source).and_then(Option::as_ref);
        known.is_some_and(|(_, places)| !places.is_empty())
    }

    fn expected(&self) -> usize {
        let known = self.root_of.iter().flatten();
        known.map(|(_, places)| places.len()).sum()
    }

    fn unchanged(&mut self, source: usize, listed: &ListedFolder) -> Option<FoundFolder> {
        let (was, item) = self.place(source, listed)?;
        if self.old.unsettled.binary_search(&item).is_ok() {
            return None;
        }
        let tables = &self.old.tables;
        let is_equal = |revision: Option<Revision>| revision == Some(listed.revision);
        match item {
            Item::Skill(at) => {
                let skill = &tables.node(at).skill;
                is_equal(Some(skill.revision))
                    .then(|| FoundFolder::Skill(moved(skill, was, source)))
            }
            Item::Refused(at) => {
                let refused = tables.refused_at(at);
                is_equal(refused.revision)
                    .then(|| FoundFolder::Refused(moved_refused(refused, was, source)))
            }
        }
    }
}

/// Returns a skill of a root that may have another place among the roots now.
pub(super) fn moved(skill: &Arc<Skill>, was: usize, source: usize) -> Arc<Skill> {
    if was == source {
        return Arc::clone(skill);
    }
    Arc::new(Skill {
        source,
        ..Skill::clone(skill)
    })
}

/// The same for a folder that holds no skill.
pub(super) fn moved_refused(
    refused: &Arc<RefusedFolder>,
    was: usize,
    source: usize,
) -> Arc<RefusedFolder> {
    if was == source {
        return Arc::clone(refused);
    }
    Arc::new(RefusedFolder {
        source,
        ..RefusedFolder::clone(refused)
    })
}

/// Puts the old skill or refusal in place of one that was read again and is the same.
fn keep_equal(old: &Catalog, found: &mut Discovery) {
    for item in old.unsettled.iter() {
        let place = old.tables.place(*item);
        match item {
            Item::Skill(at) => {
                let known = &old.tables.node(*at).skill;
                let skills = &mut found.skills;
                if let Ok(at) = skills.binary_search_by(|new| (new.source, &new.folder).cmp(&place))
                    && skills[at] == *known
                {
                    skills[at] = Arc::clone(known);
                }
            }
            Item::Refused(at) => {
                let known = old.tables.refused_at(*at);
                let refused = &mut found.refused;
                if let Ok(at) =
                    refused.binary_search_by(|new| (new.source, &new.folder).cmp(&place))
                    && refused[at] == *known
                {
                    refused[at] = Arc::clone(known);
                }
            }
        }
    }
}

/// Returns whether exactly the same was found as before.
fn is_same(old: &Tables, found: &Discovery) -> bool {
    let (mut skills, mut refused) = (found.skills.iter(), found.refused.iter());
    let all_known = old.places().iter().all(|item| match item {
        Item::Skill(at) => {
            let known = &old.node(*at).skill;
            skills.next().is_some_and(|new| Arc::ptr_eq(new, known))
        }
        Item::Refused(at) => {
            let known = old.refused_at(*at);
            refused.next().is_some_and(|new| Arc::ptr_eq(new, known))
        }
    });
    all_known && skills.next().is_none() && refused.next().is_none()
}

/// Compares two snapshots, id by id.
fn changes(old: &Catalog, new: &Catalog) -> Changes {
    let mut changes = changes_between(old.entries(), new.entries());
    compare_refused((old, old.refused()), (new, new.refused()), &mut changes);
    changes
}

/// Compares skills of two snapshots, both ordered by id.
pub(super) fn changes_between<'o, 'n>(
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
        let gone = before.next_if(|_| order != Ordering::Greater);
        let come = after.next_if(|_| order != Ordering::Less);
        match (gone, come) {
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

/// Compares refused folders of two snapshots.
pub(super) fn compare_refused(
    (old, gone): (&Catalog, &[Arc<RefusedFolder>]),
    (new, come): (&Catalog, &[Arc<RefusedFolder>]),
    changes: &mut Changes,
) {
    let place = |catalog: &Catalog, refused: &RefusedFolder| {
        let label = catalog.roots[refused.source].label();
        (Box::<str>::from(label), refused.folder.to_string())
    };
    let mut known: HashMap<_, _> = gone
        .iter()
        .map(|refused| (place(old, refused), refused))
        .collect();
    for refused in come {
        let is_known = known.remove(&place(new, refused)).is_some_and(|known| {
            known.revision == refused.revision && known.diagnostics == refused.diagnostics
        });
        if !is_known {
            changes.refused.push(refused.folder.to_string().into());
        }
    }
    let gone = known.into_keys().map(|(_, folder)| folder.into());
    changes.cleared.extend(gone);
    changes.cleared.sort();
}

fn is_unchanged(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    let is_same_file = || {
        let (old, new) = (old.skill(), new.skill());
        old.folder == new.folder && old.revision == new.revision && old.manifest == new.manifest
    };
    old.status() == new.status()
        && old.root().is_same_place(new.root())
        && (Arc::ptr_eq(old.skill(), new.skill()) || is_same_file())
}
