//! What a script or a tool of a skill did, for a program.

/// What a script or a tool of a skill did.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub(crate) struct RunResult {
    /// How it ended: `exited`, `signalled`, `timeout`, `output_too_large`, `cpu_time_exceeded`, `file_too_large` or
    /// `cancelled`; `failed` for a tool that says so.
    pub(crate) result: &'static str,
    /// The exit code, if it ended with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// What it wrote, as the text of the answer has it.
    pub(crate) output: String,
    /// The title that a tool gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// What else a tool gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<serde_json::Value>,
}

impl RunResult {
    /// Returns whether it did not end well by itself.
    pub(crate) fn is_failure(&self) -> bool {
        self.result != "exited" || self.exit_code.is_some_and(|code| code != 0)
    }
}
