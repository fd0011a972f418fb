//! The instructions of a turn and the lines about what is not given, within their budget.

use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::disclose::clip::clip;
use crate::disclose::listing::described;
use crate::disclose::memory::Memory;
use crate::disclose::policy::{Mode, Policy};
use crate::disclose::style::Style;
use crate::disclose::turn::Outcome;
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;
use crate::load::render::LoadedText;

/// Lines about skills that matched and are not given.
const LINES: usize = 5;

/// Characters of a description that a line about a skill has which may fit.
const SUGGESTED: usize = 120;

/// What stands between two parts.
const BETWEEN: &str = "\n\n";

/// Returns a skill's instructions as they are given unasked: in their envelope, under their heading.
pub(crate) fn body(
    entry: &Entry<'_>,
    instructions: Arc<Instructions>,
    loader: &Loader,
    style: Style,
) -> LoadedText {
    let mut given = loader.wrap(entry, instructions, style.envelope());
    given.text.insert_str(0, &style.body_heading(entry.id()));
    given
}

/// The text of a turn, within its budget.
pub(super) struct TurnText<'p> {
    policy: &'p Policy,
    bodies: Vec<String>,
    /// Lines about what matched and is not given.
    lines: Vec<String>,
    /// How many more matched.
    more: usize,
    /// What all parts take, with what is kept for the line that counts the others.
    used: u64,
    given: usize,
    /// Skills that were loaded to be given, or could not be.
    tried: usize,
    /// What is said of a skill that is not given.
    why: &'static str,
}

impl<'p> TurnText<'p> {
    /// Begins a text; `why` is said of a skill that is not given.
    pub(super) fn new(policy: &'p Policy, why: &'static str) -> Self {
        let last = policy.style.more(usize::MAX, &policy.tools);
        let fixed = [policy.style.bodies_head(), BETWEEN, &last];
        let measure = |text: &str| policy.bodies.measure(text, &*policy.counter);
        Self {
            used: fixed.iter().map(|text| measure(text)).sum(),
            policy,
            bodies: Vec::new(),
            lines: Vec::new(),
            more: 0,
            given: 0,
            tried: 0,
            why,
        }
    }

    /// Returns by which policy it is made.
    pub(super) fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// Adds a skill that matched, or a line about it.
    pub(super) fn add(
        &mut self,
        entry: &Entry<'_>,
        arguments: &str,
        loader: &Loader,
        memory: &dyn Memory,
    ) -> Outcome {
        let most = self.policy.max_skills;
        if self.given >= most || self.tried >= most.saturating_mul(2) {
            // Where triggers alone bring instructions, a model has nothing to load the others with.
            if self.policy.mode != Mode::Triggered || !self.policy.is_by_triggers() {
                self.line(entry.id(), self.why);
            }
            return Outcome::Later;
        }
        let style = self.policy.style;
        let instructions = match loader.load(entry, arguments) {
            Ok(instructions) => instructions,
            Err(error) => {
                self.tried += 1;
                let text = style.envelope().render_failure(entry.id(), &error);
                self.take(text);
                return Outcome::Failed(error);
            }
        };
        if memory.has(&instructions) {
            return Outcome::Known;
        }
        self.tried += 1;
        let given = body(entry, instructions, loader, style);
        let tokens = self.policy.counter.count(&given.text);
        if self.take(given.text) {
            self.given += 1;
            Outcome::Given(tokens, given.instructions, given.notes)
        } else {
            self.line(entry.id(), &format!("{}, {tokens} tokens", self.why));
            Outcome::NoRoom(tokens)
        }
    }

    /// Adds a line about a skill that a message may be about, if there is room for one.
    pub(super) fn suggest(&mut self, entry: &Entry<'_>) -> bool {
        let policy = self.policy;
        let described = described(entry, policy.style);
        let described = clip(&described, 0, SUGGESTED);
        let what = format!("may fit, call {}: {described}", policy.tools.load);
        let line = policy.style.line(entry.id(), &what);
        let has_room = self.lines.len() < LINES && self.has_room(&[&line]);
        if has_room {
            self.lines.push(line);
        }
        has_room
    }

    /// Takes a text if there is room for it.
    fn take(&mut self, text: String) -> bool {
        let has_room = self.has_room(&[&text, BETWEEN]);
        if has_room {
            self.bodies.push(text);
        }
        has_room
    }

    /// Adds a line about a skill, or counts it.
    fn line(&mut self, id: &str, what: &str) {
        let policy = self.policy;
        let what = format!("{what}: call {}", policy.tools.load);
        let line = policy.style.line(id, &what);
        if self.lines.len() < LINES && self.has_room(&[&line]) {
            self.lines.push(line);
        } else {
            self.more += 1;
        }
    }

    /// Takes what some texts need, if there is so much.
    fn has_room(&mut self, texts: &[&str]) -> bool {
        let Policy {
            bodies, counter, ..
        } = self.policy;
        let more: u64 = texts
            .iter()
            .map(|text| bodies.measure(text, &**counter))
            .sum();
        let has_room = self.used.saturating_add(more) <= bodies.limit;
        if has_room {
            self.used += more;
        }
        has_room
    }

    /// Returns the whole text, if there is any.
    pub(super) fn finish(mut self) -> Option<String> {
        let policy = self.policy;
        if self.more > 0 && self.used <= policy.bodies.limit {
            self.lines.push(policy.style.more(self.more, &policy.tools));
        }
        if self.bodies.is_empty() && self.lines.is_empty() {
            return None;
        }
        let mut text = String::new();
        if !self.bodies.is_empty() {
            text.push_str(policy.style.bodies_head());
            text.push_str(&self.bodies.join(BETWEEN));
        }
        if !self.lines.is_empty() && !text.is_empty() {
            text.push_str(BETWEEN);
        }
        text.extend(self.lines);
        Some(text)
    }
}
