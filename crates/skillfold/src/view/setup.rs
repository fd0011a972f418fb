//! The JSON view of changes to clients' configurations.

use std::path::Path;

/// What `setup` changed.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Setup {
    /// The changes, in the order in which they were made.
    pub files: Vec<SetupFile>,
}

impl Setup {
    /// Creates the view of some changes.
    pub fn new(files: Vec<SetupFile>) -> Self {
        Self { files }
    }
}

/// A change to a client's configuration.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetupFile {
    /// The name of the client.
    pub client: String,
    /// `server` or `hook`.
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
