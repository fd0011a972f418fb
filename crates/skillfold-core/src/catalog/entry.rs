//! A skill in its catalog: its id, root and status.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::enablement::Toggle;
use crate::catalog::root::{PluginName, Root, Trust};
use crate::catalog::scope::Scope;
use crate::catalog::skill_trust::SkillTrust;
use crate::catalog::snapshot::Catalog;
use crate::catalog::tables::{Item, SkillRow};
use crate::catalog::unescape::unescape;
use crate::catalog::versions::{Compatibility, VersionMismatch};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Report, quoted};
use crate::error::Refusal;
use crate::read::discover::{RefusedFolder, Skill};
use crate::read::manifest::Manifest;
use crate::source::Folder;

/// Why skills of an untrusted root are withheld from everyone.
pub(crate) const UNTRUSTED_REASON: &str = "The skill's folder is not trusted; review the skill, then trust its project with `skillfold trust`";

/// Why held skills are withheld from everyone.
const HELD_REASON: &str =
    "The skill is new and held until you trust it; review it with `skillfold trust --held`";

/// Why skills that need another version of a program are withheld from everyone.
const INCOMPATIBLE_REASON: &str = "The skill needs another version of a program, which `skillfold show` names; to use it all the same, set `version_mismatch` to `warn`";

/// The result of looking up an id, a name or a folder name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Lookup<'a> {
    /// A skill.
    Skill(Entry<'a>),
    /// A folder whose `SKILL.md` is not a skill; its diagnostics say why.
    Refused(&'a RefusedFolder),
    /// No skill and no refused folder.
    NotFound,
}

/// A skill in its catalog.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    catalog: &'a Catalog,
    index: u32,
}

/// A skill in its catalog that can be kept: it holds the snapshot. A later snapshot does not change it.
///
/// ```
/// use std::time::SystemTime;
///
/// use skillfold_core::catalog::SkillHandle;
/// use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
///
/// fn find(id: &str) -> Option<SkillHandle> {
///     let pdf = "---\nname: pdf\ndescription: Fills in forms\n---\n";
///     let root = Root::new(Scope::User, "mine", MemorySource::new([("pdf/SKILL.md", pdf)]));
///     let catalog = Catalog::discover(vec![root], CatalogOptions::default(), SystemTime::now());
///     catalog.get(id).map(|entry| entry.handle())
/// }
///
/// let pdf = find("pdf").unwrap();
/// assert_eq!(pdf.entry().manifest().description(), "Fills in forms");
/// ```
#[derive(Clone)]
pub struct SkillHandle {
    catalog: Catalog,
    index: u32,
}

impl SkillHandle {
    /// Returns the skill in its catalog.
    pub fn entry(&self) -> Entry<'_> {
        self.catalog.entry(self.index)
    }
}

impl fmt::Debug for SkillHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry().fmt(formatter)
    }
}

words! {
    /// Whether a skill can be used, and why not.
    pub enum Status {
        /// The skill owns its name and can be used.
        Active = "active",
        /// Another skill won the name; this one can be used by its qualified id.
        Shadowed = "shadowed",
        /// The skill needs another version of a program, and such skills are withheld.
        Incompatible = "incompatible",
        /// The skill is disabled.
        Disabled = "disabled",
        /// The user does not trust the skill yet: the user can see it, models cannot.
        Held = "held",
        /// The skill's root is not trusted: the user can see it, models cannot.
        Untrusted = "untrusted",
    }
}

impl Catalog {
    /// Returns the skills, ordered by id.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.tables.by_id().iter().map(|index| self.entry(*index))
    }

    /// Returns the skills that a model may see, ordered by id: the active ones that are not reserved for the user.
    pub fn visible(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(Entry::is_visible)
    }

    /// Returns whether a skill that models may see states the versions that it needs.
    pub fn has_version_requirements(&self) -> bool {
        self.visible().any(|entry| entry.manifest().has_engines())
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

    pub(crate) fn entry(&self, index: u32) -> Entry<'_> {
        Entry::new(self, index)
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn new(catalog: &'a Catalog, index: u32) -> Self {
        Self { catalog, index }
    }

    /// Returns the skill with its snapshot, to be kept.
    pub fn handle(&self) -> SkillHandle {
        SkillHandle {
            catalog: self.catalog.clone(),
            index: self.index,
        }
    }

    /// Returns the id, which is unique in the catalog.
    pub fn id(&self) -> &'a str {
        self.row().id()
    }

    /// Returns the skill's metadata.
    pub fn manifest(&self) -> &'a Manifest {
        &self.row().skill.manifest
    }

    /// Returns the skill as it was read.
    pub fn skill(&self) -> &'a Arc<Skill> {
        &self.row().skill
    }

    /// Returns the skill's root, through which its instructions and files are read.
    pub fn root(&self) -> &'a Root {
        &self.catalog.roots[self.row().skill.source]
    }

    /// Returns the scope of the skill's root.
    pub fn scope(&self) -> Scope {
        self.root().scope()
    }

    /// Returns the plugin that the skill came with.
    pub fn plugin(&self) -> Option<&'a PluginName> {
        self.root().plugin_name()
    }

    /// Returns the skill's folder in its source.
    pub fn folder(&self) -> &'a Folder {
        &self.row().skill.folder
    }

    /// Returns the path of the skill's folder, if its root is on the file system and the skill is not a command.
    pub fn base_dir(&self) -> Option<PathBuf> {
        self.root().path_of(&self.row().skill.folder)
    }

    /// Returns the path of the skill's folder with links resolved, if its root is on the file system. The user accepts a
    /// skill by this path.
    pub fn real_dir(&self) -> Option<PathBuf> {
        self.root().source().real_path(&self.row().skill.folder)
    }

    /// Returns the path of the skill's `SKILL.md`, or of the command that is the skill, if its root is on the file system.
    pub fn file(&self) -> Option<PathBuf> {
        self.root().source().file_path(&self.row().skill.folder)
    }

    /// Returns the folder name if it differs from the skill's name and resolves to this skill.
    pub fn alias(&self) -> Option<&'a str> {
        let folder = self.row().skill.folder.name();
        let resolves_here = || {
            self.catalog.tables.find(&self.catalog.roots, folder) == Some(Item::Skill(self.index))
        };
        (folder != self.row().name() && !folder.is_empty() && resolves_here()).then_some(folder)
    }

    /// Returns the first status that applies: untrusted, held, disabled, incompatible, shadowed, otherwise active.
    pub fn status(&self) -> Status {
        if self.root().trust() == Trust::Untrusted {
            Status::Untrusted
        } else if self.row().skill_trust == SkillTrust::Held {
            Status::Held
        } else if self.row().toggle == Toggle::Off {
            Status::Disabled
        } else if self.row().compatibility == Compatibility::Incompatible {
            Status::Incompatible
        } else if self.shadowed_by().is_some() {
            Status::Shadowed
        } else {
            Status::Active
        }
    }

    /// Returns whether the skill is listed to models: it is [for models](Self::is_for_models) and owns its name.
    pub fn is_visible(&self) -> bool {
        self.status() == Status::Active && self.is_for_models()
    }

    /// Returns whether a model may access the skill: it is trusted, enabled, not withheld because of
    /// versions, and not reserved for the user by `disable-model-invocation`. Every path that answers a model checks this, first of all
    /// [`Catalog::resolve_for_model`].
    ///
    /// A shadowed skill counts too: a model can use its qualified id, although no listing shows it.
    pub fn is_for_models(&self) -> bool {
        self.refusal().is_none() && !self.manifest().disable_model_invocation()
    }

    /// Returns why the skill is withheld from everyone, including the user; `None` if it is not.
    pub(crate) fn refusal(&self) -> Option<(Refusal, &'static str)> {
        match self.status() {
            Status::Active | Status::Shadowed => None,
            Status::Disabled => {
                let rule = "The skill is disabled; add it to `enable` in the settings";
                Some((Refusal::Disabled, rule))
            }
            Status::Incompatible => Some((Refusal::Incompatible, INCOMPATIBLE_REASON)),
            Status::Held => Some((Refusal::Held, HELD_REASON)),
            Status::Untrusted => Some((Refusal::Untrusted, UNTRUSTED_REASON)),
        }
    }

    /// Returns the skill that won the name, unless it is this one.
    pub fn shadowed_by(&self) -> Option<Self> {
        let winner = self.row().winner;
        (winner != self.index).then(|| self.catalog.entry(winner))
    }

    /// Returns the skills that lost the name to this one.
    pub fn shadows(&self) -> impl Iterator<Item = Entry<'a>> {
        let catalog = self.catalog;
        let losers = self.row().losers.iter();
        losers.map(|other| catalog.entry(*other))
    }

    /// Returns the catalog's diagnostics for the skill. Those of its file are in [`Skill::diagnostics`].
    pub fn notes(&self) -> Vec<Diagnostic> {
        let mut notes = Vec::new();
        let mut note = |code, message: String| notes.report(code, None, message);
        let (id, name) = (quoted(self.id()), self.row().name());
        if let Some(winner) = self.shadowed_by() {
            let message = format!(
                "Skill {id} is shadowed by {} of {}",
                quoted(winner.id()),
                quoted(winner.root().label())
            );
            note(Code::Shadowed, message);
        } else if self.row().has_own_id()
            && let Some(other) = self.catalog.get(name)
        {
            let message = format!(
                "Name {} belongs to another skill: {}",
                quoted(name),
                quoted(other.id())
            );
            note(Code::NameLeadsElsewhere, message);
        }
        let folder = self.row().skill.folder.name();
        if folder != name
            && self.alias().is_none()
            && self.shadowed_by().is_none()
            && !folder.is_empty()
        {
            let other = self
                .catalog
                .get(folder)
                .filter(|other| other.index != self.index);
            if let Some(other) = other {
                let message = format!(
                    "Folder name {} is the name of another skill: {}",
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
        if self.row().skill_trust == SkillTrust::Held {
            note(Code::Held, format!("Skill {id} is new, and held"));
        }
        if self.row().toggle == Toggle::Off {
            note(Code::Disabled, self.disabled_message(&id));
        }
        for mismatch in self.version_mismatches() {
            let message = format!("Skill {id} does not fit: {mismatch}");
            note(Code::VersionMismatch, message);
        }
        notes
    }

    /// Returns the programs that the skill needs another version of.
    pub fn version_mismatches(&self) -> Vec<VersionMismatch> {
        self.catalog.options.versions.mismatches(self.manifest())
    }

    fn disabled_message(&self, id: &str) -> String {
        let enablement = &self.catalog.options.enablement;
        match enablement.deciding_pattern(&self.row().skill, self.root()) {
            Some((pattern, _)) => format!("Skill {id} is disabled by {}", quoted(pattern)),
            None => format!("Skill {id} is bundled, and disabled unless you enable it"),
        }
    }

    /// Returns whether two entries are known to have the same id without comparing any text: they share a skill, and
    /// both go by its name.
    pub(super) fn has_same_id(&self, other: &Entry<'_>) -> bool {
        let (row, other) = (self.row(), other.row());
        Arc::ptr_eq(&row.skill, &other.skill) && !row.has_own_id() && !other.has_own_id()
    }

    /// Returns the index of the skill's row in its snapshot.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Returns the snapshot that the entry belongs to.
    pub fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    /// Returns whether an equal file revision guarantees equal content.
    pub(crate) fn is_settled(&self) -> bool {
        let item = Item::Skill(self.index);
        self.catalog.unsettled.binary_search(&item).is_err()
    }

    fn row(&self) -> &'a SkillRow {
        self.catalog.tables.row(self.index)
    }
}

debug!(Entry<'_>, "Entry", |it| "id": it.id(), "status": it.status());

impl PartialEq for Entry<'_> {
    /// Two entries are equal if they are the same skill of the same snapshot.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.catalog.tables, &other.catalog.tables) && self.index == other.index
    }
}

impl Eq for Entry<'_> {}
