//! Checks a toolset's tool definitions, and the arguments of calls.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use skillfold_core::name::ResourcePath;
use skillfold_core::text::{ellipsize, hidden_characters};

use super::tool::{ToolOutput, ToolSpec, Toolset};
use crate::corrections::Corrections;
use crate::error::{RunError, RunErrorKind};

/// Maximum number of tools in a toolset. A model given more chooses badly.
pub(super) const MAX_TOOLS: usize = 256;

/// Maximum length of a tool's name in characters, as in the Model Context Protocol.
const MAX_NAME: usize = 128;

/// Maximum size of a tool's description.
const MAX_DESCRIPTION: usize = 4096;

/// Maximum size of a tool's schema as JSON.
const MAX_SCHEMA: usize = 64 * 1024;

/// A toolset with checked tools, which also checks calls.
#[derive(Debug)]
pub(super) struct Checked(Box<dyn Toolset>);

impl Checked {
    pub(super) fn new(toolset: Box<dyn Toolset>, file: &ResourcePath) -> Result<Self, RunError> {
        check_tools(toolset.tools(), file)?;
        Ok(Self(toolset))
    }
}

impl Toolset for Checked {
    fn tools(&self) -> &[ToolSpec] {
        self.0.tools()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, RunError> {
        let Some(spec) = self.tools().iter().find(|spec| spec.name == tool) else {
            let names: Vec<&str> = self.tools().iter().map(|spec| &*spec.name).collect();
            let message = format!("The toolset has no tool `{}`", ellipsize(tool, MAX_NAME));
            let hint = format!("It has: {}", ellipsize(&names.join(", "), 1000));
            return Err(RunError::new(RunErrorKind::UnknownTool, message, &hint));
        };
        check_arguments(spec, arguments)?;
        self.0.call(tool, arguments)
    }

    fn end(&mut self) -> Corrections {
        self.0.end()
    }
}

/// Refuses a list of tools that breaks a rule: the entire list, since a missing tool would go unnoticed.
pub(super) fn check_tools(tools: &[ToolSpec], file: &ResourcePath) -> Result<(), RunError> {
    let refused = |message: String| {
        let message = format!("Toolset `{file}`: {message}");
        let hint = "Correct the toolset; none of its tools can be used before that";
        Err(RunError::new(RunErrorKind::InvalidToolset, message, hint))
    };
    if tools.len() > MAX_TOOLS {
        return refused(format!("it has more than {MAX_TOOLS} tools"));
    }
    let mut names = BTreeSet::new();
    for ToolSpec {
        name,
        description,
        input_schema,
    } in tools
    {
        let shown = ellipsize(name, MAX_NAME);
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        if !is_name || name.chars().count() > MAX_NAME || hidden_characters(name).next().is_some() {
            return refused(format!(
                "a tool's name has 1 to {MAX_NAME} visible characters and no spaces: `{shown}`"
            ));
        }
        if !names.insert(name) {
            return refused(format!("two tools have the name `{shown}`"));
        }
        let hidden = |(_, c): (usize, char)| !matches!(c, '\n' | '\r' | '\t');
        if description.len() > MAX_DESCRIPTION || hidden_characters(description).any(hidden) {
            return refused(format!(
                "the description of `{shown}` has more than {MAX_DESCRIPTION} bytes, or control or invisible characters"
            ));
        }
        let kind = input_schema.get("type");
        if !input_schema.is_object() || kind.is_some_and(|kind| kind != "object") {
            return refused(format!(
                "the parameters of `{shown}` are not a JSON schema of an object"
            ));
        }
        if input_schema.to_string().len() > MAX_SCHEMA {
            return refused(format!(
                "the parameters of `{shown}` have more than {MAX_SCHEMA} bytes"
            ));
        }
    }
    Ok(())
}

/// Refuses arguments that do not match: a required one is missing, one has the wrong type, or one is unknown and the
/// schema allows no others. Deeper checks are left to the tool.
fn check_arguments(spec: &ToolSpec, arguments: &Value) -> Result<(), RunError> {
    let refused = |message: String| {
        let message = format!("Tool `{}`: {message}", spec.name);
        let hint = "Call it again with arguments that fit its schema";
        Err(RunError::new(RunErrorKind::InvalidArguments, message, hint))
    };
    let Value::Object(arguments) = arguments else {
        return refused("the arguments are not an object".to_owned());
    };
    let schema = &spec.input_schema;
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return refused(format!("the argument `{name}` is missing"));
        }
    }
    let no_properties = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&no_properties);
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && schema.get("patternProperties").is_none();
    for (name, value) in arguments {
        match properties.get(name) {
            Some(property) => {
                if let Some(expected) = wrong_type(property, value) {
                    return refused(format!("the argument `{name}` is not of type {expected}"));
                }
            }
            None if is_closed => {
                let name = ellipsize(name, MAX_NAME);
                return refused(format!("there is no argument `{name}`"));
            }
            None => {}
        }
    }
    Ok(())
}

/// Returns the expected type if a value has another.
fn wrong_type(property: &Value, value: &Value) -> Option<String> {
    let types: Vec<&str> = match property.get("type")? {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let fits = |name: &&str| match *name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    (!types.iter().any(fits)).then(|| types.join(" or "))
}
