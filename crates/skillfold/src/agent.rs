//! The skills of a host as one agent has them.

use std::ops::RangeBounds;
use std::sync::Arc;

use skillfold_core::{
    Agent, AgentView, ComposedInstructions, ContextLifetime, Cursor, Entry, Envelope, Error,
    FileContent, FileList, Instructions, LoadedText, Loader, MissingSkill, Policy,
    Session as Remembered, compose_instructions,
};

use crate::session::Session;
use crate::skills::Skills;

/// The skills of a host as one agent has them, live. What the agent does not see is not there.
///
/// ```
/// # use skillfold::{Environment, Host, core::MemorySource};
/// use skillfold::core::{Agent, Visibility};
/// # let file = |name: &str| format!("---\nname: {name}\ndescription: Does {name}\n---\nDo {name}.\n");
/// # let source = MemorySource::new([("mail/SKILL.md", file("mail")), ("pdf/SKILL.md", file("pdf"))]);
/// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
///
/// let clerk = skills.bind(Agent::new("clerk").with_skills(["pdf"]).with_visibility(Visibility::Used));
/// assert_eq!(clerk.compose("You are a clerk.", "")?.text, "You are a clerk.\n\nSkill: pdf\n\nDo pdf.\n");
/// assert!(clerk.load("mail", "").is_err());
/// # Ok::<(), skillfold::core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AgentSkills {
    skills: Skills,
    /// The agents that this one was started by, and itself last.
    line: Vec<Agent>,
}

impl Skills {
    /// Returns the skills as an agent has them. Each call looks at the snapshot of its time.
    pub fn bind(&self, agent: Agent) -> AgentSkills {
        AgentSkills {
            skills: self.clone(),
            line: vec![agent],
        }
    }
}

impl AgentSkills {
    /// Returns the skills as another agent has them that this one starts: it sees what both see.
    #[must_use]
    pub fn narrow(&self, agent: Agent) -> Self {
        let mut narrower = self.clone();
        narrower.line.push(agent);
        narrower
    }

    /// Looks at the skills that the agent sees.
    pub fn with_view<T>(&self, look: impl FnOnce(&AgentView<'_>) -> T) -> T {
        self.with(|seen, _| look(seen))
    }

    /// Returns the skills that the agent names as used and does not have, each with the reason. It is for the host: a model
    /// is told of none of them.
    pub fn missing(&self) -> Vec<MissingSkill> {
        self.with(|seen, _| seen.missing())
    }

    /// Returns the text that the agent begins with: the prompt, the skills that it uses, its own instructions, in this
    /// order. What the agent cannot have is left out and named in [`missing`](ComposedInstructions::missing). Nothing is given if one
    /// of the others cannot be loaded.
    pub fn compose(&self, prompt: &str, inline: &str) -> Result<ComposedInstructions, Error> {
        self.with(|seen, loader| {
            let contents = seen.contents(loader)?;
            let mut composed = compose_instructions(prompt, &contents, inline);
            composed.missing = seen.missing();
            Ok(composed)
        })
    }

    /// Begins a conversation of the agent; see [`Skills::session`]. An agent that sees all is told of skills that come
    /// later, another one only of those that it sees now.
    ///
    /// The skills that it uses are taken to stand in the text that it [begins with](Self::compose), and are not given
    /// again while their files are the same.
    pub fn session(&self, policy: Policy, lives: ContextLifetime) -> Session {
        let remembered = self.with_view(|seen| Remembered::for_agent(lives, seen));
        self.skills.resume(policy, remembered)
    }

    /// Returns the instructions of a skill; see [`Skills::load`].
    pub fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        self.of(id, |entry, loader| loader.load(entry, arguments))
    }

    /// Returns a skill as a model gets it; see [`Skills::render`].
    pub fn render(
        &self,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        self.of(id, |entry, loader| {
            loader.render(entry, arguments, envelope)
        })
    }

    /// Returns the files of a skill; see [`Skills::files`].
    pub fn files(
        &self,
        id: &str,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        self.of(id, |entry, loader| loader.files(entry, cursor, limit))
    }

    /// Returns a file of a skill; see [`Skills::read`].
    pub fn read(&self, id: &str, path: &str) -> Result<FileContent, Error> {
        self.read_range(id, path, ..)
    }

    /// Returns a part of a file of a skill; see [`Skills::read`].
    pub fn read_range(
        &self,
        id: &str,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        self.of(id, |entry, loader| loader.read(entry, path, range))
    }

    fn of<T>(
        &self,
        id: &str,
        act: impl FnOnce(&Entry<'_>, &Loader) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.skills
            .noted(self.with(|seen, loader| act(&seen.resolve(id)?, loader)))
    }

    fn with<T>(&self, act: impl FnOnce(&AgentView<'_>, &Loader) -> T) -> T {
        self.skills.with_now(|catalog, loader| {
            // An agent without a word sees all, and all others are inside of that.
            let mut seen = catalog.view_for(&Agent::new(""));
            for agent in &self.line {
                seen = seen.narrow(agent);
            }
            act(&seen, loader)
        })
    }
}
