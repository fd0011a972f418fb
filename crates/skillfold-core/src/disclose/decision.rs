//! What becomes of each skill that fits a message: its instructions, a line about it, or one about another.

use std::cell::OnceCell;

use crate::catalog::entry::Entry;
use crate::choose::matcher::Candidate;
use crate::choose::rank::rank;
use crate::choose::restraint::{
    Denials, NearExclusion, Restraint, is_for_any_task, near_exclusion,
};
use crate::choose::signal::Signal;
use crate::disclose::memory::{Memory, RepeatedSkill};
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::policy::Policy;
use crate::disclose::text::TurnText;
use crate::disclose::visible::{SuggestedSkill, VisibleSkillMatcher};
use crate::load::loader::Loader;
use crate::search::query::Query;

/// The decision about a skill that matched.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// The skill's id.
    pub id: Box<str>,
    /// What made the skill match.
    pub signal: Signal,
    /// The part of the skill that matched, such as its name or a trigger.
    pub evidence: Box<str>,
    /// How likely the skill is the right one, from 0 to 1: the score of the search, or fixed per kind of [`Signal`].
    /// `None` for a skill that is given again.
    pub confidence: Option<f32>,
    /// What was done with the skill.
    pub outcome: SkillOutcome,
    /// Why its instructions were held back, or another skill's; `None` if nothing was.
    pub restraint: Option<Restraint>,
}

impl Decision {
    /// Returns the decision about a skill that is given again.
    pub(super) fn again(id: Box<str>, outcome: SkillOutcome) -> Self {
        Self {
            id,
            signal: Signal::Earlier,
            evidence: "".into(),
            confidence: None,
            outcome,
            restraint: None,
        }
    }
}

/// The skills that match a message, and those that a search suggests for it.
pub(super) struct TurnCandidates<'a> {
    pub(super) message: &'a str,
    /// The words of the message, once they are needed.
    pub(super) query: OnceCell<Query>,
    pub(super) denials: Denials,
    pub(super) matched: Vec<Candidate<'a>>,
    pub(super) suggested: Vec<SuggestedSkill<'a>>,
}

/// Decides about the skills that match, those that are suggested, and those that are given again, and returns the text.
pub(super) fn disclose_skills(
    skills: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    policy: &Policy,
    mut candidates: TurnCandidates<'_>,
    decisions: &mut Vec<Decision>,
) -> Option<String> {
    let memory = skills.memory;
    let matched = std::mem::take(&mut candidates.matched).into_iter();
    let matched = matched.filter(|candidate| memory.may_see(candidate.entry.id()));
    let matched = matched.collect();
    let (mut ranked, repeated) = if policy.is_triggers_only() {
        (matched, Vec::new())
    } else {
        (rank(matched, |id| memory.last_used(id)), memory.repeated())
    };
    let is_sure = |candidate: &Candidate<'_>| {
        policy.is_triggers_only() || candidate.signal == Signal::Mention
    };
    // What would hold a skill back does not take it from a conversation that has it.
    let is_kept = |entry: &Entry<'_>| {
        repeated.iter().any(|skill| &*skill.id == entry.id())
            && (is_for_any_task(entry) || candidates.near_exclusion(entry).is_some())
    };
    ranked.retain(|candidate| is_sure(candidate) || !is_kept(&candidate.entry));
    let suggested = candidates.suggested.iter();
    let suggested: Vec<&SuggestedSkill<'_>> = suggested
        .filter(|suggested| !is_kept(&suggested.entry))
        .collect();
    let mut text = TurnText::new(policy, "matched");
    let is_suggested = |candidate: &Candidate<'_>| {
        let mut suggested = suggested.iter();
        suggested.any(|suggested| suggested.entry.id() == candidate.entry.id())
    };
    let mut excluded = Vec::new();
    for candidate in &ranked {
        let is_weak = policy.is_weak(candidate);
        if is_weak && is_suggested(candidate) {
            continue;
        }
        let found = Found {
            entry: &candidate.entry,
            signal: candidate.signal,
            evidence: candidate.evidence().into(),
            confidence: candidate.signal.confidence(),
        };
        if !is_sure(candidate)
            && let Some(near) = candidates.near_exclusion(&candidate.entry)
        {
            excluded.push((found, near));
            continue;
        }
        let restraint = had_before(&candidate.entry, memory).filter(|_| !is_sure(candidate));
        let outcome = if is_weak || restraint.is_some() {
            text.mention(&candidate.entry, memory)
        } else {
            text.tell(&candidate.entry, loader, memory)
        };
        decisions.push(found.decision(outcome, restraint));
    }
    for (found, near) in excluded {
        found.decide_excluded(&near, &candidates.denials, skills, &mut text, decisions);
    }
    add_suggestions(
        skills,
        loader,
        &mut text,
        &candidates,
        &suggested,
        decisions,
    );
    add_repeated(
        skills,
        loader,
        &mut text,
        repeated,
        &candidates.denials,
        decisions,
    );
    text.finish()
}

/// Adds the skills that are given again, unless the message says not to use them.
fn add_repeated(
    skills: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    text: &mut TurnText<'_>,
    repeated: Vec<RepeatedSkill>,
    denials: &Denials,
    decisions: &mut Vec<Decision>,
) {
    let memory = skills.memory;
    for RepeatedSkill { id, arguments } in repeated {
        let entry = skills.matcher.catalog().resolve_for_model(&id).ok();
        let entry = entry.filter(|entry| {
            let is_denied = denials.has(entry.manifest().name().as_str());
            !is_decided(decisions, &id) && memory.may_see(&id) && !is_denied
        });
        if let Some(entry) = entry {
            let outcome = text.add(&entry, &arguments, loader, memory);
            decisions.push(Decision::again(id, outcome));
        }
    }
}

impl TurnCandidates<'_> {
    /// Returns what a skill says that it is not for, if the message is near it.
    fn near_exclusion(&self, entry: &Entry<'_>) -> Option<NearExclusion> {
        let query = || self.query.get_or_init(|| Query::new(self.message));
        near_exclusion(query, entry)
    }
}

/// Returns the second suggestion if it is likely enough for a line: then the first is not alone. A skill that the model has, or
/// that the message is near an exclusion of, does not count.
fn alike<'s, 'e>(
    suggested: &[&'s SuggestedSkill<'e>],
    candidates: &TurnCandidates<'_>,
    policy: &Policy,
    memory: &dyn Memory,
) -> Option<&'s SuggestedSkill<'e>> {
    let [first, second, ..] = suggested else {
        return None;
    };
    let is_known = |suggested: &SuggestedSkill<'_>| {
        let id = suggested.entry.id();
        memory.knows(id) || memory.last_used(id).is_some()
    };
    let show_from = policy.suggestions?.show_from;
    let is_likely = second.confidence >= policy.bars.bar(second.entry.id(), show_from);
    let counts = is_likely
        && !is_known(first)
        && !is_known(second)
        && candidates.near_exclusion(&second.entry).is_none();
    counts.then_some(*second)
}

/// A skill that fits a message, and why.
struct Found<'f, 'e> {
    entry: &'f Entry<'e>,
    signal: Signal,
    evidence: Box<str>,
    confidence: Option<f32>,
}

impl<'f, 'e> Found<'f, 'e> {
    fn new(suggested: &'f SuggestedSkill<'e>) -> Self {
        Self {
            entry: &suggested.entry,
            signal: Signal::Search,
            evidence: suggested.evidence.clone(),
            confidence: Some(suggested.confidence),
        }
    }

    fn decision(&self, outcome: SkillOutcome, restraint: Option<Restraint>) -> Decision {
        Decision {
            id: self.entry.id().into(),
            signal: self.signal,
            evidence: self.evidence.clone(),
            confidence: self.confidence,
            outcome,
            restraint,
        }
    }

    /// Decides about a skill that says it is not for such messages: it gets a line, or the skill that it points to does.
    fn decide_excluded(
        &self,
        near: &NearExclusion,
        denials: &Denials,
        skills: &VisibleSkillMatcher<'_>,
        text: &mut TurnText<'_>,
        decisions: &mut Vec<Decision>,
    ) {
        let memory = skills.memory;
        let id = self.entry.id();
        let names = near.names.iter().filter_map(|name| {
            let entry = skills.matcher.catalog().get(name)?;
            let is_other = entry.id() != id && entry.is_visible() && memory.may_see(entry.id());
            (is_other && !denials.has(name)).then_some(entry)
        });
        let mut others: Vec<Entry<'_>> = names.collect();
        others.dedup_by(|one, other| one.id() == other.id());
        if others.is_empty() {
            let outcome = text.mention_in_doubt(self.entry, memory);
            let restraint = Restraint::Excluded(near.text.clone());
            decisions.push(self.decision(outcome, Some(restraint)));
        }
        for entry in others {
            if !is_decided(decisions, entry.id()) {
                let outcome = text.mention(&entry, memory);
                let restraint = Restraint::InsteadOf(id.into(), near.text.clone());
                decisions.push(Decision {
                    id: entry.id().into(),
                    evidence: id.into(),
                    ..self.decision(outcome, Some(restraint))
                });
            }
        }
    }
}

fn is_decided(decisions: &[Decision], id: &str) -> bool {
    decisions.iter().any(|decision| &*decision.id == id)
}

/// Returns why a skill is not given again unasked: nearly any task would start it, and the conversation had it.
fn had_before(entry: &Entry<'_>, memory: &dyn Memory) -> Option<Restraint> {
    let had = memory.last_used(entry.id()).is_some() && !memory.knows(entry.id());
    (had && is_for_any_task(entry)).then_some(Restraint::AnyTask)
}

/// Adds the suggested skills: the instructions of the most likely one if it is above the threshold and nothing speaks against
/// it, and lines about the others. A skill gets none if the model already has one, or there is no room.
fn add_suggestions(
    skills: &VisibleSkillMatcher<'_>,
    loader: &Loader,
    text: &mut TurnText<'_>,
    candidates: &TurnCandidates<'_>,
    all: &[&SuggestedSkill<'_>],
    decisions: &mut Vec<Decision>,
) {
    let policy = text.policy();
    let Some(thresholds) = policy.suggestions else {
        return;
    };
    let memory = skills.memory;
    let alike = alike(all, candidates, policy, memory);
    for (rank, suggested) in all.iter().enumerate() {
        let entry = &suggested.entry;
        if is_decided(decisions, entry.id()) {
            continue;
        }
        let found = Found::new(suggested);
        let is_above = |bar| suggested.confidence >= policy.bars.bar(entry.id(), bar);
        let is_certain = rank == 0 && is_above(thresholds.give_from);
        let has_no_line = skills.has_complete_listing() || !is_above(thresholds.show_from);
        if !is_certain && has_no_line {
            continue;
        }
        if let Some(near) = candidates.near_exclusion(entry) {
            found.decide_excluded(&near, &candidates.denials, skills, text, decisions);
            continue;
        }
        let restraint = had_before(entry, memory);
        if is_certain
            && restraint.is_none()
            && let Some(second) = alike.filter(|second| !is_decided(decisions, second.entry.id()))
        {
            let pair = [entry, &second.entry];
            let outcomes = text.mention_alike(pair, memory);
            let [first_outcome, second_outcome] = outcomes;
            let other = |entry: &Entry<'_>| Some(Restraint::Alike(entry.id().into()));
            decisions.push(found.decision(first_outcome, other(&second.entry)));
            decisions.push(Found::new(second).decision(second_outcome, other(entry)));
            continue;
        }
        if is_certain && restraint.is_none() {
            let outcome = text.tell(entry, loader, memory);
            decisions.push(found.decision(outcome, None));
            continue;
        }
        let outcome = text.mention(entry, memory);
        if is_certain || matches!(outcome, SkillOutcome::Suggested | SkillOutcome::Named) {
            decisions.push(found.decision(outcome, restraint));
        }
    }
}
