//! Budgets: how much a model may be told.

use crate::disclose::tokens::TokenCounter;

/// The listing's share of the context window, in percent.
const CATALOG_PERCENT: u64 = 2;
/// The listing's budget in tokens if the window is unknown.
const CATALOG_TOKENS: u64 = 1_400;
/// The share of the context window for the instructions of matched skills, in percent.
const BODIES_PERCENT: u64 = 10;
/// The budget for instructions in tokens if the window is unknown.
const BODIES_TOKENS: u64 = 24_000;

/// The unit of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Tokens, by a [`TokenCounter`].
    Tokens,
    /// Unicode characters.
    Characters,
}

/// The size of a model's context window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a window is known or unknown")]
pub enum Window {
    /// Not known.
    #[default]
    Unknown,
    /// Size in tokens.
    Tokens(u64),
}

/// The maximum amount of text for a model.
///
/// ```
/// use skillfold_core::Budget;
/// use skillfold_core::disclose::Window;
///
/// assert_eq!(Budget::catalog(Window::Tokens(200_000)), Budget::tokens(4_000));
/// assert_eq!(Budget::catalog(Window::Unknown), Budget::tokens(1_400));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a budget is a limit and a unit")]
pub struct Budget {
    /// The maximum.
    pub limit: u64,
    /// The unit of the limit.
    pub unit: Unit,
}

impl Budget {
    /// Creates a budget in tokens.
    pub const fn tokens(limit: u64) -> Self {
        Self {
            limit,
            unit: Unit::Tokens,
        }
    }

    /// Creates a budget in characters.
    pub const fn characters(limit: u64) -> Self {
        Self {
            limit,
            unit: Unit::Characters,
        }
    }

    /// Returns a share of a context window, in percent; nothing of an unknown one.
    pub const fn share(window: Window, percent: u64) -> Self {
        Self::share_or(window, percent, 0)
    }

    /// Returns the default budget of a listing: 2 % of the window, or 1,400 tokens if the window is unknown.
    pub const fn catalog(window: Window) -> Self {
        Self::share_or(window, CATALOG_PERCENT, CATALOG_TOKENS)
    }

    /// Returns the default budget of matched instructions: 10 % of the window, or 24,000 tokens if the window is
    /// unknown.
    pub const fn bodies(window: Window) -> Self {
        Self::share_or(window, BODIES_PERCENT, BODIES_TOKENS)
    }

    const fn share_or(window: Window, percent: u64, unknown: u64) -> Self {
        match window {
            Window::Tokens(tokens) => Self::tokens(percent_of(tokens, percent)),
            Window::Unknown => Self::tokens(unknown),
        }
    }

    /// Returns the size of a text in the unit of the budget.
    pub fn measure(&self, text: &str, counter: &dyn TokenCounter) -> u64 {
        match self.unit {
            Unit::Tokens => counter.count(text),
            Unit::Characters => text.chars().count() as u64,
        }
    }
}

/// Returns a percentage of a number, rounded down. If the product would overflow, divides first.
const fn percent_of(whole: u64, percent: u64) -> u64 {
    match whole.checked_mul(percent) {
        Some(product) => product / 100,
        None => whole / 100 * percent,
    }
}
