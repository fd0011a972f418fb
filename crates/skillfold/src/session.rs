//! One conversation of a host.

use std::sync::Arc;

use skillfold_core::{
    Budget, Catalog, Envelope, Error, Explanation, Feedback, Instructions, Listing, LoadedText,
    Loader, Memory as _, Policy, Session as Remembered, Turn,
};

use crate::skills::Skills;

/// One conversation: what a model is told of skills, turn by turn. Each turn is of one snapshot, the newest.
#[derive(Clone, Debug)]
pub struct Session {
    skills: Skills,
    policy: Policy,
    remembered: Remembered,
}

impl Session {
    pub(crate) fn new(skills: Skills, policy: Policy, remembered: Remembered) -> Self {
        Self {
            skills,
            policy,
            remembered,
        }
    }

    /// Begins a conversation inside this one, which may see only some of what this one may see. An id that leads to
    /// nothing here is an error.
    pub fn child<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<Self, Error> {
        let remembered = |catalog: &Catalog, _: &Loader| self.remembered.child(catalog, ids);
        Ok(Self {
            remembered: self.skills.with_now(remembered)?,
            skills: self.skills.clone(),
            policy: self.policy.clone(),
        })
    }

    /// Returns the listing: a line for each skill, the same bytes while the skills are the same. Where they change
    /// later, turns tell the difference to it.
    pub fn listing(&mut self) -> Listing {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        self.skills
            .with_now(|catalog, _| remembered.listing(catalog, policy))
    }

    /// Decides what the latest message of the user adds to what the model was told.
    pub fn turn(&mut self, message: &str) -> Turn {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        let turn = self
            .skills
            .with_matcher(|matcher, loader| remembered.turn(matcher, loader, policy, message));
        self.skills.counted(&turn);
        turn
    }

    /// Explains what a message would add, and why the skills that `ids` lead to would not be chosen. Nothing is
    /// remembered. The answer is for people: it speaks of skills that the conversation may not see.
    pub fn why(&self, message: &str, ids: &[&str]) -> Result<Explanation, Error> {
        self.skills.with_matcher(|matcher, loader| {
            let remembered = &self.remembered;
            remembered.why(matcher, loader, &self.policy, message, ids)
        })
    }

    /// Loads a skill that the model asked for: always the whole of it.
    pub fn load(&mut self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        let loaded = self
            .skills
            .with_now(|catalog, loader| remembered.load(catalog, loader, policy, id, arguments));
        self.skills.noted(loaded)
    }

    /// Says what became of a skill: an event, and a number of [`Counters`](crate::Counters). `skillfold stats` reads the
    /// events as `TraceLines` writes them, and says how well skills are chosen over time.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{ContextLifetime, MemorySource, Policy, Feedback}};
    /// # let file = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
    /// session.turn("Say bonjour to Alice");
    /// // The model greets as the skill says.
    /// session.record_feedback("greet", Feedback::Used)?;
    /// assert_eq!(skills.counters().used, 1);
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn record_feedback(&self, id: &str, verdict: Feedback) -> Result<(), Error> {
        let said =
            |catalog: &Catalog, _: &Loader| self.remembered.record_feedback(catalog, id, verdict);
        self.skills.with_now(said)?;
        self.skills.counted_verdict(verdict);
        Ok(())
    }

    /// Loads a skill that the model asked for, and puts it into an envelope.
    pub fn render(
        &mut self,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        let rendered = self.skills.with_now(|catalog, loader| {
            let instructions = remembered.load(catalog, loader, policy, id, arguments)?;
            let entry = catalog.resolve_for_model(instructions.id())?;
            Ok(loader.wrap(&entry, instructions, envelope))
        });
        self.skills.noted(rendered)
    }

    /// Notes that the model got a text that it asked for, which the host still had: a conversation like this one rendered
    /// it with these arguments and for so many tokens, and it [is current](Skills::is_current).
    pub fn render_again(&mut self, loaded: &LoadedText, arguments: &str, tokens: u64) {
        self.remembered
            .load_again(&loaded.instructions, arguments, tokens);
    }

    /// Says what to give again after the conversation was cut short, within a budget. If the listing was cut too, it is
    /// taken anew by [`listing`](Self::listing).
    pub fn after_compaction(&mut self, budget: Budget) -> Turn {
        let (policy, remembered) = (&self.policy, &mut self.remembered);
        let turn = self.skills.with_now(|catalog, loader| {
            remembered.after_compaction(catalog, loader, policy, budget)
        });
        self.skills.counted_again(&turn);
        turn
    }

    /// Returns the tokens of the instructions of all skills that the conversation may see: what telling everything would
    /// cost. Every one of them is read.
    pub fn eager_tokens(&self) -> u64 {
        let count = |text: &str| self.policy.counter.count(text);
        self.skills.with_now(|catalog, loader| {
            let visible = catalog.visible();
            let seen = visible.filter(|entry| self.remembered.may_see(entry.id()));
            let loaded = seen.filter_map(|entry| loader.load(&entry, "").ok());
            loaded.map(|loaded| count(loaded.body())).sum()
        })
    }

    /// Returns how much a model is told, and when.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns what the conversation knows, to be written down.
    pub fn state(&self) -> &Remembered {
        &self.remembered
    }
}
