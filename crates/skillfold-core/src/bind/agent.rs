//! What an agent says about itself.

use std::fmt;

/// An agent of a host, by the skills that it uses and sees.
///
/// Without a word it uses none and sees all, as if there were no agents.
///
/// ```
/// use skillfold_core::{Agent, Sees};
///
/// let reviewer = Agent::new("reviewer").uses(["code-review", "house-style"]).sees(Sees::Used);
/// assert_eq!(reviewer.uses_skills().len(), 2);
/// assert_eq!(Agent::new("planner").seeing(), Sees::All);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    id: Box<str>,
    uses_skills: Vec<Box<str>>,
    sees: Sees,
}

/// Which skills an agent sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sees {
    /// All that may be given to a model: an orchestrator.
    #[default]
    All,
    /// Those that it uses, and no other: a specialist.
    Used,
}

impl Agent {
    /// Creates an agent that uses no skills and sees all.
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self {
            id: id.into(),
            uses_skills: Vec::new(),
            sees: Sees::default(),
        }
    }

    /// Adds skills that the agent has from the start, by whatever leads to them.
    #[must_use]
    pub fn uses(mut self, skills: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.uses_skills.extend(skills.into_iter().map(Into::into));
        self
    }

    /// Says which skills the agent sees.
    #[must_use]
    pub fn sees(mut self, sees: Sees) -> Self {
        self.sees = sees;
        self
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the skills that the agent has from the start, as they were named.
    pub fn uses_skills(&self) -> &[Box<str>] {
        &self.uses_skills
    }

    /// Returns which skills the agent sees.
    pub fn seeing(&self) -> Sees {
        self.sees
    }
}

impl Sees {
    /// Both, in the order of their documentation.
    pub const ALL: [Self; 2] = [Self::All, Self::Used];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Used => "used",
        }
    }
}

impl fmt::Display for Sees {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
