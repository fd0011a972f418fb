//! The declaration of an agent.

/// An agent of a host: the skills that it uses, and those that it sees.
///
/// By default it uses none and sees all, as if there were no agents.
///
/// ```
/// use skillfold_core::Agent;
/// use skillfold_core::bind::Visibility;
///
/// let reviewer = Agent::new("reviewer").with_skills(["code-review", "house-style"]).with_visibility(Visibility::Used);
/// assert_eq!(reviewer.skills().len(), 2);
/// assert_eq!(Agent::new("planner").visibility(), Visibility::All);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    id: Box<str>,
    skills: Vec<Box<str>>,
    visibility: Visibility,
}

words! {
    /// Which skills an agent sees.
    #[derive(Default)]
    pub enum Visibility {
        /// All skills that a model may load, as for an orchestrator.
        #[default]
        All = "all",
        /// Only the skills that it uses, as for a specialist.
        Used = "used",
    }
}

impl Agent {
    /// Creates an agent that uses no skills and sees all of them.
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self {
            id: id.into(),
            skills: Vec::new(),
            visibility: Visibility::default(),
        }
    }

    /// Adds skills that the agent starts with, by any name that resolves to them.
    #[must_use]
    pub fn with_skills(mut self, skills: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.skills.extend(skills.into_iter().map(Into::into));
        self
    }

    /// Sets which skills the agent sees.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the skills that the agent starts with, as they were named.
    pub fn skills(&self) -> &[Box<str>] {
        &self.skills
    }

    /// Returns which skills the agent sees.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }
}
