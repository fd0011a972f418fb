//! What tools answer, and the schemas of it.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};
use skillfold::core::Entry;
use skillfold::core::diagnostic::visible;
use skillfold::view::{Failure, FilePart, InstructionsView, SkillRecord};

use crate::metrics::Outcome;
use crate::remembered::Loaded;

/// Some skills, a line each.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillLines {
    /// The skills.
    pub(crate) skills: Vec<SkillLine>,
    /// How many there are in all.
    pub(crate) total: usize,
    /// What to give as `cursor` for the next ones, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Why there may be more soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'static str>,
}

/// A skill in a line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillLine {
    /// What to load the skill by.
    pub(crate) id: String,
    /// What the skill does and when to use it.
    pub(crate) description: String,
    /// Words that it is found by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
}

impl SkillLine {
    pub(crate) fn new(entry: &Entry<'_>) -> Self {
        let SkillRecord {
            id,
            description,
            tags,
            ..
        } = SkillRecord::listed(entry);
        Self {
            id,
            description,
            tags,
        }
    }
}

impl SkillLines {
    /// Returns the lines as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for skill in &self.skills {
            let description: Vec<_> = skill.description.split_whitespace().collect();
            text.push_str("- ");
            text.push_str(&visible(&skill.id));
            text.push_str(": ");
            text.push_str(&visible(&description.join(" ")));
            text.push('\n');
        }
        let left_out = self.total - self.skills.len();
        match (self.total, left_out) {
            (0, _) => text.push_str("No skill matches.\n"),
            (_, 0) => {}
            (total, _) => {
                let shown = self.skills.len();
                // Writing to a text does not fail.
                let _ = writeln!(text, "{shown} of {total} skills.");
            }
        }
        if let Some(note) = self.note {
            text.push_str(note);
            text.push('\n');
        }
        text
    }
}

/// What a tool answers: text for a model, and the same as a value for a program.
#[derive(Debug)]
pub(crate) struct Answer {
    content: ContentBlock,
    structured: Structured,
    loaded: Option<Loaded>,
}

/// An answer as a value.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Structured {
    Lines(SkillLines),
    Instructions(InstructionsView),
    Part(FilePart),
    /// Why there is no answer, so that a model can act on it.
    Failure(Failure),
}

/// An answer as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    content: [&'a ContentBlock; 1],
    structured_content: &'a Structured,
    is_error: bool,
}

impl Answer {
    pub(crate) fn new(content: ContentBlock, structured: Structured) -> Self {
        Self {
            content,
            structured,
            loaded: None,
        }
    }

    /// Returns why there is no answer.
    pub(crate) fn failure(text: String, failure: Failure) -> Self {
        Self::new(ContentBlock::text(text), Structured::Failure(failure))
    }

    /// Says what was loaded for it.
    pub(crate) fn of(self, loaded: Loaded) -> Self {
        Self {
            loaded: Some(loaded),
            ..self
        }
    }

    /// Returns how it went.
    pub(crate) fn went(&self) -> Outcome {
        match self.structured {
            Structured::Failure(_) => Outcome::Failed,
            _ => Outcome::Ok,
        }
    }

    /// Returns whether the same call gives the same answer while the skills are the same.
    pub(crate) fn is_lasting(&self) -> bool {
        match &self.structured {
            Structured::Lines(lines) => lines.note.is_none(),
            Structured::Instructions(_) => true,
            // A file that was read may be another at any time; to tell takes as much as to read it again.
            Structured::Part(_) | Structured::Failure(_) => false,
        }
    }

    /// Returns what was loaded for it.
    pub(crate) fn loaded(self) -> Option<Loaded> {
        self.loaded
    }

    /// Returns the answer for the SDK.
    pub(crate) fn result(self) -> CallToolResult {
        let structured = value(&self.structured);
        let make = if self.went() == Outcome::Failed {
            CallToolResult::error
        } else {
            CallToolResult::success
        };
        let mut result = make(vec![self.content]);
        result.structured_content = Some(structured);
        result
    }

    /// Returns the answer as JSON, as clients of all versions of the protocol get it.
    pub(crate) fn json(&self) -> Vec<u8> {
        let written = Written {
            content: [&self.content],
            structured_content: &self.structured,
            is_error: self.went() == Outcome::Failed,
        };
        // Everything in an answer is text, numbers and lists of these, which can always be written.
        serde_json::to_vec(&written).unwrap_or_default()
    }
}

/// Returns a value as JSON.
pub(crate) fn value(answer: &impl Serialize) -> Value {
    // Everything in an answer is text, numbers and lists of these, which can always be written.
    serde_json::to_value(answer).unwrap_or_default()
}

/// Returns the schema of an answer, or of why there is none: clients may hold a failure against it too.
pub(crate) fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.into_generator();
    let any = [
        generator.subschema_for::<T>(),
        generator.subschema_for::<Failure>(),
    ];
    let mut schema = json!({ "type": "object", "anyOf": any });
    without_formats(&mut schema);
    object(schema)
}

/// Leaves out the formats of numbers, such as `uint32`: no other language knows them, and clients complain.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // A property of that name is no text.
            if fields.get("format").is_some_and(Value::is_string) {
                fields.remove("format");
            }
            fields.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

/// Returns the fields of a JSON object.
pub(crate) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::default(),
    }
}
