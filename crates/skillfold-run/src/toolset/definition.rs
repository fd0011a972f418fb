//! Tools defined in a JSON file, each run by one of the skill's scripts.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use skillfold_core::name::ResourcePath;
use skillfold_core::text::last_bytes;

use super::options::{ToolsetLoader, ToolsetOptions};
use super::reference::{ToolsetRef, extension};
use super::tool::{ToolOutput, ToolSpec, Toolset};
use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};
use crate::run::Run;
use crate::scripts::script;
use crate::supervise::{End, Outcome};

/// Maximum size of a definition file.
const MAX_BYTES: usize = 1024 * 1024;

/// Maximum length of the stderr shown for a failed call.
const MAX_ERROR: usize = 4096;

/// The key of the tools if the reference has no name.
const DEFAULT_KEY: &str = "tools";

/// Loads `.json` files.
#[derive(Debug)]
pub(super) struct DefinitionLoader;

impl ToolsetLoader for DefinitionLoader {
    fn takes(&self, _: &SkillCopy, file: &ResourcePath, _: &ToolsetRef) -> bool {
        extension(file) == Some("json")
    }

    fn load(
        &self,
        copy: &Arc<SkillCopy>,
        file: &ResourcePath,
        reference: &ToolsetRef,
        options: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError> {
        let invalid = |message: String| {
            let hint = "Correct the file; each tool has `name`, `description`, `parameters` (a JSON schema) and `script`";
            let message = format!("Tool definitions in `{file}`: {message}");
            RunError::new(RunErrorKind::InvalidToolset, message, hint)
        };
        let bytes = copy.file(file).unwrap_or_default();
        if bytes.len() > MAX_BYTES {
            return Err(invalid(format!("the file has more than {MAX_BYTES} bytes")));
        }
        let mut keys: Map<String, Value> =
            serde_json::from_slice(bytes).map_err(|error| invalid(error.to_string()))?;
        let key = reference.name().unwrap_or(DEFAULT_KEY);
        let tools = keys
            .remove(key)
            .ok_or_else(|| invalid(format!("there is no key `{key}` with a list of tools")))?;
        let definitions: Vec<Definition> = serde_json::from_value(tools)
            .map_err(|error| invalid(format!("under `{key}`: {error}")))?;
        let mut toolset = DefinedToolset {
            copy: Arc::clone(copy),
            options: options.clone(),
            specs: Vec::new(),
            scripts: Vec::new(),
        };
        for definition in definitions {
            let name = definition.name.clone();
            let (spec, script) = definition
                .check(copy)
                .map_err(|error| invalid(format!("tool `{name}`: {error}")))?;
            toolset.specs.push(spec);
            toolset.scripts.push(script);
        }
        Ok(Box::new(toolset))
    }
}

/// A tool as defined in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Definition {
    name: String,
    description: String,
    #[serde(default = "ToolSpec::empty_schema")]
    parameters: Value,
    script: String,
    #[serde(default)]
    arguments: Vec<String>,
}

impl Definition {
    fn check(self, copy: &SkillCopy) -> Result<(ToolSpec, ToolScript), String> {
        let path = self.script.strip_prefix("./").unwrap_or(&self.script);
        let path: ResourcePath = path
            .parse()
            .map_err(|_| format!("`{path}` is not a path inside the skill"))?;
        script(copy, &path).map_err(|error| error.to_string())?;
        let arguments: Vec<Argument> = self
            .arguments
            .into_iter()
            .map(|text| Argument::new(text, &self.parameters))
            .collect::<Result<_, _>>()?;
        let spec = ToolSpec::new(self.name, self.description, self.parameters);
        Ok((spec, ToolScript { path, arguments }))
    }
}

/// What a call to a tool runs.
#[derive(Debug)]
struct ToolScript {
    path: ResourcePath,
    arguments: Vec<Argument>,
}

/// A script's argument.
#[derive(Debug)]
enum Argument {
    Fixed(String),
    /// The value of one of the call's arguments, or its default.
    Field {
        name: String,
        default: Option<Value>,
    },
}

impl Argument {
    /// Parses a word in which `{name}` stands for a value. The value is always present, so that an option never loses
    /// its word: it is required or has a default.
    fn new(text: String, parameters: &Value) -> Result<Self, String> {
        let name = text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let Some(name) = name else {
            return Ok(Self::Fixed(text));
        };
        let Some(property) = parameters.get("properties").and_then(|all| all.get(name)) else {
            return Err(format!("`{text}` is not one of its parameters"));
        };
        let default = property.get("default").cloned();
        let required = parameters.get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|names| names.iter().any(|other| other == name));
        if default.is_none() && !is_required {
            return Err(format!(
                "`{text}` is neither required nor has a default, so it can be missing"
            ));
        }
        Ok(Self::Field {
            name: name.to_owned(),
            default,
        })
    }

    fn text(&self, arguments: &Value) -> String {
        match self {
            Self::Fixed(text) => text.clone(),
            Self::Field { name, default } => match arguments.get(name).or(default.as_ref()) {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => String::new(),
            },
        }
    }
}

#[derive(Debug)]
struct DefinedToolset {
    copy: Arc<SkillCopy>,
    options: ToolsetOptions,
    specs: Vec<ToolSpec>,
    /// In the order of `specs`.
    scripts: Vec<ToolScript>,
}

impl Toolset for DefinedToolset {
    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, RunError> {
        let mut tools = self.specs.iter().zip(&self.scripts);
        let Some((_, script)) = tools.find(|(spec, _)| spec.name == tool) else {
            let message = format!("The toolset has no tool `{tool}`");
            let hint = "Call one of its tools";
            return Err(RunError::new(RunErrorKind::UnknownTool, message, hint));
        };
        let words = script.arguments.iter().map(|word| word.text(arguments));
        let outcome = Run::new(&self.copy, &script.path)
            .with_options(self.options.run().clone())
            .with_arguments(words)
            .with_input(arguments.to_string())
            .run()?;
        if outcome.end == End::Cancelled {
            let message = format!("Tool `{tool}` was cancelled");
            let hint = "Call it again if you still need it";
            let cancelled = RunError::new(RunErrorKind::Cancelled, message, hint);
            return Err(outcome.corrections.added_to(cancelled));
        }
        Ok(output(&outcome).with_corrections(outcome.corrections))
    }
}

/// Returns a script's output: its stdout, or the fields in it if it is an object with `output`.
fn output(outcome: &Outcome) -> ToolOutput {
    let text = outcome.stdout_text();
    if outcome.is_success() {
        return match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) if fields.contains_key("output") => from_fields(fields),
            _ => ToolOutput::new(text),
        };
    }
    let errors = outcome.stderr_text();
    let end = match outcome.end {
        End::Exited(code) => format!("The script ended with code {code}"),
        End::Signalled(signal) => format!("The script was killed by signal {signal}"),
        End::Timeout => "The script ran longer than its time limit and was stopped".to_owned(),
        End::OutputTooLarge => {
            "The script wrote more than its limit and was stopped; this is the start of it"
                .to_owned()
        }
        End::CpuTimeExceeded | End::FileTooLarge | End::Cancelled => {
            format!("The script was stopped: {}", outcome.end.code())
        }
    };
    let parts = [text.trim_end(), last_bytes(&errors, MAX_ERROR).trim(), &end];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    ToolOutput::new(parts.join("\n"))
        .with_metadata(serde_json::json!({ "code": outcome.end.code() }))
        .failed()
}

/// Returns the output of an object with `title`, `metadata` and `output`.
fn from_fields(mut fields: Map<String, Value>) -> ToolOutput {
    let text = |value: Option<Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
    };
    let output =
        ToolOutput::new(text(fields.remove("output"))).with_title(text(fields.remove("title")));
    match fields.remove("metadata") {
        Some(metadata) => output.with_metadata(metadata),
        None => output,
    }
}
