//! The view of the named tokens of a server.

use std::path::Path;

/// The named tokens that a server accepts.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AccessView {
    /// The path of the file of tokens.
    pub file: String,
    /// The tokens, by name.
    pub tokens: Vec<TokenRow>,
    /// A token that was added, which is shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A named token.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TokenRow {
    /// Its name.
    pub name: String,
    /// The groups that it is in.
    pub groups: Vec<String>,
    /// What it may be used for.
    pub scopes: String,
    /// When it expires, in UTC; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

impl AccessView {
    /// Creates the view of a file of tokens.
    pub fn new(file: &Path, tokens: Vec<TokenRow>) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
            tokens,
            token: None,
        }
    }

    /// Adds the token that was added.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }
}

impl TokenRow {
    /// Creates the row of a token.
    pub fn new(name: String, groups: Vec<String>, scopes: String, expires: Option<String>) -> Self {
        Self {
            name,
            groups,
            scopes,
            expires,
        }
    }
}
