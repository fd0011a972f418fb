//! What became of the skills of a conversation's last prompt.

use std::collections::BTreeSet;
use std::mem::take;
use std::time::SystemTime;

use crate::conversation::conversations::{Conversation, HeardLoads, MAX_NAME_BYTES, MAX_SKILLS};

/// What became of a skill after a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillUse {
    /// A line suggested or named it, and it was loaded, or the next prompt names it.
    Loaded,
    /// A line suggested it, and it was not loaded by the next prompt.
    Ignored,
    /// It was loaded although the hook had not offered it.
    Missed,
}

impl SkillUse {
    /// Returns the word for it in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Ignored => "ignored",
            Self::Missed => "missed",
        }
    }
}

/// What became of the skills of a prompt, each at most once in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptUses {
    /// For the log.
    pub logged: Vec<(Box<str>, SkillUse)>,
    /// What moves the bars of skills: none that is doubtful.
    pub learned: Vec<(Box<str>, SkillUse)>,
    /// Which loads the conversation has told of.
    pub heard: HeardLoads,
}

impl Conversation {
    /// Records that a line suggested a skill. `is_judged` says that only a search spoke for it.
    pub fn record_suggestion(&mut self, id: &str, is_judged: bool) {
        if self.suggested.len() < MAX_SKILLS && !self.suggested.iter().any(|it| **it == *id) {
            self.suggested.push(id.into());
            self.record_judged(id, is_judged);
        }
    }

    /// Records that a line named a skill that the client loads itself. `is_judged` says that only a search spoke for it.
    pub fn record_named(&mut self, id: &str, is_judged: bool) {
        if self.named.len() < MAX_SKILLS {
            self.named.insert(id.into());
            self.record_judged(id, is_judged);
        }
    }

    fn record_judged(&mut self, id: &str, is_judged: bool) {
        if is_judged {
            self.judged.insert(id.into());
        }
    }

    /// Records that a prompt named a skill: then the model may need no more of it.
    pub fn record_mention(&mut self, id: &str) {
        if self.mentioned.len() < MAX_SKILLS {
            self.mentioned.insert(id.into());
        }
    }

    /// Records that a model loaded a skill from our server, which the conversation did not have.
    pub fn record_load(&mut self, skill: &str) {
        self.heard.server = true;
        self.record_loaded(skill);
    }

    /// Records that a client loaded a skill itself.
    pub fn record_own_load(&mut self, skill: &str) {
        self.heard.client = true;
        self.record_loaded(skill);
    }

    fn record_loaded(&mut self, skill: &str) {
        if self.loaded.len() < MAX_SKILLS && skill.len() <= MAX_NAME_BYTES {
            self.loaded.insert(skill.into());
        }
    }

    /// Returns what became of the skills of the last prompt. `mentioned` are the skills that the next prompt names, `heard` the
    /// loads that the client is known to tell of, and `resolve` returns the id of the skill with a name; names of other things are
    /// dropped.
    pub fn take_uses(
        &mut self,
        mentioned: &BTreeSet<Box<str>>,
        heard: HeardLoads,
        now: SystemTime,
        resolve: impl Fn(&str) -> Option<Box<str>>,
    ) -> PromptUses {
        let heard = heard.or(self.heard);
        let mut uses = PromptUses {
            heard: self.heard,
            ..PromptUses::default()
        };
        // What an agent loads is not told of the conversation.
        let had_agents = take(&mut self.had_agents) || self.has_agents(now);
        let loaded = take(&mut self.loaded);
        let mut loaded: BTreeSet<_> = loaded.iter().filter_map(|name| resolve(name)).collect();
        let (before, judged) = (take(&mut self.mentioned), take(&mut self.judged));
        let suggested = take(&mut self.suggested).into_iter();
        let named = take(&mut self.named).into_iter();
        let offered = suggested.map(|id| (id, true));
        for (id, is_suggested) in offered.chain(named.map(|id| (id, false))) {
            let is_loaded = loaded.remove(&id) || self.session.has_skill(&id);
            if is_loaded || mentioned.contains(&id) {
                uses.logged.push((id.clone(), SkillUse::Loaded));
                // That the last prompt named it counted then.
                if !before.contains(&id) {
                    uses.learned.push((id, SkillUse::Loaded));
                }
            } else if !before.contains(&id) {
                let is_told = if is_suggested {
                    heard.server
                } else {
                    heard.client
                };
                if is_told && !had_agents && judged.contains(&id) {
                    uses.learned.push((id.clone(), SkillUse::Ignored));
                }
                if is_suggested {
                    uses.logged.push((id, SkillUse::Ignored));
                }
            }
        }
        loaded.retain(|id| !self.given_by_hook.contains(id));
        let missed = loaded.iter().map(|id| (id.clone(), SkillUse::Missed));
        uses.logged.extend(missed);
        let is_offered = |id: &str| uses.logged.iter().any(|(offered, _)| **offered == *id);
        let named = mentioned.iter();
        let named = named.filter(|id| !is_offered(id) && !self.session.has_skill(id));
        let started: Vec<_> = loaded.iter().chain(named).cloned().collect();
        for id in started {
            // A line of an earlier prompt suggested it.
            let what = if self.session.has_line(&id) {
                SkillUse::Loaded
            } else {
                SkillUse::Missed
            };
            uses.learned.push((id, what));
        }
        uses
    }
}
