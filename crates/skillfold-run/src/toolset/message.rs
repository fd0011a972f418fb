//! The tool-related messages of the Model Context Protocol.

use serde_json::{Map, Value, json};

use super::tool::{ToolOutput, ToolSpec};

/// The protocol versions this client speaks, newest first. What it uses is the same in all of them.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// `_meta` keys for fields that the protocol lacks.
const TITLE: &str = "skillfold/title";
const METADATA: &str = "skillfold/metadata";

pub(super) fn initialize() -> Value {
    let client = json!({ "name": "skillfold", "version": env!("CARGO_PKG_VERSION") });
    json!({ "protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": client })
}

/// Returns why the client cannot talk to a server, if so.
pub(super) fn unknown_version(result: &Value) -> Option<String> {
    let version = result.get("protocolVersion").and_then(Value::as_str);
    let version = version.unwrap_or_default();
    (!VERSIONS.contains(&version)).then(|| {
        let known = VERSIONS.join(", ");
        format!("it speaks version `{version}` of the protocol; known are {known}")
    })
}

/// Reads a page of tools, and returns the next page's cursor.
pub(super) fn read_tools(
    mut result: Value,
    tools: &mut Vec<ToolSpec>,
) -> Result<Option<String>, String> {
    let Some(Value::Array(listed)) = result.get_mut("tools").map(Value::take) else {
        return Err("its answer to `tools/list` has no list `tools`".to_owned());
    };
    for mut tool in listed {
        let mut text = |key| match tool.get_mut(key).map(Value::take) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (name, description) = (text("name"), text("description"));
        let name = name.ok_or("a tool has no name")?;
        let schema = tool.get_mut("inputSchema").map(Value::take);
        let schema = schema.ok_or_else(|| format!("the tool `{name}` has no `inputSchema`"))?;
        tools.push(ToolSpec::new(name, description.unwrap_or_default(), schema));
    }
    let next = result.get("nextCursor").and_then(Value::as_str);
    Ok(next.map(str::to_owned))
}

/// Reads a call's result.
pub(super) fn read_output(mut result: Value) -> ToolOutput {
    let parts = result.get("content").and_then(Value::as_array);
    let parts: Vec<String> = parts.into_iter().flatten().map(content_text).collect();
    let structured = result.get_mut("structuredContent").map(Value::take);
    let text = match &structured {
        Some(structured) if parts.is_empty() => structured.to_string(),
        _ => parts.join("\n"),
    };
    let mut meta = match result.get_mut("_meta").map(Value::take) {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    let title = meta.remove(TITLE);
    let output = ToolOutput {
        is_error: result.get("isError") == Some(&Value::Bool(true)),
        title: title
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        ..ToolOutput::new(text)
    };
    match meta.remove(METADATA).or(structured) {
        Some(metadata) => output.with_metadata(metadata),
        None => output,
    }
}

/// Returns the text of a content part; other kinds are named.
fn content_text(part: &Value) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let kind = text(part.get("type")).unwrap_or_default();
    let resource = part.get("resource").unwrap_or(part);
    match (kind.as_str(), text(resource.get("text"))) {
        ("text" | "resource", Some(text)) => text,
        ("resource_link", _) => text(part.get("uri")).unwrap_or_default(),
        _ => format!("[left out: content of type `{kind}`]"),
    }
}
