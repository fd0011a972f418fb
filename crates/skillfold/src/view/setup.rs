//! The JSON view of changes to clients' configurations.

use std::path::Path;

/// What `setup` changed.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Setup {
    /// The clients that have skills of their own, with what their lists cost.
    pub clients: Vec<SetupList>,
    /// The changes, in the order in which they were made.
    pub files: Vec<SetupFile>,
}

/// What the lists of a client cost in every request, in about as many tokens.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[expect(clippy::exhaustive_structs, reason = "the command creates it")]
pub struct SetupList {
    /// The name of the client.
    pub client: String,
    /// How many skills it lists itself.
    pub skills: usize,
    /// Tokens of its own list; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_tokens: Option<u64>,
    /// Tokens of our list alone, with our tools.
    pub ours_tokens: u64,
    /// Tokens of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub both_tokens: Option<u64>,
    /// Whose list the model gets: `ours`, `both`, or `neither` if the client was left as it is.
    pub list: String,
}

/// A change to a client's configuration.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetupFile {
    /// The name of the client.
    pub client: String,
    /// `server`, `hook`, or `list` for the setting that turns off the client's own list.
    pub part: String,
    /// The path of the configuration file; for a user's file, links are resolved.
    pub file: String,
    /// `nothing`, `added`, `replaced` (a different entry), `removed`, or `removed_other` (an entry for another
    /// program).
    pub change: String,
    /// Whether the file was written; false for a dry run, and if nothing changes.
    pub written: bool,
    /// The unified diff, with long lines shortened and without the values that the
    /// file had before; absent if nothing changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl SetupFile {
    /// Creates the view of a change that is not written yet; `diff` is its unified diff.
    pub fn new(client: &str, part: &str, file: &Path, change: &str, diff: String) -> Self {
        Self {
            client: client.to_owned(),
            part: part.to_owned(),
            file: file.to_string_lossy().into_owned(),
            change: change.to_owned(),
            written: false,
            diff: (!diff.is_empty()).then_some(diff),
        }
    }

    /// Marks the change as written.
    #[must_use]
    pub fn written(mut self) -> Self {
        self.written = true;
        self
    }
}
