//! The definitions of the tools that a model sees.

use serde_json::{Value, json};
use skillfold_core::Policy;

use crate::answer::Tool;
use crate::json::Json;

/// A tool, as a model sees it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "ToolView")]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Which tool it is.
    #[serde(skip)]
    pub tool: Tool,
    /// The name that the model calls it by.
    pub name: String,
    /// A title for people.
    #[serde(skip)]
    pub title: &'static str,
    /// What it does and when to call it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Json,
}

/// Returns the definitions of all tools. They are the same for all skills, so that they can stay in a prompt cache, and
/// say what a model must know even if it gets no listing.
pub(super) fn definitions(policy: &Policy) -> Vec<ToolDefinition> {
    let names = &policy.tools;
    let load = policy.style.load_name(names);
    let text = json!({ "type": "string" });
    let described = |what: &str| json!({ "type": "string", "description": what });
    vec![
        definition(
            Tool::Search,
            &names.search,
            "Search skills",
            format!(
                "Finds skills: instructions for kinds of tasks, written by people who know them. Call it before a task \
                 that may have one, even if none is listed; then call `{load}`. Returns at most 5, the best first."
            ),
            json!({ "query": described("The task, in the user's words") }),
            &["query"],
        ),
        definition(
            Tool::Load,
            load,
            "Load a skill",
            "Returns a skill's instructions. Call it before the task that the skill is for, and follow them."
                .to_owned(),
            json!({
                "skill_id": text,
                "arguments": described("What to apply it to, such as a file name"),
            }),
            &["skill_id"],
        ),
        definition(
            Tool::Read,
            &names.read,
            "Read a skill's file",
            "Returns a file that a skill's instructions mention.".to_owned(),
            json!({
                "skill_id": text,
                "path": described("Such as `references/forms.md`"),
                "start": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The byte to start at, to read on in a long file",
                },
            }),
            &["skill_id", "path"],
        ),
        definition(
            Tool::List,
            &names.list,
            "List skills",
            "Lists all skills in pages of 50.".to_owned(),
            json!({
                "query": described("Only skills that match it"),
                "cursor": described("`next` of the previous page"),
            }),
            &[],
        ),
    ]
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the schema is written at the call"
)]
pub(super) fn definition(
    tool: Tool,
    name: &str,
    title: &'static str,
    description: String,
    properties: Value,
    required: &[&str],
) -> ToolDefinition {
    ToolDefinition {
        tool,
        name: name.to_owned(),
        title,
        description,
        input_schema: Json(json!({
            "type": "object",
            "properties": properties,
            "required": required,
        })),
    }
}

#[cfg(feature = "schema")]
impl Tool {
    /// Returns the JSON schema of the tool's [answers as JSON](crate::ToolAnswer::to_json), failures included.
    pub fn output_schema(self) -> Json {
        use crate::answer::SkillLines;
        use skillfold_core::view::{FilePart, InstructionsView};

        match self {
            Self::Search | Self::List => answer_schema::<SkillLines>(),
            Self::Load | Self::LoadAlias => answer_schema::<InstructionsView>(),
            Self::Read => answer_schema::<FilePart>(),
            #[cfg(feature = "store")]
            Self::ProposeUpdate | Self::ProposeNew => {
                answer_schema::<crate::answer::ProposedSkill>()
            }
            #[cfg(feature = "run")]
            Self::RunScript | Self::CallTool => answer_schema::<crate::answer::RunResult>(),
        }
    }
}

#[cfg(feature = "schema")]
fn answer_schema<T: schemars::JsonSchema>() -> Json {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.into_generator();
    let any = [
        generator.subschema_for::<T>(),
        generator.subschema_for::<crate::answer::failure::Failure>(),
    ];
    let mut schema = json!({ "type": "object", "anyOf": any });
    remove_formats(&mut schema);
    Json(schema)
}

/// Removes the formats of numbers, such as `uint32`: no other language knows them, and clients complain.
#[cfg(feature = "schema")]
fn remove_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // A property with this name is an object.
            if fields.get("format").is_some_and(Value::is_string) {
                fields.remove("format");
            }
            fields.values_mut().for_each(remove_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_formats),
        _ => {}
    }
}
