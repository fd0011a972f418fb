//! A call of a tool over HTTP that is plain: everything in it is known, and is as the protocol has it.
//!
//! What is not plain is not wrong. The SDK looks at it, and says what is.

use std::borrow::Cow;

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderName, ORIGIN};
use rmcp::model::{ClientCapabilities, JsonObject};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::request_head::single_header;

const METHOD: &str = "tools/call";
/// The versions of the protocol with sessions in which a call of a tool is the same.
const WITH_SESSIONS: [&str; 2] = ["2025-06-18", "2025-11-25"];
const WITHOUT_SESSIONS: &str = "2026-07-28";

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const NAMED_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAMED_TOOL: HeaderName = HeaderName::from_static("mcp-name");

/// A plain call of a tool.
pub(crate) struct Call<'r> {
    /// The request's id: a number or a text.
    pub(crate) id: Value,
    pub(crate) tool: Cow<'r, str>,
    pub(crate) arguments: JsonObject,
    pub(crate) within: Within<'r>,
}

/// What a call is part of.
#[derive(Clone, Copy)]
pub(crate) enum Within<'r> {
    /// A session, by its id.
    Session(&'r str),
    /// Nothing.
    Nothing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'r> {
    jsonrpc: &'r str,
    id: Value,
    method: &'r str,
    #[serde(borrow)]
    params: Params<'r>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'r> {
    #[serde(borrow)]
    name: Cow<'r, str>,
    #[serde(default)]
    arguments: Option<JsonObject>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'r>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta<'r> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'r str,
    #[serde(default, rename = "io.modelcontextprotocol/clientInfo")]
    _info: IgnoredAny,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    _capabilities: ClientCapabilities,
}

impl<'r> Call<'r> {
    /// Reads a request whose `Host` and token are in order; nothing, if it is no plain call of a tool.
    pub(crate) fn of(headers: &'r HeaderMap, body: &'r [u8]) -> Option<Self> {
        let is_from_page = headers.contains_key(ORIGIN);
        let accepted = text(headers, &ACCEPT)?;
        let takes = |kind| accepted.contains(kind);
        let is_json = text(headers, &CONTENT_TYPE)? == "application/json";
        if is_from_page || !is_json || !takes("application/json") || !takes("text/event-stream") {
            return None;
        }
        let message: Message<'r> = serde_json::from_slice(body).ok()?;
        if message.jsonrpc != "2.0" || message.method != METHOD {
            return None;
        }
        let Params {
            name,
            arguments,
            meta,
        } = message.params;
        let is_id = message.id.is_i64() || message.id.is_string();
        Some(Self {
            within: within(headers, &name, meta.as_ref()).filter(|_| is_id)?,
            arguments: arguments.unwrap_or_default(),
            id: message.id,
            tool: name,
        })
    }
}

/// Returns what a call is part of, if headers and body agree on it.
fn within<'r>(headers: &'r HeaderMap, tool: &str, meta: Option<&Meta<'_>>) -> Option<Within<'r>> {
    let version = text(headers, &VERSION)?;
    match meta {
        None if WITH_SESSIONS.contains(&version) => text(headers, &SESSION).map(Within::Session),
        Some(meta) => {
            let is_agreed = version == WITHOUT_SESSIONS
                && meta.version == version
                && !headers.contains_key(SESSION)
                && text(headers, &NAMED_METHOD)? == METHOD
                && text(headers, &NAMED_TOOL)? == tool;
            is_agreed.then_some(Within::Nothing)
        }
        None => None,
    }
}

/// Returns the value of a header that is there once and is text.
fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    single_header(headers, name)?.to_str().ok()
}
