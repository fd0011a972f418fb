//! What a token may be used for: the scopes of OAuth.

use std::fmt;

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an operator decides about each")]
pub enum TokenScope {
    /// List, search, load and read skills.
    Read,
    /// Propose changes to skills.
    Propose,
    /// Run the scripts and tools of skills.
    Run,
}

impl TokenScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Read, Self::Propose, Self::Run];

    /// Returns its name in a token.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "skills:read",
            Self::Propose => "skills:propose",
            Self::Run => "skills:run",
        }
    }

    /// Returns the scope with a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// A set of scopes.
///
/// ```
/// use skillfold_http::{TokenScope, TokenScopes};
///
/// let scopes = TokenScopes::from_words(["openid", "skills:read"]);
/// assert!(scopes.has(TokenScope::Read));
/// assert_eq!(scopes.with(TokenScope::Run).to_string(), "skills:read skills:run");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenScopes(u8);

impl TokenScopes {
    /// Every scope.
    pub const ALL: Self = Self(0b111);

    /// Returns the scopes that the words name; other words are for other servers.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let scopes = words.into_iter().filter_map(TokenScope::find);
        scopes.fold(Self::default(), Self::with)
    }

    /// Returns these scopes and one more.
    #[must_use]
    pub fn with(self, scope: TokenScope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Returns whether it has a scope.
    pub fn has(self, scope: TokenScope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }
}

impl fmt::Display for TokenScopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scopes = TokenScope::ALL.into_iter().filter(|scope| self.has(*scope));
        let words: Vec<&str> = scopes.map(TokenScope::as_str).collect();
        formatter.write_str(&words.join(" "))
    }
}
