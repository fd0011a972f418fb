//! The disclosure policy: how much a model is told, and when.

use std::fmt;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::choose::finder::Finder;
use crate::choose::matcher::{Candidate, Matcher};
use crate::disclose::bars::SkillBars;
use crate::disclose::budget::{Budget, Window};
use crate::disclose::style::Style;
use crate::disclose::tokens::{TokenCounter, TokenEstimate};
use crate::disclose::tool_names::ToolNames;

/// The list of skills that a client makes itself.
pub trait ClientList: fmt::Debug + Send + Sync {
    /// Returns whether the client lists and loads a skill itself.
    fn lists(&self, entry: &Entry<'_>) -> bool;
}

/// How much a model is told, and when.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// Whether the model gets a listing, the skills that match, or both.
    pub mode: Mode,
    /// How texts are formatted.
    pub style: Style,
    /// The budget of the listing.
    pub catalog: Budget,
    /// The ids of the skills to list if there is no room for all, the most important first; then come the others by id.
    pub preferred: Arc<[Box<str>]>,
    /// The budget of the instructions that one turn adds.
    pub bodies: Budget,
    /// Maximum skills whose instructions one turn adds.
    pub max_skills: usize,
    /// Whether the model is told how many skills there are if nothing matches.
    pub breadcrumb: Breadcrumb,
    /// The thresholds for skills that a search finds. `None` matches by triggers only: no search, no match by name,
    /// skills in catalog order, and no skill is given again for a request that does not ask for it.
    pub suggestions: Option<SuggestionThresholds>,
    /// The skills whose thresholds are higher or lower than these, because of how they were used.
    pub bars: Arc<SkillBars>,
    /// Whether a trigger that is one common word, such as `merge`, gives instructions. Otherwise it only suggests the skill,
    /// unless a search is certain too. Triggers alone are always certain without a search.
    pub gives_by_common_words: bool,
    /// Maximum characters of the description in the line about a suggested skill.
    pub suggestion_characters: usize,
    /// The client's own list. A skill that it lists is only named: the client loads it itself.
    pub client_list: Option<Arc<dyn ClientList>>,
    /// What happens if nothing matches.
    pub fallback: Fallback,
    /// The names of the tools that texts mention.
    pub tools: ToolNames,
    /// Counts tokens.
    pub counter: Arc<dyn TokenCounter>,
    /// What is logged about a request.
    pub log_detail: LogDetail,
}

setters! {
    Policy {
        with_mode(mode: Mode),
        with_style(style: Style),
        with_catalog(catalog: Budget),
        with_preferred(preferred: Arc<[Box<str>]>),
        with_bodies(bodies: Budget),
        with_max_skills(max_skills: usize),
        with_breadcrumb(breadcrumb: Breadcrumb),
        with_suggestions(suggestions: Option<SuggestionThresholds>),
        with_bars(bars: Arc<SkillBars>),
        with_gives_by_common_words(gives_by_common_words: bool),
        with_suggestion_characters(suggestion_characters: usize),
        with_client_list(client_list: Option<Arc<dyn ClientList>>),
        with_fallback(fallback: Fallback),
        with_tools(tools: ToolNames),
        with_counter(counter: Arc<dyn TokenCounter>),
        with_log_detail(log_detail: LogDetail),
    }
}

impl Policy {
    /// Returns a policy with a listing within a budget, and what each request adds.
    pub fn hybrid(catalog: Budget) -> Self {
        Self {
            catalog,
            ..Self::default()
        }
    }

    /// Returns a policy with only a listing within a budget; the model loads instructions itself.
    pub fn catalog(catalog: Budget) -> Self {
        Self {
            mode: Mode::Catalog,
            catalog,
            ..Self::default()
        }
    }

    /// Returns a policy without a listing: only what each request adds, and at most a breadcrumb if nothing matches.
    pub fn triggered() -> Self {
        Self {
            mode: Mode::Triggered,
            ..Self::default()
        }
    }

    /// Returns whether a listing shows brief descriptions: in hybrid mode each request adds the full descriptions of the
    /// skills that it may be about, and two styles have brief lines in every mode.
    pub(crate) fn lists_briefs(&self) -> bool {
        self.mode == Mode::Hybrid || matches!(self.style, Style::Tiers | Style::Bullets)
    }

    /// Returns whether skills are matched by triggers only.
    pub(crate) fn is_triggers_only(&self) -> bool {
        self.suggestions.is_none()
    }

    /// Returns whether a match is only a reason to suggest the skill.
    pub(crate) fn is_weak(&self, candidate: &Candidate<'_>) -> bool {
        !self.gives_by_common_words && !self.is_triggers_only() && candidate.is_weak()
    }

    /// Returns whether the client lists and loads a skill itself.
    pub(crate) fn is_loaded_by_client(&self, entry: &Entry<'_>) -> bool {
        self.client_list
            .as_ref()
            .is_some_and(|list| list.lists(entry))
    }

    /// Returns the finder that suggests skills for a message, unless the policy is triggers only.
    pub(crate) fn finder<'m>(&self, matcher: &'m Matcher) -> Option<&'m dyn Finder> {
        matcher.finder().filter(|_| self.suggestions.is_some())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            style: Style::default(),
            catalog: Budget::catalog(Window::Unknown),
            preferred: Arc::default(),
            bodies: Budget::bodies(Window::Unknown),
            max_skills: 3,
            breadcrumb: Breadcrumb::default(),
            suggestions: Some(SuggestionThresholds::default()),
            bars: Arc::default(),
            gives_by_common_words: true,
            // A valid description is shown whole.
            suggestion_characters: 1024,
            client_list: None,
            fallback: Fallback::default(),
            tools: ToolNames::default(),
            counter: Arc::new(TokenEstimate),
            log_detail: LogDetail::default(),
        }
    }
}

words! {
    /// Whether a model gets a listing, the skills that match a request, or both.
    #[derive(Default)]
    pub enum Mode {
        /// Always a listing; the model loads instructions itself.
        Catalog = "catalog",
        /// The instructions of skills that match the request, and at most a breadcrumb if none does.
        Triggered = "triggered",
        /// Both: a listing that depends on the skills alone, and what the request adds.
        #[default]
        Hybrid = "hybrid",
    }
}

/// Whether a model is told how many skills there are if nothing matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it is on or off")]
pub enum Breadcrumb {
    /// The model is told the number of skills.
    #[default]
    On,
    /// The model is told nothing.
    Off,
}

/// The confidence that a skill found by search needs before a model is told about it, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SuggestionThresholds {
    /// Minimum confidence to give the instructions of the most likely skill.
    pub give_from: f32,
    /// Minimum confidence to show a line about a skill, if the model has none yet.
    pub show_from: f32,
}

setters! {
    SuggestionThresholds {
        with_give_from(give_from: f32),
        with_show_from(show_from: f32),
    }
}

impl Default for SuggestionThresholds {
    fn default() -> Self {
        Self {
            give_from: 0.6,
            show_from: 0.25,
        }
    }
}

/// What happens if nothing matches a request, or nothing likely enough to be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fallback {
    /// The model gets at most the breadcrumb.
    #[default]
    None,
    /// The model gets the listing.
    ShowAll,
    /// The model gets at most the breadcrumb, and the host up to five skills for the user to choose from.
    AskUser,
}

/// What is logged about a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "content is logged or not")]
pub enum LogDetail {
    /// Only ids and numbers.
    #[default]
    Names,
    /// Also the request and the text for the model, which may contain private data.
    Content,
}

/// How much a model is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Nothing.
    #[default]
    Nothing,
    /// The number of skills.
    Breadcrumb,
    /// Lines about skills.
    Registry,
    /// Instructions.
    Full,
}

impl Tier {
    /// Returns the tier as a number, from 0 (nothing) to 3 (instructions).
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
