//! The compiled triggers of a set of skills.

use std::sync::Arc;

use crate::catalog::canonical::canonical;
use crate::catalog::layers::Layer;
use crate::choose::literals::{LiteralMatch, Literals, LiteralsBuilder, WordBoundary};
use crate::choose::message::Message;
use crate::choose::patterns::{PatternOwner, Patterns};
use crate::choose::signal::{Signal, literal_signal};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Report, quoted};
use crate::read::discover::Skill;
use crate::read::manifest::Manifest;
use crate::read::trigger::{Trigger, triggers};
use crate::search::common_words::is_common_word;

/// The triggers and names of some skills. A skill's slot is its position among them.
pub(super) struct CompiledTriggers {
    literals: Literals,
    patterns: Patterns,
    /// For each slot, whether the skill has a usable trigger.
    has_triggers: Vec<bool>,
    /// Unusable patterns, with the slot of their skill.
    pub(super) findings: Vec<(u32, Diagnostic)>,
}

/// The best match for one skill.
#[derive(Clone, Copy)]
pub(super) struct TriggerHit {
    /// Snapshot index of the skill.
    pub(super) index: u32,
    pub(super) signal: Signal,
    pub(super) reason: Reason,
    /// Best match by a trigger rather than by name.
    pub(super) trigger: Option<(Signal, Reason)>,
    /// Whether several of its triggers match.
    pub(super) has_several: bool,
}

/// What matched: the skill's name or one of its triggers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    Name(LiteralMatch),
    /// A literal, by its index in [`triggers`].
    Literal(u32, LiteralMatch),
    /// A pattern, by its index in [`triggers`].
    Pattern(u32),
}

impl Reason {
    /// Returns the index of the trigger that matched; `None` for a name.
    const fn trigger_index(self) -> Option<u32> {
        match self {
            Self::Name(_) => None,
            Self::Literal(index, _) | Self::Pattern(index) => Some(index),
        }
    }
}

impl Layer<CompiledTriggers> {
    /// Returns the snapshot indices of the skills with a usable trigger.
    pub(super) fn indices_with_triggers(&self) -> impl Iterator<Item = u32> {
        let slots = self.data.has_triggers.iter().enumerate();
        slots
            .filter(|(_, has_triggers)| **has_triggers)
            .filter_map(|(slot, _)| self.snapshot_index(slot))
    }

    /// Returns whether any skill has a usable pattern.
    pub(super) fn has_patterns(&self) -> bool {
        !self.data.patterns.is_empty()
    }

    /// Appends the best hit of each matching skill.
    pub(super) fn collect_hits(&self, message: &Message<'_>, hits: &mut Vec<TriggerHit>) {
        let mut hit_of_slot: Vec<u32> = vec![u32::MAX; self.len()];
        let mut record = |slot: u32, signal: Signal, reason: Reason| {
            let Some(index) = self.snapshot_index(slot as usize) else {
                return;
            };
            let trigger = (!matches!(reason, Reason::Name(_))).then_some((signal, reason));
            let position = &mut hit_of_slot[slot as usize];
            if *position == u32::MAX {
                *position = u32::try_from(hits.len()).unwrap_or(u32::MAX);
                hits.push(TriggerHit {
                    index,
                    signal,
                    reason,
                    trigger,
                    has_several: false,
                });
                return;
            }
            let hit = &mut hits[*position as usize];
            if let (Some((_, first)), Some((_, other))) = (hit.trigger, trigger) {
                hit.has_several |= first.trigger_index() != other.trigger_index();
            }
            if hit.signal < signal {
                (hit.signal, hit.reason) = (signal, reason);
            }
            let is_better = |(signal, _)| hit.trigger.is_none_or(|(best, _)| best < signal);
            if trigger.is_some_and(is_better) {
                hit.trigger = trigger;
            }
        };
        self.data.literals.find(message, |owner, found| {
            if let Some(signal) = literal_signal(owner, found, message) {
                let reason = match owner.trigger {
                    None => Reason::Name(found),
                    Some(trigger) => Reason::Literal(trigger, found),
                };
                record(owner.slot, signal, reason);
            }
        });
        if self.data.patterns.is_empty() {
            return;
        }
        self.data.patterns.find(&message.excerpt, |owner| {
            let reason = Reason::Pattern(owner.trigger);
            record(owner.slot, Signal::Trigger, reason);
        });
    }
}

impl CompiledTriggers {
    pub(super) fn new(skills: &[Arc<Skill>]) -> Self {
        let mut literals = LiteralsBuilder::default();
        let mut owned_patterns = Vec::new();
        let mut has_triggers = vec![false; skills.len()];
        for (slot, skill) in (0_u32..).zip(skills) {
            let name = canonical(skill.manifest.name().as_str());
            literals.add(&name, slot, None, WordBoundary::Yes);
            if name.contains('-') {
                literals.add(&name.replace('-', "_"), slot, None, WordBoundary::Yes);
            }
            for (index, trigger) in (0_u32..).zip(triggers(&skill.manifest)) {
                if let Trigger::Part(text) | Trigger::Word(text) = trigger {
                    has_triggers[slot as usize] |= !text.trim().is_empty();
                }
                match trigger {
                    Trigger::Part(text) => literals.add(text, slot, Some(index), WordBoundary::No),
                    Trigger::Word(text) => literals.add(text, slot, Some(index), WordBoundary::Yes),
                    Trigger::Pattern(pattern) => owned_patterns.push((
                        PatternOwner {
                            slot,
                            trigger: index,
                        },
                        pattern,
                    )),
                }
            }
        }
        let mut findings = Vec::new();
        let patterns = Patterns::new(&owned_patterns, |slot, finding| {
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
        }
    }
}

/// Returns a diagnostic for each trigger of a skill that cannot be used, or that many messages have.
///
/// ```
/// use skillfold_core::choose::check_triggers;
/// use skillfold_core::read::parse;
///
/// let file = b"---\nname: mail\ndescription: d\ntriggers: { patterns: ['order #(\\d+'] }\n---\n";
/// let manifest = parse(file, "mail").manifest.unwrap();
/// assert_eq!(check_triggers(&manifest)[0].code.to_string(), "SF751");
/// ```
pub fn check_triggers(manifest: &Manifest) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut patterns = Vec::new();
    for trigger in triggers(manifest) {
        match trigger {
            Trigger::Pattern(pattern) => {
                let owner = PatternOwner {
                    slot: 0,
                    trigger: 0,
                };
                patterns.push((owner, pattern));
            }
            Trigger::Part(text) | Trigger::Word(text)
                if !text.contains(char::is_whitespace) && is_common_word(text) =>
            {
                let message = format!("Trigger {} is a common word", quoted(text));
                findings.report(Code::TriggerCommon, None, message);
            }
            Trigger::Part(_) | Trigger::Word(_) => {}
        }
    }
    Patterns::new(&patterns, |_, finding| findings.push(finding));
    findings
}
