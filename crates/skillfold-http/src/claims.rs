//! What a token of the identity provider says.

use serde::Deserialize;

/// Maximum length of a subject, and of a name that is shown, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// The claims that are used.
#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    /// Read here too, as a text: the crate that checks it also takes a list.
    #[expect(dead_code, reason = "its form is checked, its value was")]
    iss: String,
    pub(crate) sub: String,
    pub(crate) exp: f64,
    #[serde(rename = "jti")]
    pub(crate) id: Option<String>,
    #[serde(default)]
    scope: Words,
    #[serde(default)]
    scp: Words,
    #[serde(default)]
    groups: Words,
    #[serde(default)]
    roles: Words,
    preferred_username: Option<String>,
    email: Option<String>,
}

/// A text, or a list of texts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Words {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Many(words) => words,
        }
    }
}

impl Claims {
    /// Returns whether the subject can be used as a name.
    pub(crate) fn has_subject(&self) -> bool {
        is_name(&self.sub)
    }

    /// Returns the scopes.
    pub(crate) fn scopes(&self) -> Vec<&str> {
        let lists = [&self.scope, &self.scp].into_iter();
        let texts = lists.flat_map(Words::as_slice);
        texts
            .flat_map(|text| text.split_ascii_whitespace())
            .collect()
    }

    /// Returns the groups.
    pub(crate) fn groups(&self) -> Vec<String> {
        let lists = [&self.groups, &self.roles].into_iter();
        lists.flat_map(Words::as_slice).cloned().collect()
    }

    /// Returns the name that people know the subject by.
    pub(crate) fn name(&self) -> &str {
        let names = [&self.preferred_username, &self.email];
        let mut names = names.into_iter().flatten().map(String::as_str);
        names.find(|name| is_name(name)).unwrap_or(&self.sub)
    }
}

/// Returns whether a text can be a name in logs: it is short, and a line.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME_BYTES && !text.chars().any(char::is_control)
}
