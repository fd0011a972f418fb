//! The skills of a catalog that an agent sees.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bind::agent::{Agent, Visibility};
use crate::catalog::entry::{Entry, Lookup, Status};
use crate::catalog::nearest::nearest;
use crate::catalog::resolve::MAX_SUGGESTIONS;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::{quoted_path, visible};
use crate::error::Error;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;

/// Maximum missing skills per agent to compute suggestions for.
const MAX_EXPLAINED: usize = 20;

/// The skills of a catalog that an agent sees. To the agent, other skills do not exist.
///
/// A view can be narrowed but never widened: [`narrow`](Self::narrow) keeps only what both agents see.
///
/// ```
/// use skillfold_core::{Agent, Catalog, CatalogOptions, MemorySource, Root, Scope};
/// use skillfold_core::bind::Visibility;
///
/// let skill = |name: &str| format!("---\nname: {name}\ndescription: Does {name}\n---\nDo {name}.\n");
/// let source = MemorySource::new([("mail/SKILL.md", skill("mail")), ("pdf/SKILL.md", skill("pdf"))]);
/// let catalog = Catalog::discover(vec![Root::new(Scope::User, "mine", source)], CatalogOptions::default(), std::time::SystemTime::now());
///
/// let clerk = catalog.view_for(&Agent::new("clerk").with_skills(["pdf"]).with_visibility(Visibility::Used));
/// let ids: Vec<_> = clerk.entries().map(|entry| entry.id()).collect();
/// assert_eq!(ids, ["pdf"]);
/// assert_eq!(clerk.resolve("mail").unwrap_err().to_string(), "There is no skill `mail`");
/// ```
#[derive(Clone)]
pub struct AgentView<'a> {
    catalog: &'a Catalog,
    visible: VisibleSkills,
    used: Vec<Entry<'a>>,
    missing: Vec<Box<str>>,
}

/// Which skills an agent sees.
#[derive(Clone)]
enum VisibleSkills {
    All,
    /// Some skills, by their index in the snapshot.
    Only(BTreeSet<u32>),
}

/// A skill that an agent uses but does not have.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "Missing")]
#[non_exhaustive]
pub struct MissingSkill {
    /// The skill, as the agent names it.
    pub id: Box<str>,
    /// Why the agent does not have it.
    pub reason: String,
}

impl Catalog {
    /// Returns the skills that an agent sees. Skills that it uses but cannot have are [missing](AgentView::missing).
    pub fn view_for(&self, agent: &Agent) -> AgentView<'_> {
        let all = AgentView {
            catalog: self,
            visible: VisibleSkills::All,
            used: Vec::new(),
            missing: Vec::new(),
        };
        all.narrow(agent)
    }
}

impl<'a> AgentView<'a> {
    /// Returns the skills that another agent sees within this view, such as one that this agent started.
    ///
    /// Skills that it uses but that are outside this view, do not exist or are not [for models](Entry::is_for_models)
    /// are [missing](Self::missing).
    #[must_use]
    pub fn narrow(&self, agent: &Agent) -> Self {
        let (mut used, mut missing) = (Vec::new(), Vec::new());
        for id in agent.skills() {
            match self.catalog.get(id).filter(|entry| self.can_see(entry)) {
                None => missing.push(id.clone()),
                Some(entry) if used.contains(&entry) => {}
                Some(entry) => used.push(entry),
            }
        }
        let visible = match agent.visibility() {
            Visibility::All => self.visible.clone(),
            Visibility::Used => VisibleSkills::Only(used.iter().map(Entry::index).collect()),
        };
        Self {
            catalog: self.catalog,
            visible,
            used,
            missing,
        }
    }

    /// Returns the skills, sorted by id.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let entries = self.catalog.entries();
        entries.filter(|entry| self.can_see(entry))
    }

    /// Returns whether the view has every skill that is for models.
    pub fn sees_all(&self) -> bool {
        matches!(self.visible, VisibleSkills::All)
    }

    /// Returns whether a skill is in this view. It never is if it belongs to another snapshot or is not for models.
    pub fn can_see(&self, entry: &Entry<'_>) -> bool {
        let is_inside = match &self.visible {
            VisibleSkills::All => true,
            VisibleSkills::Only(indexes) => indexes.contains(&entry.index()),
        };
        is_inside && entry.is_for_models() && entry.catalog().serial() == self.catalog.serial()
    }

    /// Returns the skill that an id resolves to, if it is in this view.
    ///
    /// # Errors
    ///
    /// The error is safe to show to a model: it is the same for every skill outside the view, whether it exists or not,
    /// and suggests only ids inside.
    pub fn resolve(&self, id: &str) -> Result<Entry<'a>, Error> {
        let suggestions = || self.nearest(id, MAX_SUGGESTIONS);
        self.catalog
            .resolve_for_model_among(id, |entry| self.can_see(entry), suggestions)
    }

    /// Returns the skills that the agent starts with, without duplicates, in the order in which it names them.
    pub fn used(&self) -> &[Entry<'a>] {
        &self.used
    }

    /// Returns the skills that the agent uses but cannot have, each with the reason. For the host, not for a model.
    pub fn missing(&self) -> Vec<MissingSkill> {
        let missing = self.missing.iter().enumerate();
        let missing = missing.map(|(index, id)| {
            let mut why = self.missing_reason(id);
            if index < MAX_EXPLAINED
                && let Some(suggestion) = self.suggestion(id)
            {
                why.extend(["; did you mean ", &*quoted_path(suggestion), "?"]);
            }
            let id = id.clone();
            MissingSkill { id, reason: why }
        });
        missing.collect()
    }

    /// Loads the instructions of a skill in this view, without arguments. [`body`](Instructions::body) is the full text
    /// of the `SKILL.md` after its frontmatter.
    pub fn content(&self, loader: &Loader, id: &str) -> Result<Arc<Instructions>, Error> {
        loader.load(&self.resolve(id)?, "")
    }

    /// Loads the instructions of all skills that the agent starts with, in order. Fails if one of them cannot be
    /// loaded. [Missing](Self::missing) skills are logged.
    pub fn contents(&self, loader: &Loader) -> Result<Vec<Arc<Instructions>>, Error> {
        for MissingSkill { id, reason: why } in self.missing() {
            tracing::warn!(
                skill = &*visible(&id),
                why,
                "an agent does not have a skill that it uses"
            );
        }
        let used = self.used.iter();
        used.map(|entry| loader.load(entry, "")).collect()
    }

    fn nearest(&self, id: &str, limit: usize) -> Vec<&'a str> {
        nearest(id, self.entries().map(|entry| entry.id()), limit)
    }

    /// Returns why the agent cannot have a skill.
    fn missing_reason(&self, id: &str) -> String {
        let name = quoted_path(id);
        match self.catalog.resolve(id) {
            Lookup::Skill(entry) if entry.status() == Status::Untrusted => {
                format!("{name} is not trusted")
            }
            Lookup::Skill(entry) if entry.status() == Status::Held => {
                format!("{name} is new and held")
            }
            Lookup::Skill(entry) if entry.status() == Status::Disabled => {
                format!("{name} is disabled")
            }
            Lookup::Skill(entry) if entry.status() == Status::Incompatible => {
                format!("{name} needs another version of a program")
            }
            Lookup::Skill(entry) if entry.is_for_models() => {
                format!("{name} is not visible to the agent that started this one")
            }
            Lookup::Skill(_) => format!("{name} may only be started by the user"),
            Lookup::Refused(_) => format!("{name} is not a valid skill"),
            Lookup::NotFound => format!("{name} does not exist"),
        }
    }

    /// Returns the nearest id to one that does not resolve.
    fn suggestion(&self, id: &str) -> Option<&'a str> {
        let Lookup::NotFound = self.catalog.resolve(id) else {
            return None;
        };
        let all = self.catalog.entries().filter(Entry::is_for_models);
        nearest(id, all.map(|entry| entry.id()), 1).pop()
    }
}

debug!(AgentView<'_>, "AgentView", |it| "skills": it.entries().map(|entry| entry.id()).collect::<Vec<_>>(), "used": it.used);
