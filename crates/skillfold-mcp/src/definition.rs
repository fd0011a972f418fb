//! The tool definitions that clients see: names, descriptions, and input and output schemas.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use skillfold::core::Catalog;
use skillfold::view::{FilePart, InstructionsView};

use crate::answer::{SkillLines, object, schema};

/// The alias of the tool that loads a skill.
pub(crate) const LOAD_ALIAS: &str = "read_skill";

/// Maximum ids listed in a tool's schema.
const MAX_ENUM_IDS: usize = 50;

/// Returns the tools for a snapshot; none if no skill is visible to a model.
pub(crate) fn definitions(catalog: &Catalog, names: &[String; 4]) -> Vec<Tool> {
    let ids: Vec<&str> = catalog
        .visible()
        .map(|entry| entry.id())
        .take(MAX_ENUM_IDS + 1)
        .collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let [list, search, load, read] = names;
    let mut id = json!({ "type": "string", "description": "The id of the skill, as it is listed" });
    if ids.len() <= MAX_ENUM_IDS {
        id["enum"] = json!(ids);
    }
    let any_id = json!({ "type": "string", "description": "The id of the skill" });
    let text = |what: &str| json!({ "type": "string", "description": what });
    vec![
        tool(
            list,
            "List skills",
            "Lists the skills that there are, with what each does.",
            &json!({
                "query": text("What is wanted, in any words: skills that answer it, the best first"),
                "cursor": text("`next` of the answer before, for more"),
            }),
            &[],
            schema::<SkillLines>(),
        ),
        tool(
            search,
            "Search skills",
            "Finds the skills that answer a request, the best first: by their names, descriptions, tags and instructions.",
            &json!({ "query": text("What is wanted, in any words, or as the user said it") }),
            &["query"],
            schema::<SkillLines>(),
        ),
        tool(
            load,
            "Load a skill",
            "Returns the instructions of a skill. Call it before a task that a skill is for, and follow them.",
            &json!({
                "skill_id": id,
                "arguments": text("What the instructions are about, such as a file's name"),
            }),
            &["skill_id"],
            schema::<InstructionsView>(),
        ),
        tool(
            read,
            "Read a file of a skill",
            "Returns a file of a skill that its instructions speak of.",
            &json!({
                "skill_id": any_id,
                "path": text("The path of the file inside the skill, such as `references/forms.md`"),
                "start": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The byte to start at: `next` of the answer before, for the rest of a long file",
                },
            }),
            &["skill_id", "path"],
            schema::<FilePart>(),
        ),
    ]
}

fn tool(
    name: &str,
    title: &str,
    description: &'static str,
    properties: &Value,
    required: &[&str],
    output: JsonObject,
) -> Tool {
    let input = object(json!({
        "type": "object",
        "properties": properties,
        "required": required,
    }));
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .idempotent(true)
        .open_world(false);
    Tool::new(name.to_owned(), description, input)
        .with_title(title)
        .with_raw_output_schema(output.into())
        .with_annotations(annotations)
}
