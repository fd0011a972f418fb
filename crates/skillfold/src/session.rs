//! One conversation of a host.

use std::sync::Arc;

use skillfold_core::{
    Budget, Disclosed, Error, Instructions, Memory as _, Policy, Session as Remembered, Turn,
};

use crate::skills::Skills;

/// One conversation: what a model is told of skills, turn by turn. Each turn is of one snapshot, the newest.
#[derive(Clone, Debug)]
pub struct Session {
    skills: Skills,
    policy: Policy,
    remembered: Remembered,
}

impl Session {
    pub(crate) fn new(skills: Skills, policy: Policy, remembered: Remembered) -> Self {
        Self {
            skills,
            policy,
            remembered,
        }
    }

    /// Begins a conversation inside this one, which may see only some of what this one may see.
    #[must_use]
    pub fn child(&self, ids: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        Self {
            skills: self.skills.clone(),
            policy: self.policy.clone(),
            remembered: self.remembered.child(ids),
        }
    }

    /// Returns the listing: a line for each skill, the same bytes while the skills are the same.
    pub fn listing(&self) -> Disclosed {
        self.skills
            .with_now(|catalog, _| self.remembered.listing(catalog, &self.policy))
    }

    /// Decides what the latest message of the user adds to what the model was told.
    pub fn turn(&mut self, message: &str) -> Turn {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        self.skills
            .with_matcher(|matcher, loader| remembered.turn(matcher, loader, policy, message))
    }

    /// Loads a skill that the model asked for: always the whole of it.
    pub fn load(&mut self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        let remembered = &mut self.remembered;
        self.skills
            .with_now(|catalog, loader| remembered.load(catalog, loader, id, arguments))
    }

    /// Says what to give again after the conversation was cut short, within a budget.
    pub fn after_compaction(&mut self, budget: Budget) -> Vec<Arc<Instructions>> {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        self.skills.with_now(|catalog, loader| {
            remembered.after_compaction(catalog, loader, policy, budget)
        })
    }

    /// Returns the tokens of the instructions of all skills that the conversation may see: what telling everything would
    /// cost. Every one of them is read.
    pub fn eager_tokens(&self) -> u64 {
        let count = |text: &str| self.policy.counter.count(text);
        self.skills.with_now(|catalog, loader| {
            let visible = catalog.visible();
            let seen = visible.filter(|entry| self.remembered.may_see(entry.id()));
            let loaded = seen.filter_map(|entry| loader.load(&entry, "").ok());
            loaded.map(|loaded| count(loaded.body())).sum()
        })
    }

    /// Returns how much a model is told, and when.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns what the conversation knows, to be written down.
    pub fn remembered(&self) -> &Remembered {
        &self.remembered
    }
}
