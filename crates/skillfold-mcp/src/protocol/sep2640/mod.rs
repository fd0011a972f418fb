//! The `io.modelcontextprotocol/skills` extension (SEP-2640): skills with verbatim frontmatter and a digest for every
//! file, and folders as resources.

mod not_served;

mod directory;
mod entry;

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, CustomResult, ErrorCode, ExtensionCapabilities, ProtocolVersion};
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::protocol::page::{TTL_MS, is_cursor};
use crate::state::ServerState;
use crate::tools::object;

const EXTENSION_ID: &str = "io.modelcontextprotocol/skills";

/// Returns the server's capability entry for the extension.
pub(crate) fn capability() -> ExtensionCapabilities {
    let settings = object(json!({ "directoryRead": true }));
    ExtensionCapabilities::from([(EXTENSION_ID.to_owned(), settings)])
}

/// Answers an extension request, in the given protocol version's format.
pub(crate) fn answer(
    shared: &ServerState,
    caller: &Caller,
    request: &CustomRequest,
    version: Option<&ProtocolVersion>,
) -> Result<CustomResult, ErrorData> {
    let params = request.params.as_ref();
    let mut result = match &*request.method {
        "skills/list" => with_cache_fields(entry::list(shared, caller, cursor_param(params)?)),
        "skills/get" => with_cache_fields(entry::get(shared, caller, uri_param(params)?)?),
        "resources/directory/read" => {
            directory::read(shared, caller, uri_param(params)?, cursor_param(params)?)?
        }
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
        // Earlier versions do not have these fields.
        result.remove("ttlMs");
        result.remove("cacheScope");
    }
    Ok(CustomResult::new(Value::Object(result)))
}

fn with_cache_fields(mut result: Map<String, Value>) -> Map<String, Value> {
    result.insert("ttlMs".to_owned(), json!(TTL_MS));
    result.insert("cacheScope".to_owned(), json!("private"));
    result
}

fn uri_param(params: Option<&Value>) -> Result<&str, ErrorData> {
    let uri = params.and_then(|params| params.get("uri"));
    uri.and_then(Value::as_str)
        .ok_or_else(|| ErrorData::invalid_params("`uri` is not a string", None))
}

fn cursor_param(params: Option<&Value>) -> Result<Option<&str>, ErrorData> {
    match params.and_then(|params| params.get("cursor")) {
        None => Ok(None),
        Some(Value::String(cursor)) if is_cursor(cursor) => Ok(Some(cursor)),
        Some(_) => Err(ErrorData::invalid_params("`cursor` is not valid", None)),
    }
}
