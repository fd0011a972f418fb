//! Tools as returned by every loader.

use std::fmt;

use serde_json::{Map, Value};

use crate::corrections::Corrections;
use crate::error::RunError;

/// A tool's definition.
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
    /// Creates a tool definition. [`load_toolset`](crate::toolset::load_toolset) checks it.
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

    /// Returns the schema for a tool without arguments.
    pub(crate) fn empty_schema() -> Value {
        serde_json::json!({ "type": "object", "properties": {} })
    }
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// A line for users; empty if the tool provides none.
    pub title: String,
    /// Extra data for programs; an empty object if there is none.
    pub metadata: Value,
    /// The text for the model.
    pub output: String,
    /// Whether the tool failed; the output says why.
    pub is_error: bool,
    /// What was put right in the folders that it could write: tell it to the model and the user.
    pub corrections: Corrections,
}

impl ToolOutput {
    /// Creates the output of a successful call, without title and metadata.
    pub fn new(output: impl Into<String>) -> Self {
        Self {
            title: String::new(),
            metadata: Value::Object(Map::new()),
            output: output.into(),
            is_error: false,
            corrections: Corrections::default(),
        }
    }

    /// Sets the line for users.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the data for programs.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        self.metadata = metadata;
        self
    }

    /// Adds what was put right.
    #[must_use]
    pub fn with_corrections(mut self, corrections: Corrections) -> Self {
        self.corrections.extend(corrections);
        self
    }

    /// Marks the call as failed.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }
}

/// A loaded toolset's tools.
pub trait Toolset: fmt::Debug + Send {
    /// Returns the tools. They stay the same while the toolset is loaded.
    fn tools(&self) -> &[ToolSpec];

    /// Calls a tool and waits for its result.
    ///
    /// A failing tool is a result with [`ToolOutput::is_error`]. An error means there is no result: no such tool,
    /// invalid arguments, a process that exited or did not respond in time.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, RunError>;

    /// Ends what the toolset has started, and returns what was put right in the folders that it could write. A toolset
    /// that may write ends with each call too, whose output has the corrections. The next call starts it again.
    fn end(&mut self) -> Corrections {
        Corrections::default()
    }
}
