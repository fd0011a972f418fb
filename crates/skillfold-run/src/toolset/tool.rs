//! Tools as every loader gives them.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::RunError;

/// What a toolset says about one of its tools.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name within the toolset. For models it is [qualified](crate::toolset::qualified_name).
    pub name: String,
    /// What the tool does and when to use it, for the model.
    pub description: String,
    /// The JSON schema of the arguments, which are an object.
    pub input_schema: Value,
}

impl ToolSpec {
    /// Creates a description of a tool. [`load_toolset`](crate::toolset::load_toolset) checks it.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
        }
    }

    /// Returns the schema of a tool without arguments.
    pub(crate) fn empty_schema() -> Value {
        serde_json::json!({ "type": "object", "properties": {} })
    }
}

/// What a call of a tool gave.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// A line for people, empty if the tool gives none.
    pub title: String,
    /// What the tool adds for programs, an empty object if nothing.
    pub metadata: Value,
    /// The text for the model.
    pub output: String,
    /// Whether the tool failed; the output says why.
    pub is_error: bool,
}

impl ToolOutput {
    /// Creates the output of a call that succeeded, without title and metadata.
    pub fn new(output: impl Into<String>) -> Self {
        Self {
            title: String::new(),
            metadata: Value::Object(Map::new()),
            output: output.into(),
            is_error: false,
        }
    }

    /// Sets the line for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets what programs get.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        self.metadata = metadata;
        self
    }

    /// Marks the call as failed.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }
}

/// The tools of a loaded toolset.
pub trait Toolset: fmt::Debug + Send {
    /// Returns the tools. They stay the same as long as the toolset is loaded.
    fn tools(&self) -> &[ToolSpec];

    /// Calls a tool and waits for its answer.
    ///
    /// A tool that fails is an answer with [`ToolOutput::is_error`]. An error means that there is no answer: no such tool,
    /// arguments that do not fit, a process that ended or did not answer in time.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, RunError>;
}
