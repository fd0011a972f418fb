//! The catalog: one immutable snapshot of all skills.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use crate::catalog::enablement::Enablement;
use crate::catalog::fingerprint::DescriptionFingerprints;
use crate::catalog::root::Root;
use crate::catalog::scope::Precedence;
use crate::catalog::skill_trust::TrustedSkills;
use crate::catalog::tables::{Item, SkillRules, Tables};
use crate::catalog::unavailable::UnavailablePaths;
use crate::catalog::versions::{MismatchPolicy, Versions};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::discover::{Discovery, ReadOptions, RefusedFolder, SourceFinding};

/// Options for building a catalog.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CatalogOptions {
    /// How skills are found and read.
    pub read: ReadOptions,
    /// Which scope wins a shared name.
    pub precedence: Precedence,
    /// Which skills are enabled.
    pub enablement: Enablement,
    /// Which skills the user trusts.
    pub trusted_skills: TrustedSkills,
    /// The versions of the programs that the skills are used with.
    pub versions: Versions,
    /// What becomes of a skill that needs another version.
    pub version_mismatch: MismatchPolicy,
}

setters! {
    CatalogOptions {
        with_read(read: ReadOptions),
        with_precedence(precedence: Precedence),
        with_enablement(enablement: Enablement),
        with_trusted_skills(trusted_skills: TrustedSkills),
        with_versions(versions: Versions),
        with_version_mismatch(version_mismatch: MismatchPolicy),
    }
}

impl CatalogOptions {
    /// Returns the options that decide about each skill that was found.
    pub(super) fn rules(&self) -> SkillRules<'_> {
        SkillRules {
            precedence: self.precedence,
            enablement: &self.enablement,
            trusted_skills: &self.trusted_skills,
            versions: &self.versions,
            version_mismatch: self.version_mismatch,
        }
    }
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
/// use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
/// use skillfold_core::catalog::Status;
///
/// let pdf = |what: &str| MemorySource::new([("pdf/SKILL.md", format!("---\nname: pdf\ndescription: {what}\n---\n"))]);
/// let roots = vec![Root::new(Scope::User, "mine", pdf("Mine")), Root::new(Scope::Project, "ours", pdf("Ours"))];
/// let catalog = Catalog::discover(roots, CatalogOptions::default(), std::time::SystemTime::now());
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
    pub(super) fingerprints: Arc<OnceLock<DescriptionFingerprints>>,
}

impl Catalog {
    /// Builds a snapshot from the result of a scan.
    pub(crate) fn from_discovery(
        mut found: Discovery,
        roots: Arc<[Root]>,
        options: Arc<CatalogOptions>,
        now: SystemTime,
    ) -> Self {
        let findings = std::mem::take(&mut found.findings);
        let followed_links = found.followed_links;
        let tables = Tables::new(found, &roots, options.rules());
        let items = tables.by_location().iter().copied();
        let unavailable = UnavailablePaths::from_findings(&findings);
        let mut has_links = followed_links;
        let is_unsettled = |item: &Item| {
            has_links |= tables.location(*item).1.is_linked();
            is_unsettled(&tables, *item, &unavailable, now)
        };
        let mut unsettled: Vec<Item> = items.filter(is_unsettled).collect();
        unsettled.sort_unstable();
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
        now: SystemTime,
    ) -> Self {
        let unavailable = UnavailablePaths::from_findings(&findings);
        let unsettled = self.unsettled.iter().copied();
        let unsettled = unsettled
            .filter(|item| is_unsettled(&self.tables, *item, &unavailable, now))
            .collect();
        Self {
            roots,
            findings: findings.into(),
            unsettled,
            serial: next_serial(),
            ..self.clone()
        }
    }

    /// Returns a new snapshot of the same skills, some of which were rechecked.
    pub(super) fn with_rechecked(
        &self,
        rechecked: &[Item],
        others: Vec<Item>,
        now: SystemTime,
    ) -> Self {
        Self {
            unsettled: merge_unsettled(&self.tables, rechecked, others, now),
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
        now: SystemTime,
    ) -> Self {
        Self {
            unsettled: merge_unsettled(&tables, rechecked, others, now),
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

    /// Returns the skills and refused folders of a root, ordered by folder.
    pub(super) fn items_in_root(&self, root: usize) -> &[Item] {
        &self.tables.by_location()[self.item_range(root)]
    }

    /// Returns where the items of a root are among all by location.
    pub(super) fn item_range(&self, root: usize) -> Range<usize> {
        let items = self.tables.by_location();
        let start_of =
            |root: usize| items.partition_point(|item| self.tables.location(*item).0 < root);
        start_of(root)..start_of(root + 1)
    }
}

debug!(Catalog, "Catalog", |it| "roots": it.roots, "skills": it.len(), "refused": it.refused().len());

fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns the unsettled items: `others`, and those of `rechecked` that are still not settled.
fn merge_unsettled(
    tables: &Tables,
    rechecked: &[Item],
    mut others: Vec<Item>,
    now: SystemTime,
) -> Arc<[Item]> {
    let rechecked = rechecked.iter().copied();
    let unavailable = UnavailablePaths::default();
    others.extend(rechecked.filter(|item| is_unsettled(tables, *item, &unavailable, now)));
    others.sort_unstable();
    others.into()
}

/// Returns whether an equal revision does not guarantee equal content. An item of an unavailable path was read before
/// `now`, so its age proves nothing.
fn is_unsettled(
    tables: &Tables,
    item: Item,
    unavailable: &UnavailablePaths<'_>,
    now: SystemTime,
) -> bool {
    let found = tables.found(item);
    let is_changing = |finding: &Diagnostic| finding.code == Code::Changing;
    found.revision().is_none_or(|it| !it.is_settled(now))
        || found.diagnostics().iter().any(is_changing)
        || unavailable.covers(found.source(), found.folder())
}
