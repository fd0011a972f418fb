//! The catalog: one immutable snapshot of all skills.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::catalog::enablement::Enablement;
use crate::catalog::entry::{Entry, Lookup};
use crate::catalog::fingerprint::DescriptionFingerprints;
use crate::catalog::last_good::UnavailablePaths;
use crate::catalog::log;
use crate::catalog::root::{Root, sort_and_label};
use crate::catalog::scope::Precedence;
use crate::catalog::tables::{Item, Tables};
use crate::catalog::unescape::unescape;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::discover::{
    Discovery, ReadOptions, RefusedFolder, Skill, SourceFinding, discover,
};
use crate::read::source::{Revision, Source};

/// Options for building a catalog.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set fields with struct update syntax"
)]
pub struct CatalogOptions {
    /// How skills are found and read.
    pub read: ReadOptions,
    /// Which scope wins a shared name.
    pub precedence: Precedence,
    /// Which skills are enabled.
    pub enablement: Enablement,
}

/// An immutable snapshot of all skills of some roots, ordered by id.
///
/// Clones are cheap and share the snapshot. It holds only metadata; instructions and files are read through a skill's
/// root.
///
/// Every skill has a unique id: its name or, if another skill won the name, the name qualified by scope or plugin
/// (`user:pdf`, `acme:pdf`), or by its location where that is ambiguous (`project:.claude/skills/pdf`). Lookups ignore
/// case and treat `_` as `-`. A folder name resolves to its skill too, unless it is the name of another skill.
///
/// ```
/// use skillfold_core::{Catalog, MemorySource, Root, CatalogOptions, Scope, Status};
///
/// let pdf = |what: &str| MemorySource::new([("pdf/SKILL.md", format!("---\nname: pdf\ndescription: {what}\n---\n"))]);
/// let roots = vec![Root::new(Scope::User, "mine", pdf("Mine")), Root::new(Scope::Project, "ours", pdf("Ours"))];
/// let catalog = Catalog::discover(roots, CatalogOptions::default(), 0);
///
/// let ids: Vec<_> = catalog.entries().map(|entry| entry.id()).collect();
/// assert_eq!(ids, ["pdf", "user:pdf"]);
/// assert_eq!(catalog.get("PDF").unwrap().manifest().description(), "Ours");
/// assert_eq!(catalog.get("user:pdf").unwrap().status(), Status::Shadowed);
/// ```
#[derive(Clone)]
pub struct Catalog {
    pub(crate) roots: Arc<[Root]>,
    pub(crate) options: Arc<CatalogOptions>,
    pub(crate) tables: Arc<Tables>,
    findings: Arc<[SourceFinding]>,
    /// Items to reread on the next scan even if their revision is equal, sorted.
    pub(crate) unsettled: Arc<[Item]>,
    /// Whether links were followed, so one folder may be reachable by two paths.
    pub(crate) has_links: bool,
    /// Unique per snapshot in this process.
    serial: u64,
    /// Fingerprints of the visible skills, computed on first use.
    fingerprints: Arc<OnceLock<DescriptionFingerprints>>,
}

impl Catalog {
    /// Finds all skills of some roots; `now_ns` is the time before anything is read, in nanoseconds since 1970.
    ///
    /// Never fails: what cannot be read is in [`findings`](Self::findings) and [`refused`](Self::refused).
    pub fn discover(roots: Vec<Root>, options: CatalogOptions, now_ns: i64) -> Self {
        let _span = tracing::debug_span!("discover", roots = roots.len()).entered();
        let roots = sort_and_label(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let found = discover(&sources, &options.read);
        let catalog = Self::from_discovery(found, roots.into(), Arc::new(options), now_ns);
        log::log_discovery(&catalog);
        catalog
    }

    /// Builds a snapshot from the result of a scan.
    pub(crate) fn from_discovery(
        mut found: Discovery,
        roots: Arc<[Root]>,
        options: Arc<CatalogOptions>,
        now_ns: i64,
    ) -> Self {
        let findings = std::mem::take(&mut found.findings);
        // Usually everything is settled. Checking it here, while the items are in cache, skips the loop below.
        let skills = found.skills.iter().map(|skill| {
            let Skill {
                folder, revision, ..
            } = &**skill;
            (folder, Some(*revision), &*skill.diagnostics)
        });
        let refused = found.refused.iter().map(|refused| {
            let RefusedFolder {
                folder, revision, ..
            } = &**refused;
            (folder, *revision, &*refused.diagnostics)
        });
        let unavailable = UnavailablePaths::from_findings(&findings);
        let mut are_settled = unavailable.is_empty();
        let mut has_links = any_followed_links(&roots);
        for (folder, revision, diagnostics) in skills.chain(refused) {
            are_settled &= is_settled(revision, diagnostics, now_ns);
            has_links |= folder.is_linked();
        }
        let tables = Tables::new(found, &roots, options.precedence, &options.enablement);
        let mut unsettled: Vec<Item> = Vec::new();
        if !are_settled {
            let items = tables.by_location().iter().copied();
            // A kept item was read before `now_ns`, so its age proves nothing.
            let is_kept = |item: Item| {
                let (source, folder) = tables.location(item);
                unavailable.covers(source, folder)
            };
            unsettled.extend(
                items.filter(|item| is_kept(*item) || !is_item_settled(&tables, *item, now_ns)),
            );
            unsettled.sort_unstable();
        }
        Self {
            roots,
            options,
            tables: Arc::new(tables),
            findings: findings.into(),
            unsettled: unsettled.into(),
            has_links,
            serial: next_serial(),
            fingerprints: Arc::default(),
        }
    }

    /// Returns a new snapshot of the same skills, after a rescan with other findings.
    pub(crate) fn with_findings(
        &self,
        roots: Arc<[Root]>,
        findings: Vec<SourceFinding>,
        now_ns: i64,
    ) -> Self {
        let unavailable = UnavailablePaths::from_findings(&findings);
        let is_kept = |item: Item| {
            let (source, folder) = self.tables.location(item);
            unavailable.covers(source, folder)
        };
        let unsettled = self.unsettled.iter().copied();
        let unsettled = unsettled
            .filter(|item| is_kept(*item) || !is_item_settled(&self.tables, *item, now_ns))
            .collect();
        Self {
            has_links: self.has_links || any_followed_links(&roots),
            roots,
            options: Arc::clone(&self.options),
            tables: Arc::clone(&self.tables),
            findings: findings.into(),
            unsettled,
            serial: next_serial(),
            fingerprints: Arc::clone(&self.fingerprints),
        }
    }

    /// Returns a new snapshot of the same skills, some of which were rechecked.
    pub(super) fn with_rechecked(
        &self,
        rechecked: &[Item],
        others: Vec<Item>,
        now_ns: i64,
    ) -> Self {
        Self {
            unsettled: merge_unsettled(&self.tables, rechecked, others, now_ns),
            serial: next_serial(),
            ..self.clone()
        }
    }

    /// Returns a new snapshot of the same roots with other skills; `rechecked` items were read just now, and `others` are
    /// still unsettled.
    pub(super) fn with_tables(
        &self,
        tables: Tables,
        rechecked: &[Item],
        others: Vec<Item>,
        now_ns: i64,
    ) -> Self {
        Self {
            unsettled: merge_unsettled(&tables, rechecked, others, now_ns),
            tables: Arc::new(tables),
            serial: next_serial(),
            fingerprints: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns the number of skills.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Returns whether there are no skills.
    pub fn is_empty(&self) -> bool {
        self.tables.len() == 0
    }

    /// Returns the skills, ordered by id.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.tables.by_id().iter().map(|index| self.entry(*index))
    }

    /// Returns the skills that a model may see, ordered by id: the active ones that are not reserved for the user.
    pub fn visible(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(Entry::is_visible)
    }

    /// Returns the skill with an id, a name or a folder name, in constant time.
    pub fn get(&self, id: &str) -> Option<Entry<'_>> {
        match self.resolve(id) {
            Lookup::Skill(entry) => Some(entry),
            Lookup::Refused(_) | Lookup::NotFound => None,
        }
    }

    /// Looks up an id, a name or a folder name in constant time: a skill or a refused folder. An id may be escaped the
    /// way listings print it.
    pub fn resolve(&self, id: &str) -> Lookup<'_> {
        let find = |id: &str| self.tables.find(&self.roots, id);
        match find(id).or_else(|| find(&unescape(id)?)) {
            Some(Item::Skill(index)) => Lookup::Skill(self.entry(index)),
            Some(Item::Refused(index)) => Lookup::Refused(self.tables.refused_at(index)),
            None => Lookup::NotFound,
        }
    }

    /// Returns the folders whose `SKILL.md` is not a skill, ordered by root and folder.
    pub fn refused(&self) -> &[Arc<RefusedFolder>] {
        self.tables.refused()
    }

    /// Returns what was skipped in each root, and why.
    pub fn findings(&self) -> &[SourceFinding] {
        &self.findings
    }

    /// Returns whether part of a root was temporarily unreadable. Its last known state is kept until it can be read.
    pub fn is_stale(&self, root: usize) -> bool {
        let is_unavailable = |found: &SourceFinding| {
            found.source == root && found.finding.diagnostic.code == Code::Unavailable
        };
        self.findings.iter().any(is_unavailable)
    }

    /// Returns the roots; a skill's `source` is an index into them.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Returns the options that the catalog was built with.
    pub fn options(&self) -> &CatalogOptions {
        &self.options
    }

    /// Returns the number of the snapshot, which is unique in this process; clones share it.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the description fingerprints of the skills that a model may see.
    pub(crate) fn fingerprints(&self) -> &DescriptionFingerprints {
        self.fingerprints
            .get_or_init(|| DescriptionFingerprints::new(self))
    }

    pub(crate) fn entry(&self, index: u32) -> Entry<'_> {
        Entry::new(self, index)
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Catalog")
            .field("roots", &self.roots)
            .field("skills", &self.len())
            .field("refused", &self.refused().len())
            .finish_non_exhaustive()
    }
}

/// Returns whether the last walk of any root followed a link.
fn any_followed_links(roots: &[Root]) -> bool {
    roots.iter().any(|root| root.source().followed_links())
}

fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns whether an equal revision will guarantee equal content.
fn is_settled(revision: Option<Revision>, diagnostics: &[Diagnostic], now_ns: i64) -> bool {
    let is_changing = |finding: &Diagnostic| finding.code == Code::Changing;
    revision.is_some_and(|revision| revision.is_settled(now_ns))
        && !diagnostics.iter().any(is_changing)
}

/// Returns the unsettled items: `others`, and those of `rechecked` that are still not settled.
fn merge_unsettled(
    tables: &Tables,
    rechecked: &[Item],
    mut others: Vec<Item>,
    now_ns: i64,
) -> Arc<[Item]> {
    let rechecked = rechecked.iter().copied();
    others.extend(rechecked.filter(|item| !is_item_settled(tables, *item, now_ns)));
    others.sort_unstable();
    others.into()
}

fn is_item_settled(tables: &Tables, item: Item, now_ns: i64) -> bool {
    match item {
        Item::Skill(index) => {
            let skill = &tables.row(index).skill;
            is_settled(Some(skill.revision), &skill.diagnostics, now_ns)
        }
        Item::Refused(index) => {
            let refused = tables.refused_at(index);
            is_settled(refused.revision, &refused.diagnostics, now_ns)
        }
    }
}
