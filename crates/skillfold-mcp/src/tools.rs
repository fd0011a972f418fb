//! The engine's tools and responses as protocol types.

use rmcp::model::{
    CallToolResult, ContentBlock, MetaObject, ResourceContents, Tool, ToolAnnotations,
};
use serde::Serialize;
use serde_json::{Map, Value};
use skillfold::client::OwnList;
use skillfold::{Block, Json, Session, Tool as Kind, ToolAnswer, ToolDefinition};

use crate::metrics::Method;

/// What a client's tool search matches.
const SEARCH_HINT: &str = "skills: instructions for kinds of tasks; find, load and read them";

pub(crate) fn definition(definition: ToolDefinition, structured: bool) -> Tool {
    let runs = matches!(definition.tool, Kind::RunScript | Kind::CallTool);
    // What a script may write and reach depends on what the user granted each skill, and these tools run any of them.
    let annotations = ToolAnnotations::with_title(definition.title)
        .read_only(definition.tool.only_reads())
        .destructive(runs)
        .idempotent(!runs)
        .open_world(runs);
    let tool = Tool::new(
        definition.name,
        definition.description,
        object(value(&definition.input_schema)),
    )
    .with_title(definition.title)
    .with_annotations(annotations);
    if structured {
        tool.with_raw_output_schema(object(value(&definition.tool.output_schema())).into())
    } else {
        tool
    }
}

/// Returns the tools for a client. With `structured`, they have response schemas.
///
/// Some clients defer tools until the model searches for them. They get the search hint and, if there are skills they
/// do not list themselves, a note that the tools to find and load a skill are needed from the start.
pub(crate) fn for_client(session: &Session, list: Option<&OwnList>, structured: bool) -> Vec<Tool> {
    let is_listed = session.is_listed_by(list);
    let tools = session.tools_for(list).into_iter().map(|tool| {
        let mut meta = MetaObject::new();
        meta.insert("anthropic/searchHint".to_owned(), Value::from(SEARCH_HINT));
        if !is_listed && matches!(tool.tool, Kind::Search | Kind::Load) {
            meta.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
        }
        definition(tool, structured).with_meta(meta)
    });
    tools.collect()
}

/// Returns the method that a tool's calls are counted as.
pub(crate) fn method(tool: Kind) -> Method {
    match tool {
        Kind::List => Method::ListSkillsTool,
        Kind::Search => Method::SearchTool,
        Kind::Read => Method::ReadTool,
        Kind::ProposeUpdate | Kind::ProposeNew => Method::ProposeTool,
        Kind::RunScript | Kind::CallTool => Method::RunTool,
        _ => Method::LoadTool,
    }
}

/// Converts a response to the protocol's type. With `structured`, it also has a value for programs.
pub(crate) fn result(answer: &ToolAnswer, structured: bool) -> CallToolResult {
    let content = answer.content.iter().map(block).collect();
    let mut result = if answer.is_error() {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = structured.then(|| value(&answer.to_json()));
    result
}

/// Returns the response to a call for a skill that came with a prompt.
pub(crate) fn result_of_known_skill(answer: &ToolAnswer, tool: &str) -> CallToolResult {
    let id = answer.loaded_id().unwrap_or_default();
    let text = format!(
        "The instructions of `{id}` came with a prompt of this conversation: follow them. If they are gone, call {tool} again."
    );
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn block(block: &Block) -> ContentBlock {
    match block {
        Block::Text(text) => ContentBlock::text(text.as_str()),
        Block::Image { media_type, base64 } => ContentBlock::image(base64.as_str(), *media_type),
        Block::Resource {
            uri,
            media_type,
            base64,
        } => {
            let contents = ResourceContents::blob(base64.as_str(), uri.as_str());
            ContentBlock::resource(contents.with_mime_type(*media_type))
        }
        _ => ContentBlock::text("This part of the answer cannot be sent by this server."),
    }
}

/// Returns the fields of a JSON object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::default(),
    }
}

/// Converts a value to JSON.
pub(crate) fn value(value: &impl Serialize) -> Value {
    // Views consist of strings, numbers and lists of these, which always serialize.
    serde_json::to_value(value).unwrap_or_default()
}

/// Converts a value to the engine's type.
pub(crate) fn json(value: Value) -> Json {
    // Every value is JSON.
    serde_json::from_value(value).unwrap_or_default()
}
