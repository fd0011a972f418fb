//! Skills whose triggers are compiled together.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::key::canonical;
use crate::choose::literals::{Collected, Found, Literals, Whole};
use crate::choose::message::Message;
use crate::choose::patterns::{Owner, Patterns};
use crate::choose::signal::{Signal, signal};
use crate::choose::trigger::{Trigger, triggers};
use crate::diagnostic::Diagnostic;
use crate::read::discover::Skill;

/// The place of a skill that the snapshot does not have any more.
pub(super) const GONE: u32 = u32::MAX;

/// Skills, compiled together.
pub(super) struct Part {
    pub(super) compiled: Arc<Compiled>,
    /// Where each skill stands in the snapshot.
    pub(super) places: Vec<u32>,
}

pub(super) struct Compiled {
    pub(super) skills: Vec<Arc<Skill>>,
    literals: Literals,
    patterns: Patterns,
    pub(super) findings: Vec<(u32, Diagnostic)>,
}

/// The best reason that was found for a skill.
pub(super) struct Hit<'p> {
    pub(super) place: u32,
    pub(super) signal: Signal,
    pub(super) skill: &'p Skill,
    pub(super) reason: Reason<'p>,
}

/// What of a skill matched.
pub(super) enum Reason<'p> {
    /// A literal, where it stands in the folded message; a name has no number.
    Literal(Option<u32>, Found),
    Pattern(&'p str),
}

impl Part {
    pub(super) fn new(skills: Vec<Arc<Skill>>, all: &[(u32, Arc<Skill>)]) -> Self {
        let part = Self {
            compiled: Arc::new(Compiled::new(skills)),
            places: Vec::new(),
        };
        part.moved(all)
    }

    /// Returns the same skills where they stand in another snapshot.
    pub(super) fn moved(&self, all: &[(u32, Arc<Skill>)]) -> Self {
        let places: HashMap<*const Skill, u32> = all
            .iter()
            .map(|(place, skill)| (Arc::as_ptr(skill), *place))
            .collect();
        let skills = self.compiled.skills.iter();
        Self {
            places: skills
                .map(|skill| places.get(&Arc::as_ptr(skill)).copied().unwrap_or(GONE))
                .collect(),
            compiled: Arc::clone(&self.compiled),
        }
    }

    /// Returns the skills that the snapshot has.
    pub(super) fn live(&self) -> impl Iterator<Item = &Arc<Skill>> {
        let skills = self.compiled.skills.iter().zip(&self.places);
        skills
            .filter(|(_, place)| **place != GONE)
            .map(|(skill, _)| skill)
    }

    /// Adds the best reason for each skill that matches.
    pub(super) fn find<'p>(&'p self, message: &Message<'_>, hits: &mut Vec<Hit<'p>>) {
        let mut best: Vec<u32> = vec![GONE; self.places.len()];
        let mut take = |slot: u32, signal: Signal, reason: Reason<'p>| {
            let place = self.places[slot as usize];
            if place == GONE {
                return;
            }
            let known = &mut best[slot as usize];
            if *known == GONE {
                *known = u32::try_from(hits.len()).unwrap_or(GONE);
                hits.push(Hit {
                    place,
                    signal,
                    skill: &self.compiled.skills[slot as usize],
                    reason,
                });
            } else if hits[*known as usize].signal < signal {
                let hit = &mut hits[*known as usize];
                (hit.signal, hit.reason) = (signal, reason);
            }
        };
        self.compiled.literals.find(message, |used, found| {
            if let Some(signal) = signal(used, found, message) {
                take(used.slot, signal, Reason::Literal(used.trigger, found));
            }
        });
        self.compiled.patterns.find(message.original, |owner| {
            take(owner.slot, Signal::Trigger, Reason::Pattern(&owner.pattern));
        });
    }
}

impl Compiled {
    fn new(skills: Vec<Arc<Skill>>) -> Self {
        let mut literals = Collected::default();
        let mut owners = Vec::new();
        for (slot, skill) in (0_u32..).zip(&skills) {
            let name = canonical(skill.manifest.name().as_str());
            literals.add(&name, slot, None, Whole::Yes);
            if name.contains('-') {
                literals.add(&name.replace('-', "_"), slot, None, Whole::Yes);
            }
            for (number, trigger) in (0_u32..).zip(triggers(skill.manifest.triggers())) {
                match trigger {
                    Trigger::Part(text) => literals.add(text, slot, Some(number), Whole::No),
                    Trigger::Word(text) => literals.add(text, slot, Some(number), Whole::Yes),
                    Trigger::Pattern(pattern) => owners.push(Owner {
                        slot,
                        pattern: pattern.into(),
                    }),
                }
            }
        }
        let mut findings = Vec::new();
        let patterns = Patterns::new(owners.into_iter(), |slot, finding| {
            findings.push((slot, finding));
        });
        Self {
            literals: literals.build(),
            patterns,
            findings,
            skills,
        }
    }
}
