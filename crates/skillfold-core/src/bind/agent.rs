//! What an agent says about itself.

use std::fmt;

/// An agent of a host, by the skills that it uses and sees.
///
/// Without a word it uses none and sees all, as if there were no agents.
///
/// ```
/// use skillfold_core::{Agent, Visibility};
///
/// let reviewer = Agent::new("reviewer").with_skills(["code-review", "house-style"]).with_visibility(Visibility::Used);
/// assert_eq!(reviewer.uses_skills().len(), 2);
/// assert_eq!(Agent::new("planner").visibility(), Visibility::All);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    id: Box<str>,
    uses_skills: Vec<Box<str>>,
    sees: Visibility,
}

/// Which skills an agent sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Visibility {
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
            sees: Visibility::default(),
        }
    }

    /// Adds skills that the agent has from the start, by whatever leads to them.
    #[must_use]
    pub fn with_skills(mut self, skills: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.uses_skills.extend(skills.into_iter().map(Into::into));
        self
    }

    /// Says which skills the agent sees.
    #[must_use]
    pub fn with_visibility(mut self, sees: Visibility) -> Self {
        self.sees = sees;
        self
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the skills that the agent has from the start, as they were named.
    pub fn skills(&self) -> &[Box<str>] {
        &self.uses_skills
    }

    /// Returns which skills the agent sees.
    pub fn visibility(&self) -> Visibility {
        self.sees
    }
}

impl Visibility {
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

impl fmt::Display for Visibility {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
