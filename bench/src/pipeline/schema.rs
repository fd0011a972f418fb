//! The JSON schema for every response.

use std::error::Error;

use jsonschema::Validator;
use serde_json::{Value, json};
use skillfold::ToolAnswer;

const SCHEMA: &str = include_str!("../../../docs/schema/view-v2.json");

/// The schema of full responses, and of the parts that tools return.
pub(super) struct Schema {
    view: Validator,
    instructions: Validator,
    file: Validator,
}

impl Schema {
    pub(super) fn new() -> Result<Self, Box<dyn Error>> {
        let schema: Value = serde_json::from_str(SCHEMA)?;
        let part = |name: &str| {
            let part = json!({ "$defs": schema["$defs"], "$ref": format!("#/$defs/{name}") });
            jsonschema::validator_for(&part)
        };
        Ok(Self {
            view: jsonschema::validator_for(&schema)?,
            instructions: part("InstructionsView")?,
            file: part("FilePart")?,
        })
    }

    /// Returns what is wrong with a view.
    pub(super) fn view(&self, json: &str) -> Result<(), String> {
        valid(&self.view, &parsed(json)?)
    }

    /// Returns what is wrong with the response of a tool that loads a skill or reads a file.
    pub(super) fn answer(&self, tool: &str, answer: &ToolAnswer) -> Result<(), String> {
        if answer.is_error() {
            return Ok(());
        }
        match tool {
            "load_skill" => valid(&self.instructions, &parsed(&answer.to_json().to_string())?),
            "read_skill_resource" => valid(&self.file, &parsed(&answer.to_json().to_string())?),
            _ => Ok(()),
        }
    }
}

fn parsed(json: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn valid(schema: &Validator, value: &Value) -> Result<(), String> {
    let wrong = schema.validate(value);
    wrong.map_err(|error| format!("{error} at {}", error.instance_path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_result_field_is_in_the_published_schema() {
        Schema::new().expect("each name is a definition of the schema");
    }
}
