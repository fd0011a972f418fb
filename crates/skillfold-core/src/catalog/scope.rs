//! Scopes of skills, and their precedence when names collide.

use std::fmt;
use std::str::FromStr;

words! {
    /// Who a root of skills belongs to.
    #[derive(PartialOrd, Ord)]
    pub enum Scope {
        /// The current project.
        Project = "project",
        /// The user, across all projects.
        User = "user",
        /// A plugin that the user installed.
        Plugin = "plugin",
        /// The host program.
        Bundled = "bundled",
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    /// Parses a scope's name; `personal` is an alias of `user`.
    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        match text {
            "personal" => Ok(Self::User),
            _ => Self::ALL
                .into_iter()
                .find(|scope| scope.as_str() == text)
                .ok_or(InvalidScope(())),
        }
    }
}

/// The error of parsing a name that is not a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidScope(());

display!(
    InvalidScope,
    |_it| "Scope is not one of `project`, `user` (or `personal`), `plugin`, `bundled`"
);

impl std::error::Error for InvalidScope {}

/// The order in which scopes win a name that several skills share. Within a scope, the first root wins.
///
/// ```
/// use skillfold_core::Scope;
/// use skillfold_core::catalog::Precedence;
///
/// // Clients disagree, so the order is configurable.
/// assert_eq!(Precedence::default().scopes()[0], Scope::Project);
/// assert_eq!(Precedence::preset("claude-code").unwrap().scopes()[0], Scope::User);
/// assert_eq!(Precedence::new(&[Scope::Bundled]).to_string(), "bundled > project > user > plugin");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precedence([Scope; 4]);

impl Precedence {
    /// The orders that known clients use, by client name.
    ///
    /// Codex has no preset: it lists every skill of a name, and a mention must be unambiguous.
    pub const PRESETS: [(&'static str, Self); 6] = [
        ("default", DEFAULT),
        ("agent-harness", PLUGIN_FIRST),
        ("claude-code", USER_FIRST),
        ("gemini-cli", DEFAULT),
        ("goose", DEFAULT),
        ("openclaw", PLUGIN_LAST),
    ];

    /// Creates an order that starts with the given scopes; the others follow in default order.
    pub fn new(first: &[Scope]) -> Self {
        let rest = DEFAULT.0;
        let mut order = first.iter().chain(&rest).copied();
        let mut scopes = DEFAULT.0;
        let mut filled = 0;
        while let Some(scope) = order.next()
            && filled < scopes.len()
        {
            if !scopes[..filled].contains(&scope) {
                scopes[filled] = scope;
                filled += 1;
            }
        }
        Self(scopes)
    }

    /// Returns the preset of a client.
    pub fn preset(client: &str) -> Option<Self> {
        let (_, order) = Self::PRESETS.iter().find(|(name, _)| *name == client)?;
        Some(*order)
    }

    /// Returns the scopes, highest precedence first.
    pub fn scopes(&self) -> [Scope; 4] {
        self.0
    }

    pub(crate) fn rank(self, scope: Scope) -> usize {
        self.0
            .iter()
            .position(|other| *other == scope)
            .unwrap_or(self.0.len())
    }
}

const DEFAULT: Precedence = Precedence(Scope::ALL);
const USER_FIRST: Precedence =
    Precedence([Scope::User, Scope::Project, Scope::Plugin, Scope::Bundled]);
const PLUGIN_FIRST: Precedence =
    Precedence([Scope::Plugin, Scope::Project, Scope::User, Scope::Bundled]);
const PLUGIN_LAST: Precedence =
    Precedence([Scope::Project, Scope::User, Scope::Bundled, Scope::Plugin]);

impl Default for Precedence {
    fn default() -> Self {
        DEFAULT
    }
}

impl fmt::Display for Precedence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = &self.0;
        write!(formatter, "{first}")?;
        rest.iter()
            .try_for_each(|scope| write!(formatter, " > {scope}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Precedence, Scope};

    #[test]
    fn order_names_each_scope_once() {
        let order = Precedence::new(&[Scope::Plugin, Scope::Plugin, Scope::User]);
        assert_eq!(order.to_string(), "plugin > user > project > bundled");
        for (client, order) in Precedence::PRESETS {
            assert_eq!(Precedence::new(&order.scopes()), order, "{client}");
        }
    }
}
