//! How much a model is told.

use crate::disclose::tokens::TokenCounter;

/// Parts of a hundred of the context window that the listing of skills may have.
const CATALOG_PERCENT: u64 = 2;
/// Characters of the listing where the window is not known.
const CATALOG_CHARACTERS: u64 = 8_000;
/// Parts of a hundred of the context window that the instructions of matched skills may have.
const BODIES_PERCENT: u64 = 10;
/// Tokens of the instructions where the window is not known.
const BODIES_TOKENS: u64 = 24_000;

/// What a budget is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Tokens, by a [`TokenCounter`].
    Tokens,
    /// Characters, as Unicode has them.
    Characters,
}

/// How much a model can hold at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a window is known in tokens or not known"
)]
pub enum Window {
    /// Nobody said.
    #[default]
    Unknown,
    /// So many tokens.
    Tokens(u64),
}

/// How much text may be put before a model.
///
/// ```
/// use skillfold_core::{Budget, Window};
///
/// assert_eq!(Budget::catalog(Window::Tokens(200_000)), Budget::tokens(4_000));
/// assert_eq!(Budget::catalog(Window::Unknown), Budget::characters(8_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a limit and its unit are all there is"
)]
pub struct Budget {
    /// The most there may be.
    pub limit: u64,
    /// What is counted.
    pub unit: Unit,
}

impl Budget {
    /// Returns a budget of so many tokens.
    pub const fn tokens(limit: u64) -> Self {
        Self {
            limit,
            unit: Unit::Tokens,
        }
    }

    /// Returns a budget of so many characters.
    pub const fn characters(limit: u64) -> Self {
        Self {
            limit,
            unit: Unit::Characters,
        }
    }

    /// Returns the budget of a listing: 2 % of the window, or 8,000 characters.
    pub const fn catalog(window: Window) -> Self {
        match window {
            Window::Tokens(tokens) => Self::tokens(part(tokens, CATALOG_PERCENT)),
            Window::Unknown => Self::characters(CATALOG_CHARACTERS),
        }
    }

    /// Returns the budget of matched instructions: 10 % of the window, or 24,000 tokens.
    pub const fn bodies(window: Window) -> Self {
        match window {
            Window::Tokens(tokens) => Self::tokens(part(tokens, BODIES_PERCENT)),
            Window::Unknown => Self::tokens(BODIES_TOKENS),
        }
    }

    /// Returns how much of the budget a text takes.
    pub fn measure(&self, text: &str, counter: &dyn TokenCounter) -> u64 {
        match self.unit {
            Unit::Tokens => counter.count(text),
            Unit::Characters => text.chars().count() as u64,
        }
    }
}

/// Returns so many hundredths of a number, rounded down; what is too large to be multiplied is divided first.
const fn part(whole: u64, percent: u64) -> u64 {
    match whole.checked_mul(percent) {
        Some(product) => product / 100,
        None => whole / 100 * percent,
    }
}
