//! The catalog: one immutable snapshot of all skills.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::enablement::{Choice, Enablement};
use crate::catalog::root::{PluginName, Root, Trust, arranged};
use crate::catalog::scope::{Precedence, Scope};
use crate::catalog::tables::{Item, Node, Tables};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::read::discover::{Discovery, Reading, Refused, Skill, SourceFinding, discover};
use crate::read::manifest::Manifest;
use crate::read::source::{Revision, SKILL_FILE, Source};

/// How a catalog is made.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct Rules {
    /// How skills are found and read.
    pub reading: Reading,
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
/// use skillfold_core::{Catalog, MemorySource, Root, Rules, Scope, Standing};
///
/// let pdf = |what: &str| MemorySource::new([("pdf/SKILL.md", format!("---\nname: pdf\ndescription: {what}\n---\n"))]);
/// let roots = vec![Root::new(Scope::User, "mine", pdf("Mine")), Root::new(Scope::Project, "ours", pdf("Ours"))];
/// let catalog = Catalog::discover(roots, Rules::default(), 0);
///
/// let ids: Vec<_> = catalog.entries().map(|entry| entry.id()).collect();
/// assert_eq!(ids, ["pdf", "user:pdf"]);
/// assert_eq!(catalog.get("PDF").unwrap().manifest().description(), "Ours");
/// assert_eq!(catalog.get("user:pdf").unwrap().standing(), Standing::Shadowed);
/// ```
#[derive(Clone)]
pub struct Catalog {
    pub(crate) roots: Arc<[Root]>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) tables: Arc<Tables>,
    findings: Arc<[SourceFinding]>,
    /// What has to be compared by content when it is looked at again, in order.
    pub(crate) unsettled: Arc<[Item]>,
}

impl Catalog {
    /// Finds all skills of some roots; `now_ns` is the time before anything is read, in nanoseconds since 1970.
    ///
    /// Nothing stops it: what cannot be read is in [`findings`](Self::findings) and [`refused`](Self::refused).
    pub fn discover(roots: Vec<Root>, rules: Rules, now_ns: i64) -> Self {
        let roots = arranged(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let found = discover(&sources, &rules.reading);
        Self::of(found, roots.into(), Arc::new(rules), now_ns)
    }

    /// Arranges what was found.
    pub(crate) fn of(
        mut found: Discovery,
        roots: Arc<[Root]>,
        rules: Arc<Rules>,
        now_ns: i64,
    ) -> Self {
        let findings = std::mem::take(&mut found.findings);
        let tables = Tables::new(found, &roots, rules.precedence, &rules.enablement);
        let places = tables.places().iter().copied();
        let mut unsettled: Vec<Item> = places
            .filter(|item| !is_settled(&tables, *item, now_ns))
            .collect();
        unsettled.sort_unstable();
        Self {
            roots,
            rules,
            tables: Arc::new(tables),
            findings: findings.into(),
            unsettled: unsettled.into(),
        }
    }

    /// Returns the same skills, found again.
    pub(crate) fn again(
        &self,
        roots: Arc<[Root]>,
        findings: Vec<SourceFinding>,
        now_ns: i64,
    ) -> Self {
        let unsettled = self.unsettled.iter().copied();
        Self {
            roots,
            rules: Arc::clone(&self.rules),
            tables: Arc::clone(&self.tables),
            findings: findings.into(),
            unsettled: unsettled
                .filter(|item| !is_settled(&self.tables, *item, now_ns))
                .collect(),
        }
    }

    /// Returns the number of skills.
    pub fn len(&self) -> usize {
        self.tables.nodes().len()
    }

    /// Returns whether there are no skills.
    pub fn is_empty(&self) -> bool {
        self.tables.nodes().is_empty()
    }

    /// Returns the skills, ordered by id.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.tables.by_id().iter().map(|at| self.entry(*at))
    }

    /// Returns the skill that an id, a name or a folder's name leads to, in constant time.
    pub fn get(&self, id: &str) -> Option<Entry<'_>> {
        match self.find(id) {
            Lookup::Skill(entry) => Some(entry),
            Lookup::Refused(_) | Lookup::Nothing => None,
        }
    }

    /// Returns what an id, a name or a folder's name leads to, in constant time: a skill, or a folder that was refused.
    pub fn find(&self, id: &str) -> Lookup<'_> {
        match self.tables.find(&self.roots, id) {
            Some(Item::Skill(at)) => Lookup::Skill(self.entry(at)),
            Some(Item::Refused(at)) => Lookup::Refused(&self.tables.refused()[at as usize]),
            None => Lookup::Nothing,
        }
    }

    /// Returns the folders that hold a `SKILL.md` and no skill, ordered by root and folder.
    pub fn refused(&self) -> &[Arc<Refused>] {
        self.tables.refused()
    }

    /// Returns what was passed over in each root, and why.
    pub fn findings(&self) -> &[SourceFinding] {
        &self.findings
    }

    /// Returns the roots; a skill's `source` is an index into them.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Returns how the catalog was made.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn entry(&self, at: u32) -> Entry<'_> {
        Entry { catalog: self, at }
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

/// Returns whether an equal revision will mean equal content.
fn is_settled(tables: &Tables, item: Item, now_ns: i64) -> bool {
    let (revision, diagnostics): (Option<Revision>, &[Diagnostic]) = match item {
        Item::Skill(at) => {
            let skill = &tables.nodes()[at as usize].skill;
            (Some(skill.revision), &skill.diagnostics)
        }
        Item::Refused(at) => {
            let refused = &tables.refused()[at as usize];
            (refused.revision, &refused.diagnostics)
        }
    };
    revision.is_some_and(|revision| revision.is_settled(now_ns))
        && !diagnostics
            .iter()
            .any(|finding| finding.code == Code::Changing)
}

/// What a word leads to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Lookup<'a> {
    /// A skill.
    Skill(Entry<'a>),
    /// A folder that holds no skill; its diagnostics say why.
    Refused(&'a Refused),
    /// Nothing.
    Nothing,
}

/// A skill in its catalog.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    catalog: &'a Catalog,
    at: u32,
}

/// How a skill stands in its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// It has its name and may be used.
    Active,
    /// Another skill won its name; it may be used by its qualified id.
    Shadowed,
    /// It was switched off.
    Disabled,
    /// Its root is not trusted; it is shown to people and to no model.
    Untrusted,
}

impl Standing {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Shadowed => "shadowed",
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl<'a> Entry<'a> {
    /// Returns the id, which leads to this skill and to no other.
    pub fn id(&self) -> &'a str {
        self.node().id()
    }

    /// Returns what the skill says about itself.
    pub fn manifest(&self) -> &'a Manifest {
        &self.node().skill.manifest
    }

    /// Returns the skill as it was read.
    pub fn skill(&self) -> &'a Arc<Skill> {
        &self.node().skill
    }

    /// Returns the root that the skill belongs to, through which its instructions and files are read.
    pub fn root(&self) -> &'a Root {
        &self.catalog.roots[self.node().skill.source]
    }

    /// Returns where the skill belongs.
    pub fn scope(&self) -> Scope {
        self.root().scope()
    }

    /// Returns the plugin that the skill came with.
    pub fn plugin(&self) -> Option<&'a PluginName> {
        self.root().plugin_name()
    }

    /// Returns the path of the skill's folder, if its root is a folder of the file system.
    pub fn base_dir(&self) -> Option<PathBuf> {
        self.root().path_of(&self.node().skill.folder)
    }

    /// Returns the path of the skill's `SKILL.md`, if its root is a folder of the file system.
    pub fn file(&self) -> Option<PathBuf> {
        Some(self.base_dir()?.join(SKILL_FILE))
    }

    /// Returns the name of the skill's folder, where it differs from the name and leads to the skill.
    pub fn alias(&self) -> Option<&'a str> {
        let folder = self.node().skill.folder.name();
        let leads_here =
            || self.catalog.tables.find(&self.catalog.roots, folder) == Some(Item::Skill(self.at));
        (folder != self.node().name() && !folder.is_empty() && leads_here()).then_some(folder)
    }

    /// Returns how the skill stands: the first of untrusted, disabled, shadowed that is true of it, or active.
    pub fn standing(&self) -> Standing {
        if self.root().trust() == Trust::Untrusted {
            Standing::Untrusted
        } else if self.node().choice == Choice::Off {
            Standing::Disabled
        } else if self.shadowed_by().is_some() {
            Standing::Shadowed
        } else {
            Standing::Active
        }
    }

    /// Returns the skill that won the name, unless it is this one.
    pub fn shadowed_by(&self) -> Option<Self> {
        let winner = self.node().winner;
        (winner != self.at).then(|| self.catalog.entry(winner))
    }

    /// Returns the skills of the same name that this one won it from.
    pub fn shadows(&self) -> impl Iterator<Item = Entry<'a>> {
        let (catalog, at) = (self.catalog, self.at);
        let losers = catalog.tables.group(at).len().saturating_sub(1);
        (at + 1..).take(losers).map(|other| catalog.entry(other))
    }

    /// Returns what the catalog has to say about the skill, beside what was odd about its file.
    pub fn notes(&self) -> Vec<Diagnostic> {
        let mut notes = Vec::new();
        let mut note = |code, message: String| notes.push(Diagnostic::new(code, None, message));
        let (id, name) = (quoted(self.id()), self.node().name());
        if let Some(winner) = self.shadowed_by() {
            let message = format!(
                "Skill {id} is shadowed by {} of {}",
                quoted(winner.id()),
                quoted(winner.root().label())
            );
            note(Code::Shadowed, message);
        } else if let (Some(_), Some(other)) = (&self.node().id, self.catalog.get(name)) {
            let message = format!(
                "Name {} leads to another skill: {}",
                quoted(name),
                quoted(other.id())
            );
            note(Code::NameLeadsElsewhere, message);
        }
        let folder = self.node().skill.folder.name();
        if folder != name
            && self.alias().is_none()
            && self.shadowed_by().is_none()
            && !folder.is_empty()
        {
            let other = self.catalog.get(folder).filter(|other| other.at != self.at);
            if let Some(other) = other {
                let message = format!(
                    "Folder's name {} leads to the skill {}",
                    quoted(folder),
                    quoted(other.id())
                );
                note(Code::AliasTaken, message);
            }
        }
        if self.root().trust() == Trust::Untrusted {
            let message = format!(
                "Skill {id} is in a root that is not trusted: {}",
                quoted(self.root().label())
            );
            note(Code::Untrusted, message);
        }
        if self.node().choice == Choice::Off {
            note(Code::Disabled, self.why_disabled(&id));
        }
        notes
    }

    fn why_disabled(&self, id: &str) -> String {
        let enablement = &self.catalog.rules.enablement;
        match enablement.decisive(&self.node().skill, self.root()) {
            Some((pattern, _)) => format!("Skill {id} is switched off by {}", quoted(pattern)),
            None => format!("Skill {id} is bundled and off unless it is switched on"),
        }
    }

    fn node(&self) -> &'a Node {
        &self.catalog.tables.nodes()[self.at as usize]
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("id", &self.id())
            .field("standing", &self.standing())
            .finish_non_exhaustive()
    }
}

impl PartialEq for Entry<'_> {
    /// Two entries are equal if they are the same skill of the same snapshot.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.catalog.tables, &other.catalog.tables) && self.at == other.at
    }
}

impl Eq for Entry<'_> {}
