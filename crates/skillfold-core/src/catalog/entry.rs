//! A skill in its catalog: its id, where it belongs and how it stands.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::enablement::Toggle;
use crate::catalog::root::{PluginName, Root, Trust};
use crate::catalog::scope::Scope;
use crate::catalog::snapshot::Catalog;
use crate::catalog::tables::{Item, SkillRow};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::read::discover::{RefusedFolder, Skill};
use crate::read::manifest::Manifest;
use crate::read::source::SKILL_FILE;

/// Why what is in an untrusted root is not given to anyone.
pub(crate) const UNTRUSTED: &str = "The skill's folder is not trusted; review the skill, then trust its project with `skillfold trust`";

/// What a word leads to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Lookup<'a> {
    /// A skill.
    Skill(Entry<'a>),
    /// A folder that holds no skill; its diagnostics say why.
    Refused(&'a RefusedFolder),
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
pub enum Status {
    /// It has its name and may be used.
    Active,
    /// Another skill won its name; it may be used by its qualified id.
    Shadowed,
    /// It was switched off.
    Disabled,
    /// Its root is not trusted; it is shown to people and to no model.
    Untrusted,
}

impl Status {
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

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn new(catalog: &'a Catalog, at: u32) -> Self {
        Self { catalog, at }
    }

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
    pub fn status(&self) -> Status {
        if self.root().trust() == Trust::Untrusted {
            Status::Untrusted
        } else if self.node().choice == Toggle::Off {
            Status::Disabled
        } else if self.shadowed_by().is_some() {
            Status::Shadowed
        } else {
            Status::Active
        }
    }

    /// Returns whether models are told of the skill: it is [for models](Self::is_for_models) and has its name.
    pub fn is_visible(&self) -> bool {
        self.status() == Status::Active && self.is_for_models()
    }

    /// Returns whether a model may get anything of the skill: it is trusted and on, and does not say that only a person
    /// may start it. Everything that answers a model asks this, and [`Catalog::resolve_for_model`] most of all.
    ///
    /// A shadowed skill is for models too: by its qualified id, and in no listing.
    pub fn is_for_models(&self) -> bool {
        self.refusal().is_none() && !self.manifest().disable_model_invocation()
    }

    /// Returns why nobody gets the skill, not even a person.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        match self.status() {
            Status::Active | Status::Shadowed => None,
            Status::Disabled => Some("The skill is disabled; add it to `enable` in the settings"),
            Status::Untrusted => Some(UNTRUSTED),
        }
    }

    /// Returns the skill that won the name, unless it is this one.
    pub fn shadowed_by(&self) -> Option<Self> {
        let winner = self.node().winner;
        (winner != self.at).then(|| self.catalog.entry(winner))
    }

    /// Returns the skills of the same name that this one won it from.
    pub fn shadows(&self) -> impl Iterator<Item = Entry<'a>> {
        let catalog = self.catalog;
        let losers = self.node().losers.iter();
        losers.map(|other| catalog.entry(*other))
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
                "Name {} belongs to another skill: {}",
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
        if self.node().choice == Toggle::Off {
            note(Code::Disabled, self.why_disabled(&id));
        }
        notes
    }

    fn why_disabled(&self, id: &str) -> String {
        let enablement = &self.catalog.options.enablement;
        match enablement.decisive(&self.node().skill, self.root()) {
            Some((pattern, _)) => format!("Skill {id} is disabled by {}", quoted(pattern)),
            None => format!("Skill {id} is bundled, and disabled unless you enable it"),
        }
    }

    /// Returns the place of the skill in its snapshot.
    pub(crate) fn at(&self) -> u32 {
        self.at
    }

    /// Returns the snapshot that the skill is of.
    pub fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    /// Returns whether an equal revision of the file means equal content.
    pub(crate) fn is_settled(&self) -> bool {
        let item = Item::Skill(self.at);
        self.catalog.unsettled.binary_search(&item).is_err()
    }

    fn node(&self) -> &'a SkillRow {
        self.catalog.tables.node(self.at)
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("id", &self.id())
            .field("status", &self.status())
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
