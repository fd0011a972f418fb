//! A host's skills, restricted to what one agent may see.

use std::ops::RangeBounds;
use std::sync::Arc;

use skillfold_core::bind::{AgentView, ComposedInstructions, MissingSkill, compose_instructions};
use skillfold_core::load::{FileContent, FileList, LoadedText};
use skillfold_core::source::Cursor;
use skillfold_core::{
    Agent, Catalog, ContextLifetime, Entry, Envelope, Error, Instructions, Loader, Policy,
    SessionState,
};

use crate::agents::manifest::is_path;
use crate::conversation::session::Session;
use crate::skills::Skills;

/// A live view of a host's skills, restricted to one agent. Skills that the agent may not see do not exist in it.
///
/// ```
/// # use skillfold::{Environment, Host, core::MemorySource};
/// use skillfold::core::Agent;
/// use skillfold::core::bind::Visibility;
/// # let file = |name: &str| format!("---\nname: {name}\ndescription: Does {name}\n---\nDo {name}.\n");
/// # let source = MemorySource::new([("mail/SKILL.md", file("mail")), ("pdf/SKILL.md", file("pdf"))]);
/// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
///
/// let clerk = skills.bind(Agent::new("clerk").with_skills(["pdf"]).with_visibility(Visibility::Used));
/// assert_eq!(clerk.compose("You are a clerk.", "")?.text, "You are a clerk.\n\nSkill: pdf\n\nDo pdf.\n");
/// assert!(clerk.load("mail", "").is_err());
/// # Ok::<(), skillfold::core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AgentSkills {
    skills: Skills,
    /// The chain of agents that started this one, outermost first, ending with this agent.
    lineage: Vec<Agent>,
}

impl Skills {
    /// Returns the skills as one agent sees them. Each call uses the snapshot that is current at that moment.
    pub fn bind(&self, agent: Agent) -> AgentSkills {
        AgentSkills {
            skills: self.clone(),
            lineage: vec![agent],
        }
    }

    /// Returns an agent, for [`bind`](Self::bind): one of the settings, or with a `/` or the ending `.yaml` the one of a
    /// [manifest](Self::agent_manifest). The error suggests the nearest ids.
    pub fn agent(&self, id: &str) -> Result<Agent, Error> {
        if is_path(id) {
            return Ok(self.agent_manifest(id)?.agent);
        }
        self.report().settings.agent(id)
    }

    /// Returns the text that an [agent](Self::agent) starts with: the prompt, the skills that it uses, then its own
    /// instructions; see [`AgentSkills::compose`]. An empty prompt, or empty instructions, are those of the agent's
    /// manifest, if it has one.
    pub fn compose(
        &self,
        agent: &str,
        prompt: &str,
        inline: &str,
    ) -> Result<ComposedInstructions, Error> {
        if !is_path(agent) {
            return self.bind(self.agent(agent)?).compose(prompt, inline);
        }
        let manifest = self.agent_manifest(agent)?;
        let or = |given: &str, own: String| match given {
            "" => own,
            given => given.to_owned(),
        };
        let findings = match prompt {
            "" => manifest.findings,
            // The prompt with the findings is not used.
            _ => Vec::new(),
        };
        let prompt = or(prompt, manifest.prompt);
        let inline = or(inline, manifest.instructions);
        let mut composed = self.bind(manifest.agent).compose(&prompt, &inline)?;
        composed.notes.splice(..0, findings);
        Ok(composed)
    }
}

impl AgentSkills {
    /// Returns the skills for a sub-agent that this agent starts. It sees only what both may see.
    #[must_use]
    pub fn narrow(&self, agent: Agent) -> Self {
        let mut narrower = self.clone();
        narrower.lineage.push(agent);
        narrower
    }

    /// Calls `f` with the skills that the agent sees.
    pub fn with_view<T>(&self, f: impl FnOnce(&AgentView<'_>) -> T) -> T {
        self.skills.with_catalog(|catalog| f(&self.view(catalog)))
    }

    /// Returns the skills that the agent is configured to use but does not have, each with the reason. This is for the
    /// host; models are told about none of them.
    pub fn missing(&self) -> Vec<MissingSkill> {
        let missing = |view: &AgentView<'_>| view.missing();
        self.with_view(missing)
    }

    /// Returns the text that the agent starts with: the prompt, the skills that it uses, then its own instructions.
    /// Skills that the agent does not have are left out and listed in [`missing`](ComposedInstructions::missing).
    ///
    /// Fails if any of the other skills cannot be loaded.
    pub fn compose(&self, prompt: &str, inline: &str) -> Result<ComposedInstructions, Error> {
        self.with_view_and_loader(|view, loader| {
            let contents = view.contents(loader)?;
            let mut composed = compose_instructions(prompt, &contents, inline);
            composed.missing = view.missing();
            Ok(composed)
        })
    }

    /// Starts a conversation for the agent; see [`Skills::session`]. An agent that sees all skills is told about skills
    /// that are added later; any other agent only about those that it sees now.
    ///
    /// The skills that it uses are assumed to be in the text that it [starts with](Self::compose), and are not given
    /// again while their files are unchanged.
    pub fn session(&self, policy: Policy, lifetime: ContextLifetime) -> Session {
        let state = self.with_view(|view| SessionState::for_agent(lifetime, view));
        self.skills.resume(policy, state).with_project_files()
    }

    /// Resumes a conversation of the agent from its saved state. It sees no more than the agent does now, whoever saved it.
    pub fn resume(&self, policy: Policy, state: SessionState) -> Session {
        let state = self.with_view(|view| state.narrow(view));
        self.skills.resume(policy, state)
    }

    /// Returns the instructions of a skill; see [`Skills::load`].
    pub fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        self.with_skill(id, |entry, loader| loader.load(entry, arguments))
    }

    /// Returns a skill rendered for a model; see [`Skills::render`].
    pub fn render(
        &self,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        self.with_skill(id, |entry, loader| {
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
        self.with_skill(id, |entry, loader| loader.files(entry, cursor, limit))
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
        self.with_skill(id, |entry, loader| loader.read(entry, path, range))
    }

    fn with_skill<T>(
        &self,
        id: &str,
        f: impl FnOnce(&Entry<'_>, &Loader) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.skills
            .count_refusal(self.with_view_and_loader(|view, loader| f(&view.resolve(id)?, loader)))
    }

    fn with_view_and_loader<T>(&self, f: impl FnOnce(&AgentView<'_>, &Loader) -> T) -> T {
        (self.skills).with_loader(|catalog, loader| f(&self.view(catalog), loader))
    }

    fn view<'c>(&self, catalog: &'c Catalog) -> AgentView<'c> {
        // An agent without settings sees everything; each agent of the chain narrows that.
        let all = catalog.view_for(&Agent::new(""));
        let lineage = self.lineage.iter();
        lineage.fold(all, |view, agent| view.narrow(agent))
    }
}
