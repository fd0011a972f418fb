//! The values of the setting `listing`.

use skillfold_core::Budget;
use skillfold_core::disclose::{Unit, Window};

/// How long a listing may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ListingBudget {
    /// What the client is known to keep.
    #[default]
    Auto,
    /// A number of characters or tokens.
    Budget(Budget),
}

impl ListingBudget {
    /// Returns the budget, or `auto` if the setting does not say.
    pub fn or(self, auto: Budget) -> Budget {
        match self {
            Self::Auto => auto,
            Self::Budget(budget) => budget,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(Self::Auto);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let budget = match *words {
            [number, "characters"] => Budget::characters(number.parse().ok()?),
            [number, "tokens"] => Budget::tokens(number.parse().ok()?),
            [share, "of", window] => {
                let percent = share
                    .strip_suffix('%')?
                    .parse()
                    .ok()
                    .filter(|it| *it <= 100)?;
                Budget::share(Window::Tokens(window.parse().ok()?), percent)
            }
            _ => return None,
        };
        Some(Self::Budget(budget))
    }
}

impl std::fmt::Display for ListingBudget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Budget(Budget { limit, unit }) => match unit {
                Unit::Characters => write!(formatter, "{limit} characters"),
                _ => write!(formatter, "{limit} tokens"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ListingBudget;

    #[test]
    fn budget_is_parsed_from_characters_tokens_or_percent() {
        let shown = |text: &str| ListingBudget::parse(text).map(|budget| budget.to_string());
        for (text, wanted) in [
            ("auto", Some("auto")),
            ("2000 characters", Some("2000 characters")),
            ("1400  tokens", Some("1400 tokens")),
            ("2% of 200000", Some("4000 tokens")),
            ("101% of 200000", None),
            ("2000", None),
            ("-1 tokens", None),
            ("2 % of 200000", None),
        ] {
            assert_eq!(shown(text).as_deref(), wanted, "{text}");
        }
    }
}
