//! The skills as one agent sees them.

use std::collections::HashSet;

use pyo3::prelude::*;
use skillfold::core::bind::{AgentView, Visibility};
use skillfold::core::catalog::Filter;
use skillfold::core::{Agent, Error};
use skillfold::view::{Composed, Document, SkillList};

use crate::error::{detached, json};
use crate::instructions::Instructions;
use crate::reading::{listed, part, rendered};
use crate::session::{Session, SessionOptions};

/// The skills as one agent sees them.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct AgentSkills {
    skills: skillfold::Skills,
    agent: skillfold::AgentSkills,
    id: String,
}

/// Returns an agent: as the settings configure it, or with the skills that are passed.
fn agent(
    skills: &skillfold::Skills,
    id: &str,
    uses: Option<Vec<String>>,
    sees: &str,
) -> Result<Agent, Error> {
    let Some(uses) = uses else {
        return skills.agent(id);
    };
    let visibility = match sees {
        "all" => Visibility::All,
        "used" => Visibility::Used,
        _ => return Err(Error::invalid("sees", "it is `all` or `used`")),
    };
    Ok(Agent::new(id).with_skills(uses).with_visibility(visibility))
}

fn ids(view: &AgentView<'_>) -> Vec<String> {
    view.entries().map(|entry| entry.id().to_owned()).collect()
}

impl AgentSkills {
    pub(crate) fn bind(
        skills: &skillfold::Skills,
        id: &str,
        uses: Option<Vec<String>>,
        sees: &str,
    ) -> Result<Self, Error> {
        Ok(Self {
            agent: skills.bind(agent(skills, id, uses, sees)?),
            skills: skills.clone(),
            id: id.to_owned(),
        })
    }
}

#[pymethods]
impl AgentSkills {
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    fn narrow(
        &self,
        py: Python<'_>,
        id: &str,
        uses: Option<Vec<String>>,
        sees: &str,
    ) -> PyResult<Self> {
        detached(py, || {
            Ok(Self {
                agent: self.agent.narrow(agent(&self.skills, id, uses, sees)?),
                skills: self.skills.clone(),
                id: id.to_owned(),
            })
        })
    }

    /// Returns the ids of the skills that the agent sees.
    fn ids(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.agent.with_view(ids))
    }

    fn list(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let seen: HashSet<String> = self.agent.with_view(ids).into_iter().collect();
            let catalog = self.skills.catalog();
            let mut list = SkillList::new(&catalog.page(&Filter::default(), None, usize::MAX));
            list.skills.retain(|skill| seen.contains(&skill.id));
            json(Document::Skills(list))
        })
    }

    fn compose(&self, py: Python<'_>, prompt: &str, inline: &str) -> PyResult<String> {
        detached(py, || {
            let composed = self.agent.compose(prompt, inline)?;
            Ok(json(Document::Composed(Composed::new(&self.id, &composed))))
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn session(&self, py: Python<'_>, options: SessionOptions) -> PyResult<Session> {
        detached(py, || {
            let policy = options.policy(&self.skills)?;
            let session = match options.saved_state()? {
                Some(state) => self.agent.resume(policy, state).with_project_files(),
                None => self.agent.session(policy, options.lifetime()),
            };
            Ok(Session::new(session))
        })
    }

    fn load(&self, py: Python<'_>, id: &str, arguments: &str) -> PyResult<Instructions> {
        detached(py, || self.agent.load(id, arguments)).map(Instructions::new)
    }

    fn render(
        &self,
        py: Python<'_>,
        id: &str,
        arguments: &str,
        envelope: &str,
    ) -> PyResult<String> {
        rendered(py, envelope, |envelope| {
            self.agent.render(id, arguments, envelope)
        })
    }

    fn files(
        &self,
        py: Python<'_>,
        id: &str,
        after: Option<&str>,
        limit: usize,
    ) -> PyResult<String> {
        listed(py, (&self.skills, id), after, |cursor| {
            self.agent.files(id, cursor, limit)
        })
    }

    fn read(&self, py: Python<'_>, id: &str, path: &str, start: u64, end: u64) -> PyResult<String> {
        part(py, (&self.skills, id), || {
            self.agent.read_range(id, path, start..end)
        })
    }
}
