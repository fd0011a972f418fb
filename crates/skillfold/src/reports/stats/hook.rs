//! What hooks did with skills, and what became of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

/// The name of a signal or a client if it is missing or invalid.
pub(super) const UNKNOWN: &str = "unknown";

/// Maximum clients to count separately.
const MAX_CLIENTS: usize = 32;

/// What the hook did with a skill, or what became of it.
#[derive(Clone, Copy)]
pub(super) enum HookOutcome {
    Given,
    /// A line suggested it.
    Suggested,
    /// A line named it, and the client loads it itself.
    Named,
    /// It was loaded after a line.
    Loaded,
    /// A line suggested it, and it was not loaded.
    Ignored,
    /// It was loaded, and the hook had not offered it.
    Missed,
}

impl HookOutcome {
    /// Returns what a word for an outcome counts as; `None` if it is not counted.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "given" => Self::Given,
            // Both are lines that ask the model to load it.
            "suggested" | "no_room" => Self::Suggested,
            "named" => Self::Named,
            "loaded" => Self::Loaded,
            "ignored" => Self::Ignored,
            "missed" => Self::Missed,
            _ => return None,
        })
    }
}

/// How often the hook did what with skills, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookCounts {
    /// How often instructions were given, or a skill was loaded after a line.
    pub hits: u64,
    /// How often a skill was loaded although the hook had not offered it.
    pub missed: u64,
    /// How often a line suggested a skill that was not loaded by the next prompt.
    pub ignored: u64,
    /// How often instructions were given.
    pub given: u64,
    /// How often a line suggested a skill.
    pub suggested: u64,
    /// How often a line named a skill, for a client that loads it itself.
    pub named: u64,
    /// How often a skill was loaded after a line.
    pub loaded: u64,
}

impl HookCounts {
    const fn total(&self) -> u64 {
        let offered = self.given.saturating_add(self.suggested);
        offered
            .saturating_add(self.named)
            .saturating_add(self.missed)
    }

    const fn count(&mut self, outcome: HookOutcome) {
        match outcome {
            HookOutcome::Given => self.given += 1,
            HookOutcome::Suggested => self.suggested += 1,
            HookOutcome::Named => self.named += 1,
            HookOutcome::Loaded => self.loaded += 1,
            HookOutcome::Ignored => self.ignored += 1,
            HookOutcome::Missed => self.missed += 1,
        }
        if matches!(outcome, HookOutcome::Given | HookOutcome::Loaded) {
            self.hits += 1;
        }
    }
}

/// What the hook did with one skill.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "HookTally")]
#[non_exhaustive]
pub struct HookStats {
    /// The skill's id.
    pub id: Box<str>,
    /// The counts.
    #[serde(flatten)]
    pub counts: HookCounts,
}

/// What the hook of one client did.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "HookClientTally")]
#[non_exhaustive]
pub struct HookClientStats {
    /// The client, such as `claude-code`; `unknown` if the log does not say.
    pub client: Box<str>,
    /// The counts.
    #[serde(flatten)]
    pub counts: HookCounts,
}

/// Accumulates what hooks did while a log is read.
#[derive(Default)]
pub(super) struct HookBuilder {
    skills: BTreeMap<Box<str>, HookCounts>,
    clients: BTreeMap<Box<str>, HookCounts>,
}

impl HookBuilder {
    /// Counts an outcome. Returns false if the skill is new and there are too many to count it separately.
    pub(super) fn add(
        &mut self,
        skill: Box<str>,
        client: Box<str>,
        outcome: HookOutcome,
        max_skills: usize,
    ) -> bool {
        let is_full = self.clients.len() >= MAX_CLIENTS && !self.clients.contains_key(&client);
        let client = if is_full { UNKNOWN.into() } else { client };
        self.clients.entry(client).or_default().count(outcome);
        if self.skills.len() >= max_skills && !self.skills.contains_key(&skill) {
            return false;
        }
        self.skills.entry(skill).or_default().count(outcome);
        true
    }

    /// Returns the counts per skill and per client, the most frequent first.
    pub(super) fn build(self) -> (Vec<HookStats>, Vec<HookClientStats>) {
        let skills = self.skills.into_iter();
        let mut skills: Vec<_> = skills
            .map(|(id, counts)| HookStats { id, counts })
            .collect();
        skills.sort_by_key(|skill| Reverse(skill.counts.total()));
        let clients = self.clients.into_iter();
        let mut clients: Vec<_> = clients
            .map(|(client, counts)| HookClientStats { client, counts })
            .collect();
        clients.sort_by_key(|client| Reverse(client.counts.total()));
        (skills, clients)
    }
}
