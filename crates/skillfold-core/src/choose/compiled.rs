//! Skills whose triggers are compiled together.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::key::canonical;
use crate::choose::literals::{LiteralMatch, Literals, LiteralsBuilder, WordBoundary};
use crate::choose::message::Message;
use crate::choose::patterns::{PatternOwner, Patterns};
use crate::choose::signal::{Signal, signal};
use crate::choose::trigger::{Trigger, triggers};
use crate::diagnostic::Diagnostic;
use crate::read::discover::Skill;
use crate::read::manifest::Manifest;

/// The number of a skill that the snapshot does not have any more.
pub(super) const GONE: u32 = u32::MAX;

/// Skills, compiled together.
pub(super) struct MatcherLayer {
    pub(super) compiled: Arc<CompiledTriggers>,
    /// The number of each skill in the snapshot.
    pub(super) places: Vec<u32>,
}

pub(super) struct CompiledTriggers {
    pub(super) skills: Vec<Arc<Skill>>,
    literals: Literals,
    patterns: Patterns,
    /// Which skills have a trigger that could match.
    has_triggers: Vec<bool>,
    pub(super) findings: Vec<(u32, Diagnostic)>,
}

/// The best reason that was found for a skill.
#[derive(Clone, Copy)]
pub(super) struct TriggerHit {
    pub(super) at: u32,
    pub(super) signal: Signal,
    pub(super) reason: Reason,
    /// The best of its triggers that was found.
    pub(super) trigger: Option<(Signal, Reason)>,
}

/// What of a skill matched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    Name(LiteralMatch),
    /// A literal, by its number among the triggers.
    Literal(u32, LiteralMatch),
    /// A pattern, by its number among the triggers.
    Pattern(u32),
}

impl MatcherLayer {
    /// Compiles skills, each with its number.
    pub(super) fn new(all: impl IntoIterator<Item = (u32, Arc<Skill>)>) -> Self {
        let (places, skills) = all.into_iter().unzip();
        Self {
            compiled: Arc::new(CompiledTriggers::new(skills)),
            places,
        }
    }

    /// Returns the same skills with their numbers in another snapshot.
    pub(super) fn moved(&self, all: &[(u32, Arc<Skill>)]) -> Self {
        let places: HashMap<*const Skill, u32> = all
            .iter()
            .map(|(at, skill)| (Arc::as_ptr(skill), *at))
            .collect();
        let skills = self.compiled.skills.iter();
        Self {
            places: skills
                .map(|skill| places.get(&Arc::as_ptr(skill)).copied().unwrap_or(GONE))
                .collect(),
            compiled: Arc::clone(&self.compiled),
        }
    }

    /// Returns the same skills without some numbers, which are in order.
    pub(super) fn without(&self, gone: &[u32]) -> Self {
        let mut places = self.places.clone();
        for at in &mut places {
            if gone.binary_search(at).is_ok() {
                *at = GONE;
            }
        }
        Self {
            places,
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

    /// Returns the places of the skills that have a trigger which could match.
    pub(super) fn with_triggers(&self) -> impl Iterator<Item = u32> {
        let places = self.places.iter().zip(&self.compiled.has_triggers);
        places
            .filter(|(at, has_triggers)| **has_triggers && **at != GONE)
            .map(|(at, _)| *at)
    }

    /// Returns whether a skill has a pattern that is used.
    pub(super) fn has_patterns(&self) -> bool {
        !self.compiled.patterns.is_empty()
    }

    /// Adds the best reason for each skill that matches.
    pub(super) fn find(&self, message: &Message<'_>, hits: &mut Vec<TriggerHit>) {
        let mut best: Vec<u32> = vec![u32::MAX; self.places.len()];
        let mut take = |slot: u32, signal: Signal, reason: Reason| {
            let at = self.places[slot as usize];
            if at == GONE {
                return;
            }
            let trigger = (!matches!(reason, Reason::Name(_))).then_some((signal, reason));
            let known = &mut best[slot as usize];
            if *known == u32::MAX {
                *known = u32::try_from(hits.len()).unwrap_or(u32::MAX);
                hits.push(TriggerHit {
                    at,
                    signal,
                    reason,
                    trigger,
                });
                return;
            }
            let hit = &mut hits[*known as usize];
            if hit.signal < signal {
                (hit.signal, hit.reason) = (signal, reason);
            }
            let is_better = |(signal, _)| hit.trigger.is_none_or(|(best, _)| best < signal);
            if trigger.is_some_and(is_better) {
                hit.trigger = trigger;
            }
        };
        self.compiled.literals.find(message, |used, found| {
            if let Some(signal) = signal(used, found, message) {
                let reason = match used.trigger {
                    None => Reason::Name(found),
                    Some(number) => Reason::Literal(number, found),
                };
                take(used.slot, signal, reason);
            }
        });
        if self.compiled.patterns.is_empty() {
            return;
        }
        self.compiled.patterns.find(&message.looked, |owner| {
            let reason = Reason::Pattern(owner.trigger);
            take(owner.slot, Signal::Trigger, reason);
        });
    }
}

impl CompiledTriggers {
    fn new(skills: Vec<Arc<Skill>>) -> Self {
        let mut literals = LiteralsBuilder::default();
        let mut owners = Vec::new();
        let mut has_triggers = vec![false; skills.len()];
        for (slot, skill) in (0_u32..).zip(&skills) {
            let name = canonical(skill.manifest.name().as_str());
            literals.add(&name, slot, None, WordBoundary::Yes);
            if name.contains('-') {
                literals.add(&name.replace('-', "_"), slot, None, WordBoundary::Yes);
            }
            for (number, trigger) in (0_u32..).zip(triggers(&skill.manifest)) {
                if let Trigger::Part(text) | Trigger::Word(text) = trigger {
                    has_triggers[slot as usize] |= !text.trim().is_empty();
                }
                match trigger {
                    Trigger::Part(text) => literals.add(text, slot, Some(number), WordBoundary::No),
                    Trigger::Word(text) => {
                        literals.add(text, slot, Some(number), WordBoundary::Yes)
                    }
                    Trigger::Pattern(pattern) => owners.push((
                        PatternOwner {
                            slot,
                            trigger: number,
                        },
                        pattern,
                    )),
                }
            }
        }
        let mut findings = Vec::new();
        let patterns = Patterns::new(&owners, |slot, finding| {
            findings.push((slot, finding));
        });
        for owner in patterns.owners() {
            has_triggers[owner.slot as usize] = true;
        }
        Self {
            literals: literals.build(),
            patterns,
            has_triggers,
            findings,
            skills,
        }
    }
}

/// Returns what is wrong with the triggers of a skill: patterns that cannot be used.
///
/// ```
/// use skillfold_core::{check_triggers, parse};
///
/// let file = b"---\nname: mail\ndescription: d\ntriggers: { patterns: ['order #(\\d+'] }\n---\n";
/// let manifest = parse(file, "mail").manifest.unwrap();
/// assert_eq!(check_triggers(&manifest)[0].code.to_string(), "SF751");
/// ```
pub fn check_triggers(manifest: &Manifest) -> Vec<Diagnostic> {
    let patterns = triggers(manifest).filter_map(|trigger| match trigger {
        Trigger::Pattern(pattern) => Some((
            PatternOwner {
                slot: 0,
                trigger: 0,
            },
            pattern,
        )),
        Trigger::Part(_) | Trigger::Word(_) => None,
    });
    let mut findings = Vec::new();
    Patterns::new(&patterns.collect::<Vec<_>>(), |_, finding| {
        findings.push(finding);
    });
    findings
}
