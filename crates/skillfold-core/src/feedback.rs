//! What a host says became of a skill, and what a conversation remembers of how the skill came to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::choose::signal::Signal;
use crate::disclose::turn::{Outcome, Turn};

/// Skills of which a conversation remembers how they were chosen; the one chosen longest ago is forgotten first.
const REMEMBERED: usize = 256;

/// Skills of one turn that are remembered though they were not given.
const OF_A_TURN: usize = 20;

/// What became of a skill, as the host saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feedback {
    /// The model was told of it and followed it: it was the right one.
    Used,
    /// The model was told of it and did not follow it, or should not have.
    Unused,
    /// It would have been the right one, and the model was not given it.
    Missed,
}

impl Feedback {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Unused => "unused",
            Self::Missed => "missed",
        }
    }
}

/// How a skill came to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) turn: u64,
    /// Its place among the skills that matched, from 1; none where the model asked for it.
    pub(crate) matched: Option<(Signal, u32)>,
    pub(crate) told: Told,
}

/// What a model was told of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// Its instructions.
    Full,
    /// A line that it is there.
    Line,
    /// Nothing.
    Nothing,
}

impl Told {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Line => "line",
            Self::Nothing => "nothing",
        }
    }
}

impl From<&Outcome> for Told {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Given(..) | Outcome::Known => Self::Full,
            Outcome::NoRoom(_) | Outcome::Later | Outcome::Suggested => Self::Line,
            Outcome::Failed(_) => Self::Nothing,
        }
    }
}

/// How skills came to a conversation, by id.
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

    /// Remembers what a turn chose. What is given again was chosen before.
    pub(crate) fn of_turn(&mut self, number: u64, turn: &Turn) {
        let matched = turn.decisions.iter();
        let matched = matched.filter(|decision| decision.signal != Signal::Earlier);
        for (rank, decision) in (1..).zip(matched) {
            let told = Told::from(&decision.outcome);
            if told == Told::Full || rank <= OF_A_TURN {
                let rank = u32::try_from(rank).unwrap_or(u32::MAX);
                let matched = Some((decision.signal, rank));
                self.put(&decision.id, number, matched, told);
            }
        }
    }

    /// Remembers that the model asked for a skill, unless a request had brought it before.
    pub(crate) fn by_model(&mut self, number: u64, id: &str) {
        if self.get(id).is_none_or(|chosen| chosen.told != Told::Full) {
            self.put(id, number, None, Told::Full);
        }
    }

    fn put(&mut self, id: &str, turn: u64, matched: Option<(Signal, u32)>, told: Told) {
        let chosen = Choice {
            turn,
            matched,
            told,
        };
        self.0.insert(id.into(), chosen);
        if self.0.len() > REMEMBERED {
            let oldest = self.0.iter().min_by_key(|(_, chosen)| chosen.turn);
            if let Some(id) = oldest.map(|(id, _)| id.clone()) {
                self.0.remove(&id);
            }
        }
    }
}
