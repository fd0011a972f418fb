//! The text of a turn: instructions, and lines about skills that were not given, within a budget.

use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::diagnostic::visible;
use crate::disclose::clip::clip;
use crate::disclose::memory::Memory;
use crate::disclose::outcome::SkillOutcome;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::style::Style;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;
use crate::load::render::LoadedText;
use crate::search::fields::purpose_sentences;
use crate::search::shared_terms::shared_terms;

/// Maximum lines about skills that matched but were not given.
const MAX_LINES: usize = 5;

/// Maximum skills of the client's own that are named.
const MAX_NAMES: usize = 3;

/// Maximum words that tell a skill from another.
const MAX_DIFFERENT_WORDS: usize = 5;

/// Separates two parts of the text.
const SEPARATOR: &str = "\n\n";

/// Renders a skill's instructions as a turn gives them: in the envelope of the style, under its heading.
pub(crate) fn render_body(
    entry: &Entry<'_>,
    instructions: Arc<Instructions>,
    loader: &Loader,
    style: Style,
) -> LoadedText {
    let mut body = loader.wrap(entry, instructions, style.envelope());
    body.text.insert_str(0, &style.body_heading(entry.id()));
    body
}

/// The text of a turn, within its budget.
pub(super) struct TurnText<'p> {
    policy: &'p Policy,
    bodies: Vec<String>,
    /// The ids of skills that the client loads itself.
    names: Vec<Box<str>>,
    /// Whether one of these may be the wrong one.
    has_doubt: bool,
    /// Lines about skills that matched but were not given.
    lines: Vec<String>,
    /// The number of skills that matched but did not even get a line.
    omitted: usize,
    /// What all parts take of the budget, including a reserve for the line that counts the omitted skills.
    used: u64,
    given: usize,
    /// The number of skills whose instructions were loaded, or failed to load.
    attempted: usize,
    /// Why the skills are in the text, for the line of a skill that is not given: `matched` or `used before`.
    reason: &'static str,
}

impl<'p> TurnText<'p> {
    /// Creates an empty text; the line of a skill that is not given starts with `reason`.
    pub(super) fn new(policy: &'p Policy, reason: &'static str) -> Self {
        let last = policy.style.more_line(usize::MAX, &policy.tools);
        let fixed = [policy.style.bodies_heading(), SEPARATOR, &last];
        let measure = |text: &str| policy.bodies.measure(text, &*policy.counter);
        Self {
            used: fixed.iter().map(|text| measure(text)).sum(),
            policy,
            bodies: Vec::new(),
            names: Vec::new(),
            has_doubt: false,
            lines: Vec::new(),
            omitted: 0,
            given: 0,
            attempted: 0,
            reason,
        }
    }

    pub(super) fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// Adds the instructions of a skill, unless only lines are to be added, or the client loads it itself.
    pub(super) fn tell(
        &mut self,
        entry: &Entry<'_>,
        loader: &Loader,
        memory: &dyn Memory,
    ) -> SkillOutcome {
        if self.policy.max_skills == 0 || self.policy.is_loaded_by_client(entry) {
            self.mention(entry, memory)
        } else {
            self.add(entry, "", loader, memory)
        }
    }

    /// Adds a line about a skill, unless the model knows of it.
    pub(super) fn mention(&mut self, entry: &Entry<'_>, memory: &dyn Memory) -> SkillOutcome {
        let id = entry.id();
        if memory.knows(id) {
            SkillOutcome::Known
        } else if self.policy.is_loaded_by_client(entry) && self.name(id) {
            SkillOutcome::Named
        } else if !self.policy.is_loaded_by_client(entry) && self.suggest(entry) {
            SkillOutcome::Suggested
        } else {
            SkillOutcome::Later
        }
    }

    /// Adds a line about a skill that may be the wrong one.
    pub(super) fn mention_in_doubt(
        &mut self,
        entry: &Entry<'_>,
        memory: &dyn Memory,
    ) -> SkillOutcome {
        let outcome = self.mention(entry, memory);
        self.has_doubt |= matches!(outcome, SkillOutcome::Named);
        outcome
    }

    /// Adds one line about two skills that fit alike, with what tells them apart.
    pub(super) fn mention_alike(
        &mut self,
        pair: [&Entry<'_>; 2],
        memory: &dyn Memory,
    ) -> [SkillOutcome; 2] {
        let is_apart =
            |entry: &Entry<'_>| memory.knows(entry.id()) || self.policy.is_loaded_by_client(entry);
        if pair.into_iter().any(is_apart) {
            return pair.map(|entry| self.mention(entry, memory));
        }
        let [first, second] = pair;
        let note = format!(
            "or `{}` may fit, call {} for the one that does{}",
            visible(second.id()),
            self.policy.tools.load,
            difference(pair),
        );
        let line = self.policy.style.skill_line(first.id(), &note);
        if self.push_suggestion(line) {
            [SkillOutcome::Suggested, SkillOutcome::Suggested]
        } else {
            [SkillOutcome::Later, SkillOutcome::Later]
        }
    }

    /// Adds the instructions of a skill, or a line about it.
    pub(super) fn add(
        &mut self,
        entry: &Entry<'_>,
        arguments: &str,
        loader: &Loader,
        memory: &dyn Memory,
    ) -> SkillOutcome {
        let max_skills = self.policy.max_skills;
        if self.given >= max_skills || self.attempted >= max_skills.saturating_mul(2) {
            // With triggers only, the model has no tool to load the other skills.
            if self.policy.mode != Mode::Triggered || !self.policy.is_triggers_only() {
                self.push_line(entry.id(), self.reason);
            }
            return SkillOutcome::Later;
        }
        let style = self.policy.style;
        let instructions = match loader.load(entry, arguments) {
            Ok(instructions) => instructions,
            Err(error) => {
                self.attempted += 1;
                let text = style.envelope().render_failure(entry.id(), &error);
                self.try_push_body(text);
                return SkillOutcome::Failed(error);
            }
        };
        if memory.has_instructions(&instructions) {
            return SkillOutcome::Known;
        }
        self.attempted += 1;
        let body = render_body(entry, instructions, loader, style);
        let tokens = self.policy.counter.count(&body.text);
        if self.try_push_body(body.text) {
            self.given += 1;
            SkillOutcome::Given(tokens, body.instructions, body.notes)
        } else if memory.knows(entry.id()) {
            // A line has said so.
            SkillOutcome::Known
        } else {
            self.push_line(entry.id(), &format!("{}, {tokens} tokens", self.reason));
            SkillOutcome::NoRoom(tokens)
        }
    }

    /// Adds a line about a suggested skill and returns true, if there is room for it.
    fn suggest(&mut self, entry: &Entry<'_>) -> bool {
        let policy = self.policy;
        let description = clip(
            entry.manifest().description(),
            0,
            policy.suggestion_characters,
        );
        let note = format!("may fit, call {}: {description}", policy.tools.load);
        let line = policy.style.skill_line(entry.id(), &note);
        self.push_suggestion(line)
    }

    /// Adds a line and returns true, if there is room for it.
    fn push_suggestion(&mut self, line: String) -> bool {
        let has_room = self.lines.len() < MAX_LINES && self.try_reserve(&[&line]);
        if has_room {
            self.lines.push(line);
        }
        has_room
    }

    /// Names a skill that the client loads itself and returns true, if there is room for it.
    fn name(&mut self, id: &str) -> bool {
        let has_room =
            self.names.len() < MAX_NAMES && self.try_reserve(&[&names_line(&[id], false)]);
        if has_room {
            self.names.push(id.into());
        }
        has_room
    }

    /// Adds instructions and returns true, if there is room for them.
    fn try_push_body(&mut self, text: String) -> bool {
        let has_room = self.try_reserve(&[&text, SEPARATOR]);
        if has_room {
            self.bodies.push(text);
        }
        has_room
    }

    /// Adds a line about a skill, or counts the skill as omitted if there is no room.
    fn push_line(&mut self, id: &str, note: &str) {
        let policy = self.policy;
        let note = format!("{note}: call {}", policy.tools.load);
        let line = policy.style.skill_line(id, &note);
        if self.lines.len() < MAX_LINES && self.try_reserve(&[&line]) {
            self.lines.push(line);
        } else {
            self.omitted += 1;
        }
    }

    /// Takes the size of some texts from the budget and returns true, if enough is left.
    fn try_reserve(&mut self, texts: &[&str]) -> bool {
        let Policy {
            bodies, counter, ..
        } = self.policy;
        let size: u64 = texts
            .iter()
            .map(|text| bodies.measure(text, &**counter))
            .sum();
        let has_room = self.used.saturating_add(size) <= bodies.limit;
        if has_room {
            self.used += size;
        }
        has_room
    }

    /// Returns the text, unless it is empty.
    pub(super) fn finish(mut self) -> Option<String> {
        let policy = self.policy;
        if self.omitted > 0 && self.used <= policy.bodies.limit {
            self.lines
                .push(policy.style.more_line(self.omitted, &policy.tools));
        }
        if !self.names.is_empty() {
            self.lines
                .insert(0, names_line(&self.names, self.has_doubt));
        }
        if self.bodies.is_empty() && self.lines.is_empty() {
            return None;
        }
        let mut text = String::new();
        if !self.bodies.is_empty() {
            text.push_str(policy.style.bodies_heading());
            text.push_str(&self.bodies.join(SEPARATOR));
        }
        if !self.lines.is_empty() && !text.is_empty() {
            text.push_str(SEPARATOR);
        }
        text.extend(self.lines);
        Some(text)
    }
}

/// Returns what each of two skills says that it is about and the other does not, as the end of a sentence.
fn difference(pair: [&Entry<'_>; 2]) -> String {
    let purpose = pair.map(|entry| purpose_sentences(entry.manifest().description()).join(" "));
    let [first, second] = pair.map(|entry| entry.manifest().name().as_str());
    let words = |own: &str, other: &str| {
        let words = shared_terms(&[own], &[other, first, second], MAX_DIFFERENT_WORDS);
        let words: Vec<String> = words.into_iter().map(|term| term.word).collect();
        words.join(", ")
    };
    let only = [
        words(&purpose[0], &purpose[1]),
        words(&purpose[1], &purpose[0]),
    ];
    let parts = pair
        .into_iter()
        .zip(only)
        .filter(|(_, words)| !words.is_empty());
    let parts =
        parts.map(|(entry, words)| format!("only `{}` mentions {words}", visible(entry.id())));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("; {}", parts.join("; "))
    }
}

/// Returns the line that names skills which the client loads itself.
fn names_line(ids: &[impl AsRef<str>], has_doubt: bool) -> String {
    let names = ids
        .iter()
        .map(|id| format!("`{}`", visible(id.as_ref()).replace('`', "\\u{60}")));
    let names: Vec<_> = names.collect();
    match &names[..] {
        [name] if has_doubt => format!("The skill {name} may fit; if so, load it first.\n"),
        [name] => format!("The skill {name} fits this request; load it first.\n"),
        names => format!(
            "The skills {} may fit this request; load the one that does first.\n",
            names.join(", ")
        ),
    }
}
