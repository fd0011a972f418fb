//! One conversation: what it was given, what it used last, and what it may see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bind::agent_view::AgentView;
use crate::catalog::entry::Entry;
use crate::catalog::nearest::nearest;
use crate::catalog::resolve::MEANT;
use crate::catalog::snapshot::Catalog;
use crate::choose::matcher::Matcher;
use crate::choose::signal::Signal;
use crate::diagnostic::visible;
use crate::disclose::budget::Budget;
use crate::disclose::changes::ShownListing;
use crate::disclose::listing::{Listing, listing};
use crate::disclose::memory::{Memory, RepeatedSkill};
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::turn::{Outcome, Turn, again, decide, turn};
use crate::error::Error;
use crate::feedback::{Choices, Feedback, Told};
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;
use crate::read::source::Revision;

/// Turns for which a skill is given again after it matched, where the host drops what was given.
const KEPT: u64 = 3;

/// Where what is given to a model lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextLifetime {
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
    lives: ContextLifetime,
    turn: u64,
    spent: u64,
    skills: BTreeMap<Box<str>, SkillMemory>,
    /// The ids that the conversation may see, where these are not all.
    only: Option<BTreeSet<Box<str>>>,
    /// How skills were chosen, for who says later what became of them.
    #[serde(default, skip_serializing_if = "Choices::is_empty")]
    chosen: Choices,
    /// The listing that the model has. One that is taken up again takes its listing anew.
    #[serde(skip)]
    shown: Option<ShownListing>,
}

/// What a conversation knows of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SkillMemory {
    /// The turn in which it was used last.
    used: u64,
    /// The file that was given, as size and times; nothing, if the model does not have it any more.
    given: Option<GivenRevision>,
    /// The arguments that it was given with.
    #[serde(default)]
    arguments: Box<str>,
    /// Whether it stands in the text that the conversation began with, which the host keeps.
    #[serde(default)]
    is_in_prompt: bool,
}

/// A version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GivenRevision {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i64,
    changed_ns: i64,
}

impl From<Revision> for GivenRevision {
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
    pub fn new(lives: ContextLifetime) -> Self {
        Self {
            lives,
            ..Self::default()
        }
    }

    /// Begins a conversation of an agent, which may see what the agent sees now, and never more.
    ///
    /// The skills that the agent uses stand in the text that it begins with, see
    /// [`compose_instructions`](crate::compose_instructions): they are not given again while their files are the same.
    pub fn for_agent(lives: ContextLifetime, seen: &AgentView<'_>) -> Self {
        let ids = || seen.entries().map(|entry| entry.id().into()).collect();
        let used = seen.used().iter().map(|entry| {
            let known = SkillMemory {
                given: Some(entry.skill().revision.into()),
                is_in_prompt: true,
                ..SkillMemory::default()
            };
            (entry.id().into(), known)
        });
        Self {
            only: (!seen.sees_all()).then(ids),
            skills: used.collect(),
            ..Self::new(lives)
        }
    }

    /// Begins a conversation inside this one, which may see only some of what this one may see. An id that leads to
    /// nothing here is an error.
    pub fn child<'i>(
        &self,
        catalog: &Catalog,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<Self, Error> {
        let seen = |id: &str| Ok(self.seen(catalog, id)?.id().into());
        let only: Result<_, Error> = ids.into_iter().map(seen).collect();
        Ok(Self {
            only: Some(only?),
            ..Self::new(self.lives)
        })
    }

    /// Returns the listing of the skills that the conversation may see: the same in every turn of one snapshot.
    ///
    /// The model has it from then on: after the skills changed, turns tell the difference to it.
    pub fn listing(&mut self, catalog: &Catalog, policy: &Policy) -> Listing {
        let visible = catalog.visible();
        let disclosed = listing(visible.filter(|entry| self.may_see(entry.id())), policy);
        let has_listing = policy.mode != Mode::Triggered;
        self.shown = has_listing.then(|| ShownListing::new(catalog, &disclosed));
        disclosed
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
        self.remember(&turn, matcher.catalog());
        turn
    }

    /// Remembers what was given in a turn.
    fn remember(&mut self, turn: &Turn, catalog: &Catalog) {
        for decision in &turn.decisions {
            let is_asked = decision.signal != Signal::Earlier;
            match &decision.outcome {
                Outcome::Given(_, instructions, _) => {
                    // What is given again has the arguments that it had.
                    self.give(instructions, is_asked.then_some(""));
                    if is_asked {
                        self.use_now(&decision.id);
                    }
                }
                Outcome::Known => self.use_now(&decision.id),
                Outcome::NoRoom(_) | Outcome::Later | Outcome::Suggested | Outcome::Failed(_) => {}
            }
        }
        if let Some(shown) = &mut self.shown
            && self.lives == ContextLifetime::History
        {
            shown.was_told_of(catalog, &turn.announced);
        }
        self.chosen.of_turn(self.turn, turn);
        self.spent = self.spent.saturating_add(turn.tokens);
    }

    /// Decides what a message would add, and remembers nothing.
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

    /// Loads a skill that the model asked for: always the whole of it. What the conversation may not see is not there for
    /// it, and neither is what only a person may start.
    pub fn load(
        &mut self,
        catalog: &Catalog,
        loader: &Loader,
        policy: &Policy,
        id: &str,
        arguments: &str,
    ) -> Result<Arc<Instructions>, Error> {
        let entry = self.seen(catalog, id)?;
        let instructions = loader.load(&entry, arguments)?;
        let tokens = policy.counter.count(instructions.text());
        self.load_again(&instructions, arguments, tokens);
        Ok(instructions)
    }

    /// Notes that the model got instructions that it asked for, which the host still had: a conversation like this one
    /// loaded them with these arguments and for so many tokens, by the same snapshot, and they are
    /// [current](Loader::is_current).
    pub fn load_again(&mut self, instructions: &Instructions, arguments: &str, tokens: u64) {
        self.spent = self.spent.saturating_add(tokens);
        self.give(instructions, Some(arguments));
        self.use_now(instructions.id());
        self.chosen.by_model(self.turn, instructions.id());
        tracing::info!(
            skill = &*visible(instructions.id()),
            tokens.total = tokens,
            "skill given to a model that asked for it"
        );
    }

    /// Says what became of a skill, as an event that holds its id and how it was chosen, and nothing of what was said. A
    /// host that listens can follow over time how well skills are chosen; nothing else changes by it.
    ///
    /// A skill that is gone meanwhile is known by the id that it was chosen under. What the conversation may not see is not
    /// there for it.
    ///
    /// ```
    /// # use skillfold_core::{Catalog, ContextLifetime, MemorySource, Root, CatalogOptions, Scope, Session, Feedback};
    /// # let greet = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\n";
    /// # let root = Root::new(Scope::User, "mine", MemorySource::new([("greet/SKILL.md", greet)]));
    /// # let catalog = Catalog::discover(vec![root], CatalogOptions::default(), 0);
    /// # let session = Session::new(ContextLifetime::History);
    /// session.record_feedback(&catalog, "greet", Feedback::Missed)?;
    /// assert!(session.record_feedback(&catalog, "great", Feedback::Missed).is_err());
    /// # Ok::<(), skillfold_core::Error>(())
    /// ```
    pub fn record_feedback(
        &self,
        catalog: &Catalog,
        id: &str,
        verdict: Feedback,
    ) -> Result<(), Error> {
        let id = if self.chosen.get(id).is_some() {
            id
        } else {
            self.seen(catalog, id)?.id()
        };
        let chosen = self.chosen.get(id);
        let is_in_prompt = self.skills.get(id).is_some_and(|known| known.is_in_prompt);
        let (by, told) = match chosen {
            Some(chosen) => {
                let by = chosen
                    .matched
                    .map_or("model", |(signal, _)| signal.as_str());
                (Some(by), Some(chosen.told))
            }
            None if is_in_prompt => (Some("agent"), Some(Told::Full)),
            None if self.shown.is_some() => (Some("listing"), Some(Told::Line)),
            None => (None, None),
        };
        tracing::info!(
            skill = &*visible(id),
            verdict = verdict.as_str(),
            chosen.by = by,
            chosen.rank = chosen.and_then(|chosen| chosen.matched.map(|(_, rank)| rank)),
            chosen.told = told.map(Told::as_str),
            chosen.turn = chosen.map(|chosen| chosen.turn),
            turn = self.turn,
            "outcome of a skill"
        );
        Ok(())
    }

    /// Returns the skill that an id leads to, if the conversation may see it.
    fn seen<'a>(&self, catalog: &'a Catalog, id: &str) -> Result<Entry<'a>, Error> {
        let may_see = |entry: &Entry<'_>| self.may_see(entry.id());
        let meant = || {
            let seen = catalog.visible().filter(may_see).map(|entry| entry.id());
            nearest(id, seen, MEANT)
        };
        catalog.usable_among(id, may_see, meant)
    }

    /// Says what to give again after the host has cut the conversation short, the skill that was used last first, within
    /// a budget and with the arguments that each had. What does not fit is a line, and is given again when it is asked for.
    ///
    /// What the conversation began with, and the listing, are taken to be there still; the next turn tells again what
    /// changed since the listing.
    pub fn after_compaction(
        &mut self,
        catalog: &Catalog,
        loader: &Loader,
        policy: &Policy,
        budget: Budget,
    ) -> Turn {
        let policy = Policy {
            bodies: budget,
            max_skills: usize::MAX,
            ..policy.clone()
        };
        let kept = self.latest(|known| known.given.is_some() && !known.is_in_prompt);
        let turn = again(catalog, loader, &policy, kept, self);
        for decision in &turn.decisions {
            if let Outcome::Given(_, instructions, _) = &decision.outcome {
                self.give(instructions, None);
            } else if let Some(known) = self.skills.get_mut(&decision.id) {
                known.given = None;
            }
        }
        if let Some(shown) = &mut self.shown {
            shown.forget_what_was_told();
        }
        self.spent = self.spent.saturating_add(turn.tokens);
        turn
    }

    /// Returns some of the skills that were given, the one that was used last first.
    fn latest(&self, is_wanted: impl Fn(&SkillMemory) -> bool) -> Vec<RepeatedSkill> {
        let mut found: Vec<_> = self.skills.iter().collect();
        found.retain(|(_, known)| is_wanted(known));
        found.sort_by(|(left, a), (right, b)| b.used.cmp(&a.used).then_with(|| left.cmp(right)));
        let kept = found.into_iter().map(|(id, known)| RepeatedSkill {
            id: id.clone(),
            arguments: known.arguments.clone(),
        });
        kept.collect()
    }

    /// Returns how many tokens were spent on skills.
    pub fn tokens_spent(&self) -> u64 {
        self.spent
    }

    /// Returns the number of turns.
    pub fn turns(&self) -> u64 {
        self.turn
    }

    /// Notes that the model has instructions, with arguments that are others than before if any are named.
    fn give(&mut self, instructions: &Instructions, arguments: Option<&str>) {
        let known = self.skills.entry(instructions.id().into()).or_default();
        known.given = Some(instructions.revision().into());
        known.is_in_prompt = false;
        if let Some(arguments) = arguments {
            known.arguments = arguments.into();
        }
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
        self.skills.get(instructions.id()).is_some_and(|known| {
            let is_there = self.lives == ContextLifetime::History || known.is_in_prompt;
            is_there && known.given == Some(instructions.revision().into())
        })
    }

    fn may_see(&self, id: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(id))
    }

    fn repeated(&self) -> Vec<RepeatedSkill> {
        if self.lives == ContextLifetime::History {
            return Vec::new();
        }
        let recent = self.turn.saturating_sub(KEPT);
        self.latest(|known| known.given.is_some() && !known.is_in_prompt && known.used >= recent)
    }

    fn shown(&self) -> Option<&ShownListing> {
        self.shown.as_ref()
    }
}
