//! The JSON view of a change to a client's configuration.

use std::path::Path;

/// A change to the configuration of a client.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Setup {
    /// The client.
    pub client: String,
    /// The file, through links.
    pub file: String,
    /// `nothing`, `added`, `replaced`, `removed` or `removed_other`.
    pub change: String,
    /// Whether it was done, and not only shown.
    pub written: bool,
    /// The difference, as `diff -u` writes it; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl Setup {
    /// Creates the view of a change that is not written yet; `diff` is its unified diff.
    pub fn new(client: &str, file: &Path, change: &str, diff: String) -> Self {
        Self {
            client: client.to_owned(),
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
