//! The skills of a catalog that an agent sees.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::bind::agent::{Agent, Visibility};
use crate::catalog::entry::{Entry, Lookup, Status};
use crate::catalog::nearest::nearest;
use crate::catalog::resolve::MEANT;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::{visible, whole};
use crate::error::Error;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;

/// Skills of one agent for which what may be meant is looked for.
const SEARCHED: usize = 20;

/// The skills of a catalog that an agent sees. What is outside is not there for it.
///
/// It can be made narrower and never wider: [`narrow`](Self::narrow) keeps what both agents see.
///
/// ```
/// use skillfold_core::{Agent, Catalog, MemorySource, Root, CatalogOptions, Scope, Visibility};
///
/// let skill = |name: &str| format!("---\nname: {name}\ndescription: Does {name}\n---\nDo {name}.\n");
/// let source = MemorySource::new([("mail/SKILL.md", skill("mail")), ("pdf/SKILL.md", skill("pdf"))]);
/// let catalog = Catalog::discover(vec![Root::new(Scope::User, "mine", source)], CatalogOptions::default(), 0);
///
/// let clerk = catalog.view_for(&Agent::new("clerk").with_skills(["pdf"]).with_visibility(Visibility::Used));
/// let ids: Vec<_> = clerk.entries().map(|entry| entry.id()).collect();
/// assert_eq!(ids, ["pdf"]);
/// assert_eq!(clerk.resolve("mail").unwrap_err().to_string(), "There is no skill `mail`");
/// ```
#[derive(Clone)]
pub struct AgentView<'a> {
    catalog: &'a Catalog,
    sight: VisibleSkills,
    used: Vec<Entry<'a>>,
    left_out: Vec<Box<str>>,
}

/// How far an agent sees.
#[derive(Clone)]
enum VisibleSkills {
    Whole,
    /// Some skills, by their places in the snapshot.
    Only(BTreeSet<u32>),
}

/// A skill that an agent names as used and does not have. It is for whoever wrote the agent: a model is told of none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingSkill {
    /// What the agent names.
    pub id: Box<str>,
    /// Why it does not have it, with what may be meant.
    pub why: String,
}

impl Catalog {
    /// Returns the skills that an agent sees. What it uses and cannot have is [left out](AgentView::missing).
    pub fn view_for(&self, agent: &Agent) -> AgentView<'_> {
        let whole = AgentView {
            catalog: self,
            sight: VisibleSkills::Whole,
            used: Vec::new(),
            left_out: Vec::new(),
        };
        whole.narrow(agent)
    }
}

impl<'a> AgentView<'a> {
    /// Returns the skills that another agent sees inside of these, such as one that this agent started.
    ///
    /// Skills that it uses and that are outside, are not there or are not [for models](Entry::is_for_models) are
    /// [left out](Self::left_out).
    #[must_use]
    pub fn narrow(&self, agent: &Agent) -> Self {
        let (mut used, mut left_out) = (Vec::new(), Vec::new());
        for id in agent.skills() {
            match self.catalog.get(id).filter(|entry| self.can_see(entry)) {
                None => left_out.push(id.clone()),
                Some(entry) if used.contains(&entry) => {}
                Some(entry) => used.push(entry),
            }
        }
        let sight = match agent.visibility() {
            Visibility::All => self.sight.clone(),
            Visibility::Used => VisibleSkills::Only(used.iter().map(Entry::at).collect()),
        };
        Self {
            catalog: self.catalog,
            sight,
            used,
            left_out,
        }
    }

    /// Returns the skills, ordered by id.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let entries = self.catalog.entries();
        entries.filter(|entry| self.can_see(entry))
    }

    /// Returns whether nothing is outside but what is not for models.
    pub fn sees_all(&self) -> bool {
        matches!(self.sight, VisibleSkills::Whole)
    }

    /// Returns whether a skill of the same snapshot is among these; one that is not for models never is.
    pub fn can_see(&self, entry: &Entry<'_>) -> bool {
        let is_inside = match &self.sight {
            VisibleSkills::Whole => true,
            VisibleSkills::Only(places) => places.contains(&entry.at()),
        };
        is_inside && entry.is_for_models() && entry.catalog().serial() == self.catalog.serial()
    }

    /// Returns the skill that an id leads to, if it is among these. The error is fit for a model: it says of everything
    /// outside the same, and names the nearest of those inside.
    pub fn resolve(&self, id: &str) -> Result<Entry<'a>, Error> {
        let meant = || self.nearest(id, MEANT);
        self.catalog
            .usable_among(id, |entry| self.can_see(entry), meant)
    }

    /// Returns the skills that the agent has from the start, each once, in the order in which it names them.
    pub fn used(&self) -> &[Entry<'a>] {
        &self.used
    }

    /// Returns the skills that the agent names as used and does not have, each with the reason. It is for the host, and
    /// not for a model.
    pub fn missing(&self) -> Vec<MissingSkill> {
        let left_out = self.left_out.iter().enumerate();
        let left_out = left_out.map(|(place, id)| {
            let mut why = self.why_not(id);
            if place < SEARCHED
                && let Some(meant) = self.meant(id)
            {
                why.extend(["; did you mean ", &*whole(meant), "?"]);
            }
            let id = id.clone();
            MissingSkill { id, why }
        });
        left_out.collect()
    }

    /// Returns the instructions of a skill among these, without arguments; [`body`](Instructions::body) is the whole text
    /// of the `SKILL.md` after its frontmatter.
    pub fn content(&self, loader: &Loader, id: &str) -> Result<Arc<Instructions>, Error> {
        loader.load(&self.resolve(id)?, "")
    }

    /// Returns the instructions of all skills that the agent has from the start, in their order. If one cannot be loaded,
    /// none is. What is [left out](Self::left_out) is logged.
    pub fn contents(&self, loader: &Loader) -> Result<Vec<Arc<Instructions>>, Error> {
        for MissingSkill { id, why } in self.missing() {
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

    /// Says why a skill cannot be had.
    fn why_not(&self, id: &str) -> String {
        let shown = whole(id);
        match self.catalog.resolve(id) {
            Lookup::Skill(entry) if entry.status() == Status::Untrusted => {
                format!("{shown} is not trusted")
            }
            Lookup::Skill(entry) if entry.status() == Status::Disabled => {
                format!("{shown} is disabled")
            }
            Lookup::Skill(entry) if entry.is_for_models() => {
                format!("{shown} is not visible to the agent that started this one")
            }
            Lookup::Skill(_) => format!("{shown} may only be started by a person"),
            Lookup::Refused(_) => format!("{shown} holds no skill"),
            Lookup::Nothing => format!("{shown} is not there"),
        }
    }

    /// Returns what may be meant by an id that leads to nothing.
    fn meant(&self, id: &str) -> Option<&'a str> {
        let Lookup::Nothing = self.catalog.resolve(id) else {
            return None;
        };
        let all = self.catalog.entries().filter(Entry::is_for_models);
        nearest(id, all.map(|entry| entry.id()), 1).pop()
    }
}

impl fmt::Debug for AgentView<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.entries().map(|entry| entry.id());
        formatter
            .debug_struct("Seen")
            .field("skills", &ids.collect::<Vec<_>>())
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}
