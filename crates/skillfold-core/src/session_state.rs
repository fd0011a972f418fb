//! Sessions: what a conversation was given, what it used, and what it may see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bind::agent_view::AgentView;
use crate::catalog::entry::Entry;
use crate::catalog::nearest::nearest;
use crate::catalog::resolve::MAX_SUGGESTIONS;
use crate::catalog::snapshot::Catalog;
use crate::choose::matcher::Matcher;
use crate::choose::signal::Signal;
use crate::diagnostic::visible;
use crate::disclose::budget::Budget;
use crate::disclose::changes::ShownListing;
use crate::disclose::listing::{Listing, listing};
use crate::disclose::memory::{Memory, RepeatedSkill, Sealed};
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::turn::{Turn, decide, give_again, turn};
use crate::error::Error;
use crate::feedback::{Choices, DisclosureLevel, Feedback};
use crate::format_number::FormatNumber;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;
use crate::source::Revision;

/// Turns in which a skill is given again after its last match, if the host drops earlier turns.
const REPEATED_TURNS: u64 = 3;

/// How long text that is given to a model stays in its context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextLifetime {
    /// For the rest of the conversation: it is not repeated.
    #[default]
    History,
    /// For one call: the host drops it, so it is given again in each turn that asks for it and in the next three. What the
    /// model loads itself stays: it is the answer of a tool.
    Transient,
}

/// One conversation. It holds ids, numbers and the arguments that skills were loaded with, so thousands of them can share one snapshot; it can be serialised
/// and resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    format: FormatNumber<1>,
    lifetime: ContextLifetime,
    /// The number of turns so far.
    turn: u64,
    /// Tokens spent on skills.
    spent: u64,
    skills: BTreeMap<Box<str>, SkillMemory>,
    /// The ids that the conversation may see; `None` if it may see all.
    visible: Option<BTreeSet<Box<str>>>,
    /// The ids that the conversation may not see although it may see others.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    hidden: BTreeSet<Box<str>>,
    /// How skills were chosen, for feedback that comes later.
    #[serde(default, skip_serializing_if = "Choices::is_empty")]
    chosen: Choices,
    /// The listing that the model has. A resumed conversation has to ask for its listing again.
    #[serde(skip)]
    shown: Option<ShownListing>,
}

/// What a conversation remembers about a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SkillMemory {
    /// The turn in which it was last used.
    used: u64,
    /// The revision of the file that was given; `None` if the model no longer has it.
    given: Option<Revision>,
    /// The arguments that it was given with.
    #[serde(default)]
    arguments: Box<str>,
    /// Whether it is in the text that the conversation started with, which the host keeps.
    #[serde(default, skip_serializing_if = "is_false")]
    is_in_prompt: bool,
    /// Whether it was the answer of a tool, which the host keeps even if it drops the text that turns add.
    #[serde(default, skip_serializing_if = "is_false")]
    is_answer: bool,
    /// Whether the model has a line about it.
    #[serde(default, skip_serializing_if = "is_false")]
    has_line: bool,
}

impl SkillMemory {
    /// Returns whether the host keeps the instructions as long as the conversation, whatever the lifetime.
    fn is_kept(&self) -> bool {
        self.is_in_prompt || self.is_answer
    }
}

impl SessionState {
    /// Starts a conversation.
    pub fn new(lifetime: ContextLifetime) -> Self {
        Self {
            lifetime,
            ..Self::default()
        }
    }

    /// Starts a conversation of an agent. If the agent does not see all skills, it may see those that the agent sees
    /// now, and never more.
    ///
    /// The skills that the agent uses are in the text that it starts with, see
    /// [`compose_instructions`](crate::bind::compose_instructions); they are not given again while their files are unchanged.
    pub fn for_agent(lifetime: ContextLifetime, view: &AgentView<'_>) -> Self {
        let ids = || view.entries().map(|entry| entry.id().into()).collect();
        let used = view.used().iter().map(|entry| {
            let memory = SkillMemory {
                given: Some(entry.skill().revision),
                is_in_prompt: true,
                ..SkillMemory::default()
            };
            (entry.id().into(), memory)
        });
        Self {
            visible: (!view.sees_all()).then(ids),
            skills: used.collect(),
            ..Self::new(lifetime)
        }
    }

    /// Returns the conversation as an agent goes on with it: it may see what both see, and never more.
    #[must_use]
    pub fn narrow(mut self, view: &AgentView<'_>) -> Self {
        if !view.sees_all() {
            let seen = view.entries().map(|entry| entry.id().into());
            let seen: BTreeSet<Box<str>> = seen.collect();
            self.visible = Some(match self.visible {
                Some(own) => own.intersection(&seen).cloned().collect(),
                None => seen,
            });
        }
        self
    }

    /// Returns the conversation without some skills, such as those that do not fit its client: it may see no skill with one of
    /// these ids.
    #[must_use]
    pub fn without(mut self, ids: impl IntoIterator<Item = Box<str>>) -> Self {
        self.hidden.extend(ids);
        self
    }

    /// Returns the ids that the conversation goes [without](Self::without).
    pub fn hidden(&self) -> impl ExactSizeIterator<Item = &str> {
        self.hidden.iter().map(|id| &**id)
    }

    /// Starts a conversation within this one that may see only the skills with these ids. Fails if this conversation
    /// may not see one of them.
    pub fn child<'i>(
        &self,
        catalog: &Catalog,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<Self, Error> {
        let resolve = |id: &str| Ok(self.resolve(catalog, id)?.id().into());
        let visible: Result<_, Error> = ids.into_iter().map(resolve).collect();
        Ok(Self {
            visible: Some(visible?),
            ..Self::new(self.lifetime)
        })
    }

    /// Returns the listing of the skills that the conversation may see. It is the same in every turn of one snapshot.
    ///
    /// From then on the model is assumed to have it: if the skills change, turns announce the difference.
    pub fn listing(&mut self, catalog: &Catalog, policy: &Policy) -> Listing {
        self.listing_except(catalog, policy, |_| false)
    }

    /// Returns the [listing](Self::listing) without some skills, such as those that a client lists itself. These are
    /// only counted.
    pub fn listing_except(
        &mut self,
        catalog: &Catalog,
        policy: &Policy,
        is_unlisted: impl Fn(&Entry<'_>) -> bool,
    ) -> Listing {
        let visible = catalog.visible();
        let visible = visible.filter(|entry| self.may_see(entry.id()));
        let (unlisted, listed): (Vec<_>, Vec<_>) = visible.partition(is_unlisted);
        let listing = listing(listed.into_iter(), unlisted.len(), policy);
        let has_listing = policy.mode != Mode::Triggered;
        self.shown = has_listing.then(|| ShownListing::new(catalog, &listing));
        listing
    }

    /// Decides what a message adds, and records what was given.
    pub fn turn(
        &mut self,
        matcher: &Matcher,
        loader: &Loader,
        policy: &Policy,
        message: &str,
    ) -> Turn {
        self.turn = self.turn.saturating_add(1);
        let turn = turn(matcher, loader, policy, message, self);
        self.record_turn(&turn, matcher.catalog());
        turn
    }

    /// Records what was given in a turn.
    fn record_turn(&mut self, turn: &Turn, catalog: &Catalog) {
        for decision in &turn.decisions {
            let is_match = decision.signal != Signal::Earlier;
            match &decision.outcome {
                SkillOutcome::Given(_, instructions, _) => {
                    // A skill that is given again keeps its arguments.
                    self.record_given(instructions, is_match.then_some(""));
                    if is_match {
                        self.mark_used(&decision.id);
                    }
                }
                SkillOutcome::Known => self.mark_used(&decision.id),
                SkillOutcome::Suggested | SkillOutcome::Named | SkillOutcome::NoRoom(_) => {
                    if self.lifetime == ContextLifetime::History {
                        self.skills.entry(decision.id.clone()).or_default().has_line = true;
                    }
                }
                SkillOutcome::Later | SkillOutcome::Failed(_) => {}
            }
        }
        if let Some(shown) = &mut self.shown
            && self.lifetime == ContextLifetime::History
        {
            shown.record_announcement(catalog, &turn.announced);
        }
        self.chosen.record_turn(self.turn, turn);
        self.spent = self.spent.saturating_add(turn.tokens);
    }

    /// Decides what a message would add, without recording anything.
    pub fn preview(
        &self,
        matcher: &Matcher,
        loader: &Loader,
        policy: &Policy,
        message: &str,
    ) -> Turn {
        let next = Self {
            turn: self.turn.saturating_add(1),
            ..self.clone()
        };
        decide(matcher, loader, policy, message, &next)
    }

    /// Loads a skill that the model asked for, always in full. A skill that the conversation may not see, or that only
    /// the user may start, is not found.
    pub fn load(
        &mut self,
        catalog: &Catalog,
        loader: &Loader,
        policy: &Policy,
        id: &str,
        arguments: &str,
    ) -> Result<Arc<Instructions>, Error> {
        let entry = self.resolve(catalog, id)?;
        let instructions = loader.load(&entry, arguments)?;
        let tokens = policy.counter.count(instructions.text());
        self.record_load(&instructions, arguments, tokens);
        Ok(instructions)
    }

    /// Records that the model got instructions that it asked for, loaded with these arguments; `tokens` is their size.
    /// The conversation must be allowed to see the skill.
    pub fn record_load(&mut self, instructions: &Instructions, arguments: &str, tokens: u64) {
        self.spent = self.spent.saturating_add(tokens);
        self.record_given(instructions, Some(arguments));
        self.mark_used(instructions.id());
        if self.lifetime == ContextLifetime::Transient
            && let Some(skill) = self.skills.get_mut(instructions.id())
        {
            skill.is_answer = true;
        }
        self.chosen.record_model_load(self.turn, instructions.id());
        tracing::info!(
            skill = &*visible(instructions.id()),
            tokens.total = tokens,
            "skill given to a model that asked for it"
        );
    }

    /// Records feedback on a skill as a log event with its id and how it was chosen, but no text of the conversation. A
    /// host can collect these events to measure how well skills are chosen; they have no other effect.
    ///
    /// A skill that was removed meanwhile is accepted by the id under which it was chosen. A skill that the
    /// conversation may not see is not found.
    ///
    /// ```
    /// # use skillfold_core::{Catalog, CatalogOptions, ContextLifetime, MemorySource, Root, Scope, SessionState};
    /// # use skillfold_core::disclose::Feedback;
    /// # let greet = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\n";
    /// # let root = Root::new(Scope::User, "mine", MemorySource::new([("greet/SKILL.md", greet)]));
    /// # let catalog = Catalog::discover(vec![root], CatalogOptions::default(), std::time::SystemTime::now());
    /// # let session = SessionState::new(ContextLifetime::History);
    /// session.record_feedback(&catalog, "greet", Feedback::Missed)?;
    /// assert!(session.record_feedback(&catalog, "great", Feedback::Missed).is_err());
    /// # Ok::<(), skillfold_core::Error>(())
    /// ```
    pub fn record_feedback(
        &self,
        catalog: &Catalog,
        id: &str,
        feedback: Feedback,
    ) -> Result<(), Error> {
        let id = if self.chosen.get(id).is_some() {
            id
        } else {
            self.resolve(catalog, id)?.id()
        };
        let choice = self.chosen.get(id);
        let is_in_prompt = self.skills.get(id).is_some_and(|skill| skill.is_in_prompt);
        let (by, told) = match choice {
            Some(choice) => {
                let by = choice
                    .matched
                    .map_or("model", |(signal, _)| signal.as_str());
                (Some(by), Some(choice.told))
            }
            None if is_in_prompt => (Some("agent"), Some(DisclosureLevel::Full)),
            None if self.shown.is_some() => (Some("listing"), Some(DisclosureLevel::Line)),
            None => (None, None),
        };
        tracing::info!(
            skill = &*visible(id),
            feedback = feedback.as_str(),
            chosen.by = by,
            chosen.rank = choice.and_then(|choice| choice.matched.map(|(_, rank)| rank)),
            chosen.told = told.map(DisclosureLevel::as_str),
            chosen.turn = choice.map(|choice| choice.turn),
            turn = self.turn,
            "feedback on a skill"
        );
        Ok(())
    }

    /// Returns the skill that an id resolves to, if the conversation may see it. The error is the same for a skill that
    /// it may not see and for an unknown id.
    pub fn resolve<'a>(&self, catalog: &'a Catalog, id: &str) -> Result<Entry<'a>, Error> {
        let may_see = |entry: &Entry<'_>| self.may_see(entry.id());
        let suggestions = || {
            let visible = catalog.visible().filter(may_see).map(|entry| entry.id());
            nearest(id, visible, MAX_SUGGESTIONS)
        };
        catalog.resolve_for_model_among(id, may_see, suggestions)
    }

    /// Returns the skills to give again after the host compacted the conversation: the most recently used first, within
    /// a budget, each with its arguments. A skill that does not fit gets a line, and is given again when it is asked
    /// for. The instructions of the skills `kept`, by their ids, are still in the conversation.
    ///
    /// Assumes that the text that the conversation started with and the listing are still there. The next turn
    /// announces all changes since the listing again.
    pub fn after_compaction(
        &mut self,
        catalog: &Catalog,
        loader: &Loader,
        policy: &Policy,
        budget: Budget,
        kept: &[&str],
    ) -> Turn {
        let policy = Policy {
            bodies: budget,
            max_skills: usize::MAX,
            ..policy.clone()
        };
        let mut skills =
            self.remembered_skills(|skill| skill.given.is_some() && !skill.is_in_prompt);
        skills.retain(|skill| !kept.contains(&&*skill.id));
        let turn = give_again(catalog, loader, &policy, skills, self);
        for decision in &turn.decisions {
            if let SkillOutcome::Given(_, instructions, _) = &decision.outcome {
                self.record_given(instructions, None);
            } else if let Some(skill) = self.skills.get_mut(&decision.id) {
                skill.given = None;
            }
        }
        for skill in self.skills.values_mut() {
            skill.has_line = false;
        }
        if let Some(shown) = &mut self.shown {
            shown.reset_to_listing();
        }
        self.spent = self.spent.saturating_add(turn.tokens);
        turn
    }

    /// Returns the remembered skills that pass a filter, the most recently used first.
    fn remembered_skills(&self, filter: impl Fn(&SkillMemory) -> bool) -> Vec<RepeatedSkill> {
        let mut found: Vec<_> = self.skills.iter().collect();
        found.retain(|(_, skill)| filter(skill));
        found.sort_by(|(left, a), (right, b)| b.used.cmp(&a.used).then_with(|| left.cmp(right)));
        let repeated = found.into_iter().map(|(id, skill)| RepeatedSkill {
            id: id.clone(),
            arguments: skill.arguments.clone(),
        });
        repeated.collect()
    }

    /// Returns whether the conversation may see only some of the skills.
    pub fn is_restricted(&self) -> bool {
        self.visible.is_some() || !self.hidden.is_empty()
    }

    /// Returns whether the model got a skill's instructions, of whatever revision, and still has them.
    pub fn has_skill(&self, id: &str) -> bool {
        self.skills
            .get(id)
            .is_some_and(|skill| skill.given.is_some())
    }

    /// Returns whether the model has a line about a skill that was suggested.
    pub fn has_line(&self, id: &str) -> bool {
        self.skills.get(id).is_some_and(|skill| skill.has_line)
    }

    /// Removes the arguments that skills were given with: they may repeat what the user wrote.
    pub fn remove_arguments(&mut self) {
        for skill in self.skills.values_mut() {
            skill.arguments = Box::default();
        }
    }

    /// Forgets all but the `limit` skills that were used last: these may be given again.
    pub fn forget_oldest(&mut self, limit: usize) {
        while self.skills.len() > limit {
            let oldest = self.skills.iter().min_by_key(|(_, skill)| skill.used);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else {
                return;
            };
            self.skills.remove(&id);
        }
    }

    /// Returns how long text that is given to the model stays in its context.
    pub fn lifetime(&self) -> ContextLifetime {
        self.lifetime
    }

    /// Returns the number of tokens spent on skills.
    pub fn tokens_spent(&self) -> u64 {
        self.spent
    }

    /// Returns the number of turns.
    pub fn turns(&self) -> u64 {
        self.turn
    }

    /// Records that the model has instructions; `None` keeps the arguments that were recorded before.
    fn record_given(&mut self, instructions: &Instructions, arguments: Option<&str>) {
        let skill = self.skills.entry(instructions.id().into()).or_default();
        skill.given = Some(instructions.revision());
        skill.is_in_prompt = false;
        skill.is_answer = false;
        if let Some(arguments) = arguments {
            skill.arguments = arguments.into();
        }
    }

    fn mark_used(&mut self, id: &str) {
        if let Some(skill) = self.skills.get_mut(id) {
            skill.used = self.turn;
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl Sealed for SessionState {}

impl Memory for SessionState {
    fn last_used(&self, id: &str) -> Option<u64> {
        let skill = self.skills.get(id);
        let skill = skill.filter(|skill| skill.used > 0 || skill.given.is_some());
        skill.map(|skill| skill.used)
    }

    fn knows(&self, id: &str) -> bool {
        let skill = self.skills.get(id);
        skill.is_some_and(|skill| {
            let is_there = self.lifetime == ContextLifetime::History || skill.is_kept();
            skill.has_line || is_there && skill.given.is_some()
        })
    }

    fn has_instructions(&self, instructions: &Instructions) -> bool {
        self.skills.get(instructions.id()).is_some_and(|skill| {
            let is_there = self.lifetime == ContextLifetime::History || skill.is_kept();
            is_there && skill.given == Some(instructions.revision())
        })
    }

    fn may_see(&self, id: &str) -> bool {
        let visible = self.visible.as_ref();
        visible.is_none_or(|visible| visible.contains(id)) && !self.hidden.contains(id)
    }

    fn repeated(&self) -> Vec<RepeatedSkill> {
        if self.lifetime == ContextLifetime::History {
            return Vec::new();
        }
        let recent = self.turn.saturating_sub(REPEATED_TURNS);
        self.remembered_skills(|skill| {
            skill.given.is_some() && !skill.is_kept() && skill.used >= recent
        })
    }

    fn shown_listing(&self) -> Option<&ShownListing> {
        self.shown.as_ref()
    }
}
