//! How much a model is told, and when.

use std::fmt;
use std::sync::Arc;

use crate::choose::finder::Finder;
use crate::choose::matcher::Matcher;
use crate::disclose::budget::{Budget, Window};
use crate::disclose::style::{Style, ToolNames};
use crate::disclose::tokens::{TokenCounter, TokenEstimate};

/// How much a model is told, and when.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct Policy {
    /// What decides what is told.
    pub mode: Mode,
    /// How it is written.
    pub style: Style,
    /// What the listing may take.
    pub catalog: Budget,
    /// What the instructions that a turn adds may take.
    pub bodies: Budget,
    /// Skills whose instructions a turn adds at most.
    pub max_skills: usize,
    /// Whether a model is told the number of skills when nothing matches.
    pub breadcrumb: Breadcrumb,
    /// What is told of skills that a search finds. With nothing here requests are matched by triggers alone: nothing is
    /// searched, saying a name asks for no skill, skills come in the order of the catalog, and none is given for a request
    /// that does not ask for it.
    pub suggesting: Option<SuggestionThresholds>,
    /// What is told where nothing matches.
    pub fallback: Fallback,
    /// The names of the tools that texts speak of.
    pub tools: ToolNames,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
    /// What is logged of a request.
    pub logged: LogDetail,
}

impl Policy {
    /// A listing within a budget, and what each request adds.
    pub fn hybrid(catalog: Budget) -> Self {
        Self {
            catalog,
            ..Self::default()
        }
    }

    /// A listing within a budget, always; the model asks for the rest.
    pub fn catalog(catalog: Budget) -> Self {
        Self {
            mode: Mode::Catalog,
            catalog,
            ..Self::default()
        }
    }

    /// What each request asks for, and next to nothing where it asks for nothing.
    pub fn triggered() -> Self {
        Self {
            mode: Mode::Triggered,
            ..Self::default()
        }
    }

    /// Returns whether triggers alone ask for skills.
    pub(crate) fn is_by_triggers(&self) -> bool {
        self.suggesting.is_none()
    }

    /// Returns what finds skills by what a message is about, where that is wanted.
    pub(crate) fn finder<'m>(&self, matcher: &'m Matcher) -> Option<&'m dyn Finder> {
        matcher.finder().filter(|_| self.suggesting.is_some())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            style: Style::default(),
            catalog: Budget::catalog(Window::Unknown),
            bodies: Budget::bodies(Window::Unknown),
            max_skills: 3,
            breadcrumb: Breadcrumb::default(),
            suggesting: Some(SuggestionThresholds::default()),
            fallback: Fallback::default(),
            tools: ToolNames::default(),
            counter: Arc::new(TokenEstimate),
            logged: LogDetail::default(),
        }
    }
}

/// How skills are disclosed to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// A listing, always; the model asks for the rest.
    Catalog,
    /// The request: instructions of what matches, and next to nothing where nothing does.
    Triggered,
    /// Both: a listing that depends on the skills alone, and what the request adds.
    #[default]
    Hybrid,
}

impl Mode {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Triggered => "triggered",
            Self::Hybrid => "hybrid",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Whether a model is told the number of skills when nothing matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it is on or off")]
pub enum Breadcrumb {
    /// It is.
    #[default]
    On,
    /// It is told nothing at all.
    Off,
}

/// How likely a skill has to be what was meant before a model is told of it, though nothing asks for it by name or trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single numbers with struct update syntax"
)]
pub struct SuggestionThresholds {
    /// From here on the instructions of the likeliest are given.
    pub give_from: f32,
    /// From here on a line is shown, where the model has no line of it yet.
    pub show_from: f32,
}

impl Default for SuggestionThresholds {
    fn default() -> Self {
        Self {
            give_from: 0.7,
            show_from: 0.15,
        }
    }
}

/// What a model is told when nothing matches, or nothing that is likely enough to be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fallback {
    /// Nothing but the breadcrumb.
    #[default]
    None,
    /// The listing.
    ShowAll,
    /// Nothing; the host gets up to five skills to let the person choose from.
    AskUser,
}

/// What is logged of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "content is logged or it is not")]
pub enum LogDetail {
    /// Names and numbers.
    #[default]
    Names,
    /// The request and what the model is told too. They may hold what nobody else should read.
    Content,
}

/// How much was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Nothing.
    #[default]
    Nothing,
    /// That there are skills.
    Breadcrumb,
    /// A line for each skill.
    Registry,
    /// Instructions.
    Full,
}

impl Tier {
    /// Returns its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Breadcrumb => 1,
            Self::Registry => 2,
            Self::Full => 3,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "tier {}", self.number())
    }
}
