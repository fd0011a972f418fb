//! The catalog: one immutable snapshot of all skills.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::catalog::enablement::Enablement;
use crate::catalog::entry::{Entry, Lookup};
use crate::catalog::fingerprint::DescriptionFingerprints;
use crate::catalog::last_good::Unavailable;
use crate::catalog::log;
use crate::catalog::root::{Root, arranged};
use crate::catalog::scope::Precedence;
use crate::catalog::tables::{Item, Tables};
use crate::catalog::unescape::unescaped;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::discover::{
    Discovery, ReadOptions, RefusedFolder, Skill, SourceFinding, discover,
};
use crate::read::source::{Revision, Source};

/// How a catalog is made.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct CatalogOptions {
    /// How skills are found and read.
    pub read: ReadOptions,
    /// Which scope wins a name.
    pub precedence: Precedence,
    /// Which skills are on.
    pub enablement: Enablement,
}

/// One immutable snapshot of all skills of some roots, ordered by id.
///
/// A clone is the same snapshot and costs nothing. It holds metadata only: instructions and files are read through the
/// root that a skill belongs to.
///
/// Every skill has an id that leads to it and to no other: its name, or, where another skill won the name, the name
/// qualified by scope or plugin (`user:pdf`, `acme:pdf`), or by its place where that is not enough
/// (`project:.claude/skills/pdf`). A name is looked up without regard to case, and `_` is `-`. The name of a skill's
/// folder leads to it too, unless it is the name of another.
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
    /// What has to be compared by content when it is looked at again, in order.
    pub(crate) unsettled: Arc<[Item]>,
    /// Whether links were followed, so that one folder may be found by two paths.
    pub(crate) has_links: bool,
    /// Which snapshot this is, of all that were made.
    serial: u64,
    /// What the visible skills say of themselves, from when it is asked for the first time.
    marks: Arc<OnceLock<DescriptionFingerprints>>,
}

impl Catalog {
    /// Finds all skills of some roots; `now_ns` is the time before anything is read, in nanoseconds since 1970.
    ///
    /// Nothing stops it: what cannot be read is in [`findings`](Self::findings) and [`refused`](Self::refused).
    pub fn discover(roots: Vec<Root>, rules: CatalogOptions, now_ns: i64) -> Self {
        let _span = tracing::debug_span!("discover", roots = roots.len()).entered();
        let roots = arranged(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let found = discover(&sources, &rules.read);
        let catalog = Self::of(found, roots.into(), Arc::new(rules), now_ns);
        log::found(&catalog);
        catalog
    }

    /// Arranges what was found.
    pub(crate) fn of(
        mut found: Discovery,
        roots: Arc<[Root]>,
        rules: Arc<CatalogOptions>,
        now_ns: i64,
    ) -> Self {
        let findings = std::mem::take(&mut found.findings);
        // Most often all are settled, and it is known while they are at hand.
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
        let unavailable = Unavailable::of(&findings);
        let mut are_settled = unavailable.is_empty();
        let mut has_links = has_links_in(&roots);
        for (folder, revision, diagnostics) in skills.chain(refused) {
            are_settled &= is_settled(revision, diagnostics, now_ns);
            has_links |= folder.is_linked();
        }
        let tables = Tables::new(found, &roots, rules.precedence, &rules.enablement);
        let mut unsettled: Vec<Item> = Vec::new();
        if !are_settled {
            let places = tables.places().iter().copied();
            // What was kept is as it was when it was read, which was before now.
            let is_kept = |item: Item| {
                let (source, folder) = tables.place(item);
                unavailable.has(source, folder)
            };
            unsettled.extend(
                places.filter(|item| is_kept(*item) || !is_item_settled(&tables, *item, now_ns)),
            );
            unsettled.sort_unstable();
        }
        Self {
            roots,
            options: rules,
            tables: Arc::new(tables),
            findings: findings.into(),
            unsettled: unsettled.into(),
            has_links,
            serial: next_serial(),
            marks: Arc::default(),
        }
    }

    /// Returns the same skills, found again.
    pub(crate) fn again(
        &self,
        roots: Arc<[Root]>,
        findings: Vec<SourceFinding>,
        now_ns: i64,
    ) -> Self {
        let unavailable = Unavailable::of(&findings);
        let is_kept = |item: Item| {
            let (source, folder) = self.tables.place(item);
            unavailable.has(source, folder)
        };
        let unsettled = self.unsettled.iter().copied();
        let unsettled = unsettled
            .filter(|item| is_kept(*item) || !is_item_settled(&self.tables, *item, now_ns))
            .collect();
        Self {
            has_links: self.has_links || has_links_in(&roots),
            roots,
            options: Arc::clone(&self.options),
            tables: Arc::clone(&self.tables),
            findings: findings.into(),
            unsettled,
            serial: next_serial(),
            marks: Arc::clone(&self.marks),
        }
    }

    /// Returns the same skills, some of which were looked at again.
    pub(super) fn same_skills(&self, looked_at: &[Item], others: Vec<Item>, now_ns: i64) -> Self {
        Self {
            unsettled: unsettled(&self.tables, looked_at, others, now_ns),
            serial: next_serial(),
            ..self.clone()
        }
    }

    /// Returns other skills of the same roots, some of which were looked at just now.
    pub(super) fn with_tables(
        &self,
        tables: Tables,
        looked_at: &[Item],
        others: Vec<Item>,
        now_ns: i64,
    ) -> Self {
        Self {
            unsettled: unsettled(&tables, looked_at, others, now_ns),
            tables: Arc::new(tables),
            serial: next_serial(),
            marks: Arc::default(),
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
        self.tables.by_id().iter().map(|at| self.entry(*at))
    }

    /// Returns the skills that a model may see, ordered by id: the active ones that not only a person may start.
    pub fn visible(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(Entry::is_visible)
    }

    /// Returns the skill that an id, a name or a folder's name leads to, in constant time.
    pub fn get(&self, id: &str) -> Option<Entry<'_>> {
        match self.resolve(id) {
            Lookup::Skill(entry) => Some(entry),
            Lookup::Refused(_) | Lookup::Nothing => None,
        }
    }

    /// Returns what an id, a name or a folder's name leads to, in constant time: a skill, or a folder that was refused. An
    /// id may be written as listings print it, with odd characters escaped.
    pub fn resolve(&self, id: &str) -> Lookup<'_> {
        let find = |id: &str| self.tables.find(&self.roots, id);
        match find(id).or_else(|| find(&unescaped(id)?)) {
            Some(Item::Skill(at)) => Lookup::Skill(self.entry(at)),
            Some(Item::Refused(at)) => Lookup::Refused(self.tables.refused_at(at)),
            None => Lookup::Nothing,
        }
    }

    /// Returns the folders that hold a `SKILL.md` and no skill, ordered by root and folder.
    pub fn refused(&self) -> &[Arc<RefusedFolder>] {
        self.tables.refused()
    }

    /// Returns what was passed over in each root, and why.
    pub fn findings(&self) -> &[SourceFinding] {
        &self.findings
    }

    /// Returns whether something of a root cannot be read right now: what was known of it stays until it can be.
    pub fn is_stale(&self, root: usize) -> bool {
        let is_unavailable = |of: &SourceFinding| {
            of.source == root && of.finding.diagnostic.code == Code::Unavailable
        };
        self.findings.iter().any(is_unavailable)
    }

    /// Returns the roots; a skill's `source` is an index into them.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Returns how the catalog was made.
    pub fn options(&self) -> &CatalogOptions {
        &self.options
    }

    /// Returns which snapshot this is; no other that was made has the number, and a clone has the same.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns what the skills that a model may see say of themselves.
    pub(crate) fn marks(&self) -> &DescriptionFingerprints {
        self.marks
            .get_or_init(|| DescriptionFingerprints::new(self))
    }

    pub(crate) fn entry(&self, at: u32) -> Entry<'_> {
        Entry::new(self, at)
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

/// Returns whether the search of a root went over a link.
fn has_links_in(roots: &[Root]) -> bool {
    roots.iter().any(|root| root.source().went_over_links())
}

fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns whether an equal revision will mean equal content.
fn is_settled(revision: Option<Revision>, diagnostics: &[Diagnostic], now_ns: i64) -> bool {
    let is_changing = |finding: &Diagnostic| finding.code == Code::Changing;
    revision.is_some_and(|revision| revision.is_settled(now_ns))
        && !diagnostics.iter().any(is_changing)
}

/// Returns what has to be compared by content: of what was looked at just now what is not settled, and others.
fn unsettled(
    tables: &Tables,
    looked_at: &[Item],
    mut others: Vec<Item>,
    now_ns: i64,
) -> Arc<[Item]> {
    let looked_at = looked_at.iter().copied();
    others.extend(looked_at.filter(|item| !is_item_settled(tables, *item, now_ns)));
    others.sort_unstable();
    others.into()
}

fn is_item_settled(tables: &Tables, item: Item, now_ns: i64) -> bool {
    match item {
        Item::Skill(at) => {
            let skill = &tables.node(at).skill;
            is_settled(Some(skill.revision), &skill.diagnostics, now_ns)
        }
        Item::Refused(at) => {
            let refused = tables.refused_at(at);
            is_settled(refused.revision, &refused.diagnostics, now_ns)
        }
    }
}
