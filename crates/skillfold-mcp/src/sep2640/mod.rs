//! Skills over MCP, by the extension `io.modelcontextprotocol/skills` (SEP-2640): entries with the frontmatter as it stands
//! and every file with its digest, and folders as resources.

mod directory;
mod entry;

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, CustomResult, ErrorCode, ExtensionCapabilities, ProtocolVersion};
use serde_json::{Map, Value, json};

use crate::answer::object;
use crate::client_view::ServerState;
use crate::page::{TTL_MS, is_cursor};
use crate::resources::unknown;

const ID: &str = "io.modelcontextprotocol/skills";

/// Returns what the server says about the extension.
pub(crate) fn capability() -> ExtensionCapabilities {
    let settings = object(json!({ "directoryRead": true }));
    ExtensionCapabilities::from([(ID.to_owned(), settings)])
}

/// Answers a request of the extension, in the form of a version of the protocol.
pub(crate) fn answer(
    shared: &ServerState,
    request: &CustomRequest,
    version: Option<&ProtocolVersion>,
) -> Result<CustomResult, ErrorData> {
    let params = request.params.as_ref();
    let mut result = match &*request.method {
        "skills/list" => cacheable(entry::list(shared, cursor(params)?)),
        "skills/get" => cacheable(entry::get(shared, uri_of(params)?)?),
        "resources/directory/read" => directory::read(shared, uri_of(params)?, cursor(params)?)?,
        method => {
            let method = method.to_owned();
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
    };
    let is_new =
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if is_new {
        result.insert("resultType".to_owned(), json!("complete"));
    } else {
        // Earlier versions have no such words.
        result.remove("ttlMs");
        result.remove("cacheScope");
    }
    Ok(CustomResult::new(Value::Object(result)))
}

/// Creates the error for a URI that leads to nothing that is served. Why is not said: it may not be for the client to know.
fn unserved(uri: &str) -> ErrorData {
    let unknown = unknown(uri);
    ErrorData::invalid_params(unknown.message, unknown.data)
}

fn cacheable(mut result: Map<String, Value>) -> Map<String, Value> {
    result.insert("ttlMs".to_owned(), json!(TTL_MS));
    result.insert("cacheScope".to_owned(), json!("private"));
    result
}

fn uri_of(params: Option<&Value>) -> Result<&str, ErrorData> {
    let uri = params.and_then(|params| params.get("uri"));
    uri.and_then(Value::as_str)
        .ok_or_else(|| ErrorData::invalid_params("`uri` is not a text", None))
}

fn cursor(params: Option<&Value>) -> Result<Option<&str>, ErrorData> {
    match params.and_then(|params| params.get("cursor")) {
        None => Ok(None),
        Some(Value::String(cursor)) if is_cursor(cursor) => Ok(Some(cursor)),
        Some(_) => Err(ErrorData::invalid_params("`cursor` is not valid", None)),
    }
}
