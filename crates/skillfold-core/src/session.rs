//! One conversation: what it was given, what it used last, and what it may see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::entry::Entry;
use crate::catalog::nearest::nearest;
use crate::catalog::snapshot::Catalog;
use crate::choose::matcher::Matcher;
use crate::choose::signal::Signal;
use crate::disclose::budget::Budget;
use crate::disclose::listing::{Disclosed, listing};
use crate::disclose::policy::Policy;
use crate::disclose::turn::{Memory, Outcome, Turn, turn};
use crate::error::Error;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;
use crate::read::source::Revision;

/// Turns for which a skill is given again after it matched, where the host drops what was given.
const KEPT: u64 = 3;

/// Ids that the answer to an unknown one names.
const MEANT: usize = 3;

/// Where what is given to a model lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lives {
    /// In the conversation: the model has it from then on, and it is not repeated.
    #[default]
    History,
    /// In one call: the host drops it, and it is given again in each turn that asks for it and in three after.
    Transient,
}

/// One conversation. It holds ids and numbers, so that thousands of them share one snapshot; it can be written down and
/// taken up again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    lives: Lives,
    turn: u64,
    spent: u64,
    skills: BTreeMap<Box<str>, Known>,
    /// The ids that the conversation may see, where these are not all.
    only: Option<BTreeSet<Box<str>>>,
}

/// What a conversation knows of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// The turn in which it was used last.
    used: u64,
    /// The file that was given, as size and times; nothing, if the model does not have it any more.
    given: Option<Given>,
}

/// A version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Given {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i64,
    changed_ns: i64,
}

impl From<Revision> for Given {
    fn from(revision: Revision) -> Self {
        let Revision {
            device,
            inode,
            size,
            modified_ns,
            changed_ns,
        } = revision;
        Self {
            device,
            inode,
            size,
            modified_ns,
            changed_ns,
        }
    }
}

impl Session {
    /// Begins a conversation.
    pub fn new(lives: Lives) -> Self {
        Self {
            lives,
            ..Self::default()
        }
    }

    /// Begins a conversation inside this one, which may see only some of what this one may see.
    #[must_use]
    pub fn child(&self, ids: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        let ids = ids.into_iter().map(Into::into);
        Self {
            only: Some(ids.filter(|id| self.may_see(id)).collect()),
            ..Self::new(self.lives)
        }
    }

    /// Returns the listing of the skills that the conversation may see: the same in every turn.
    pub fn listing(&self, catalog: &Catalog, policy: &Policy) -> Disclosed {
        listing(
            catalog.visible().filter(|entry| self.may_see(entry.id())),
            policy,
        )
    }

    /// Decides what a message adds, and remembers what was given.
    pub fn turn(
        &mut self,
        matcher: &Matcher,
        loader: &Loader,
        policy: &Policy,
        message: &str,
    ) -> Turn {
        self.turn = self.turn.saturating_add(1);
        let turn = turn(matcher, loader, policy, message, self);
        for decision in &turn.decisions {
            match &decision.outcome {
                Outcome::Given(_, instructions, _) => {
                    self.give(instructions);
                    if decision.signal != Signal::Earlier {
                        self.use_now(&decision.id);
                    }
                }
                Outcome::Known => self.use_now(&decision.id),
                Outcome::NoRoom(_) | Outcome::Later | Outcome::Failed(_) => {}
            }
        }
        self.spent = self.spent.saturating_add(turn.tokens);
        turn
    }

    /// Loads a skill that the model asked for: always the whole of it. What the conversation may not see is not there for
    /// it, and neither is what only a person may start.
    pub fn load(
        &mut self,
        catalog: &Catalog,
        loader: &Loader,
        id: &str,
        arguments: &str,
    ) -> Result<Arc<Instructions>, Error> {
        let entry = self.seen(catalog, id)?;
        let instructions = loader.load(&entry, arguments)?;
        self.spent = self.spent.saturating_add(instructions.tokens());
        self.give(&instructions);
        self.use_now(instructions.id());
        Ok(instructions)
    }

    /// Returns the skill that an id leads to, if the conversation may see it.
    fn seen<'a>(&self, catalog: &'a Catalog, id: &str) -> Result<Entry<'a>, Error> {
        let is_seen = |entry: &Entry<'_>| {
            self.may_see(entry.id()) && !entry.manifest().disable_model_invocation()
        };
        match catalog.usable(id) {
            Ok(entry) if is_seen(&entry) => Ok(entry),
            // Nobody hears of what is outside.
            Err(error) if self.only.is_none() && error.nearest().is_empty() => Err(error),
            _ => {
                let seen = catalog.visible().filter(is_seen).map(|entry| entry.id());
                Err(Error::no_skill(id, nearest(id, seen, MEANT)))
            }
        }
    }

    /// Says what to give again after the host has cut the conversation short, the skill that was used last first, within
    /// a budget. What does not fit is forgotten, and given again when it is asked for.
    pub fn after_compaction(
        &mut self,
        catalog: &Catalog,
        loader: &Loader,
        policy: &Policy,
        budget: Budget,
    ) -> Vec<Arc<Instructions>> {
        let mut known: Vec<_> = self
            .skills
            .iter()
            .filter(|(_, known)| known.given.is_some())
            .map(|(id, known)| (known.used, id.clone()))
            .collect();
        known.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.cmp(right)));
        let (mut again, mut used) = (Vec::new(), 0_u64);
        for (_, id) in known {
            let found = self
                .seen(catalog, &id)
                .and_then(|entry| loader.load(&entry, ""));
            let fits = found.ok().filter(|loaded| {
                let more = budget.measure(loaded.text(), &*policy.counter);
                used.saturating_add(more) <= budget.limit && {
                    used += more;
                    true
                }
            });
            if let Some(known) = self.skills.get_mut(&id) {
                known.given = fits.as_ref().map(|loaded| loaded.revision().into());
            }
            again.extend(fits);
        }
        again
    }

    /// Returns how many tokens were spent on skills.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Returns the number of turns.
    pub fn turns(&self) -> u64 {
        self.turn
    }

    fn give(&mut self, instructions: &Instructions) {
        let known = self
            .skills
            .entry(instructions.id().into())
            .or_insert(Known {
                used: 0,
                given: None,
            });
        known.given = Some(instructions.revision().into());
    }

    fn use_now(&mut self, id: &str) {
        if let Some(known) = self.skills.get_mut(id) {
            known.used = self.turn;
        }
    }
}

impl Memory for Session {
    fn used(&self, id: &str) -> Option<u64> {
        self.skills.get(id).map(|known| known.used)
    }

    fn has(&self, instructions: &Instructions) -> bool {
        let given = self
            .skills
            .get(instructions.id())
            .and_then(|known| known.given);
        self.lives == Lives::History && given == Some(instructions.revision().into())
    }

    fn may_see(&self, id: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(id))
    }

    fn kept(&self) -> Vec<Box<str>> {
        if self.lives == Lives::History {
            return Vec::new();
        }
        let recent = self.turn.saturating_sub(KEPT);
        let mut kept: Vec<_> = self
            .skills
            .iter()
            .filter(|(_, known)| known.given.is_some() && known.used >= recent)
            .collect();
        kept.sort_by(|(left, a), (right, b)| b.used.cmp(&a.used).then_with(|| left.cmp(right)));
        kept.into_iter().map(|(id, _)| id.clone()).collect()
    }
}
