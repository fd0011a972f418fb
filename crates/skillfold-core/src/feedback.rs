//! Feedback of a host on a skill, and how a conversation came to have the skill.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::choose::signal::Signal;
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::turn::Turn;

/// Maximum choices that a conversation remembers; the oldest is dropped first.
const MAX_CHOICES: usize = 256;

/// Maximum rank in a turn up to which a skill that was not given is remembered.
const MAX_REMEMBERED_RANK: usize = 20;

words! {
    /// Feedback of the host on whether a skill was the right one.
    pub enum Feedback {
        /// The model was told about it and followed it: it was the right one.
        Used = "used",
        /// The model was told about it but did not follow it, or should not have.
        Unused = "unused",
        /// It would have been the right one, but the model did not get it.
        Missed = "missed",
    }
}

/// How a conversation came to have a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) turn: u64,
    /// The signal and the rank among the skills that matched, from 1; `None` if the model asked for it.
    pub(crate) matched: Option<(Signal, u32)>,
    pub(crate) told: DisclosureLevel,
}

/// How much a model was told about a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisclosureLevel {
    /// Its instructions.
    Full,
    /// A line about it.
    Line,
    /// Nothing.
    Nothing,
}

impl DisclosureLevel {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Line => "line",
            Self::Nothing => "nothing",
        }
    }
}

impl From<&SkillOutcome> for DisclosureLevel {
    fn from(outcome: &SkillOutcome) -> Self {
        match outcome {
            SkillOutcome::Given(..) | SkillOutcome::Known => Self::Full,
            SkillOutcome::NoRoom(_)
            | SkillOutcome::Later
            | SkillOutcome::Suggested
            | SkillOutcome::Named => Self::Line,
            SkillOutcome::Failed(_) => Self::Nothing,
        }
    }
}

/// How a conversation came to have its skills, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Choices(BTreeMap<Box<str>, Choice>);

impl Choices {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Choice> {
        self.0.get(id)
    }

    /// Records the choices of a turn. Skills that are given again were recorded before.
    pub(crate) fn record_turn(&mut self, number: u64, turn: &Turn) {
        let matched = turn.decisions.iter();
        let matched = matched.filter(|decision| decision.signal != Signal::Earlier);
        for (rank, decision) in (1..).zip(matched) {
            let told = DisclosureLevel::from(&decision.outcome);
            if told == DisclosureLevel::Full || rank <= MAX_REMEMBERED_RANK {
                let rank = u32::try_from(rank).unwrap_or(u32::MAX);
                let matched = Some((decision.signal, rank));
                self.insert(&decision.id, number, matched, told);
            }
        }
    }

    /// Records that the model asked for a skill, unless it already had its instructions.
    pub(crate) fn record_model_load(&mut self, number: u64, id: &str) {
        if self
            .get(id)
            .is_none_or(|choice| choice.told != DisclosureLevel::Full)
        {
            self.insert(id, number, None, DisclosureLevel::Full);
        }
    }

    fn insert(
        &mut self,
        id: &str,
        turn: u64,
        matched: Option<(Signal, u32)>,
        told: DisclosureLevel,
    ) {
        let choice = Choice {
            turn,
            matched,
            told,
        };
        self.0.insert(id.into(), choice);
        if self.0.len() > MAX_CHOICES {
            let oldest = self.0.iter().min_by_key(|(_, choice)| choice.turn);
            if let Some(id) = oldest.map(|(id, _)| id.clone()) {
                self.0.remove(&id);
            }
        }
    }
}
