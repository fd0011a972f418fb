//! The skills as one agent sees them.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use skillfold::core::bind::{AgentView, Visibility};
use skillfold::core::catalog::Filter;
use skillfold::core::load::Instructions;
use skillfold::core::{Agent, Error};
use skillfold::view::{Composed, Document, SkillList};

use crate::error::{Answer, read, view};
use crate::session::{Session, SessionOptions};
use crate::skills::{Files, Read, Render};

/// The skills as one agent sees them.
pub struct AgentSkills {
    skills: skillfold::Skills,
    agent: skillfold::AgentSkills,
    id: String,
}

/// An agent, and what it uses and sees; without it, as the settings say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uses {
    pub(crate) id: String,
    skills: Option<Vec<String>>,
    sees: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum AgentCall {
    List,
    Compose { prompt: String, inline: String },
    Render(Render),
    Files(Files),
    Read(Read),
}

impl Uses {
    pub(crate) fn agent(&self, skills: &skillfold::Skills) -> Result<Agent, Error> {
        let Some(used) = &self.skills else {
            return skills.agent(&self.id);
        };
        let visibility = match &*self.sees {
            "all" => Visibility::All,
            "used" => Visibility::Used,
            _ => return Err(Error::invalid("sees", "it is `all` or `used`")),
        };
        let agent = Agent::new(&*self.id).with_skills(used.iter().cloned());
        Ok(agent.with_visibility(visibility))
    }
}

fn ids(view: &AgentView<'_>) -> Vec<String> {
    view.entries().map(|entry| entry.id().to_owned()).collect()
}

impl AgentSkills {
    pub(crate) fn new(
        skills: &skillfold::Skills,
        agent: skillfold::AgentSkills,
        id: String,
    ) -> Self {
        Self {
            skills: skills.clone(),
            agent,
            id,
        }
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the ids of the skills that the agent sees.
    pub fn ids(&self) -> Vec<String> {
        self.agent.with_view(ids)
    }

    /// Returns the skills for a sub-agent: what both may see.
    pub fn narrow(&self, uses: &str) -> Result<Self, Error> {
        let uses: Uses = read("options", uses)?;
        let narrowed = self.agent.narrow(uses.agent(&self.skills)?);
        Ok(Self::new(&self.skills, narrowed, uses.id))
    }

    /// Returns the instructions of a skill.
    pub fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        self.agent.load(id, arguments)
    }

    /// Starts a conversation, or resumes one.
    pub fn session(&self, options: &str) -> Result<Session, Error> {
        let options: SessionOptions = read("options", options)?;
        let policy = options.policy(&self.skills)?;
        Ok(Session::new(match options.saved_state()? {
            Some(state) => self.agent.resume(policy, state).with_project_files(),
            None => self.agent.session(policy, options.lifetime()),
        }))
    }

    /// Makes a call.
    pub fn call(&self, call: &str) -> Answer {
        let agent = &self.agent;
        Ok(view(match read("call", call)? {
            AgentCall::List => {
                let seen: HashSet<String> = self.ids().into_iter().collect();
                let catalog = self.skills.catalog();
                let mut list = SkillList::new(&catalog.page(&Filter::default(), None, usize::MAX));
                list.skills.retain(|skill| seen.contains(&skill.id));
                Document::Skills(list)
            }
            AgentCall::Compose { prompt, inline } => {
                let composed = agent.compose(&prompt, &inline)?;
                Document::Composed(Composed::new(&self.id, &composed))
            }
            AgentCall::Render(call) => {
                call.answer(|envelope| agent.render(&call.id, &call.arguments, envelope))?
            }
            AgentCall::Files(call) => call.answer(&self.skills, |cursor| {
                agent.files(&call.id, cursor, call.limit)
            })?,
            AgentCall::Read(call) => call.answer(&self.skills, |range| {
                agent.read_range(&call.id, &call.path, range)
            })?,
        }))
    }
}
