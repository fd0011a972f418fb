//! Plain calls of tools over HTTP, answered without the SDK: it takes more for a request than most answers do.
//!
//! The answer has the same meaning as the SDK's. In a session it comes as JSON, which clients have to take there too, and
//! not as a stream of one event.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use serde_json::Value;

use crate::answer::Answer;
use crate::call::{Call, Within};
use crate::client_view::{ClientView, ServerState};
use crate::conversation::Conversation;
use crate::metrics::{Outcome, add};
use crate::remembered::Remembered;
use crate::request_head::MCP_PATH;
use crate::run_tool::run_tool;
use crate::tools::Tool;

/// Answers a request, if it is a plain call of a tool.
pub(crate) async fn answer(
    shared: &Arc<ServerState>,
    parts: &Parts,
    body: &[u8],
) -> Option<Response> {
    if parts.method != Method::POST || parts.uri.path() != MCP_PATH {
        return None;
    }
    let call = Call::of(&parts.headers, body)?;
    let (start, offer) = (Instant::now(), shared.client_view());
    let tool = Tool::named(&offer, &call.tool)?;
    let conversation = match call.within {
        Within::Session(id) => shared.conversations.get(id)?,
        Within::Nothing => Arc::default(),
    };
    // As text they are a key; equal arguments in another order are the same text.
    let arguments = serde_json::to_string(&call.arguments).ok()?;
    let (mut result, mut went) = (
        again(shared, &offer, &conversation, tool, &arguments),
        Outcome::Ok,
    );
    if result.is_none() {
        let run = run_tool(shared, &conversation, tool, call.arguments);
        let (answer, offer) = run.await.ok()?;
        went = answer.went();
        result = Some(remember(&offer, tool, &arguments, answer));
    }
    shared
        .metrics
        .count_request(tool.asked(), went, start.elapsed());
    Some(written(&call.id, call.within, &result?))
}

/// Returns an answer that was given before, if it would be the same now.
fn again(
    shared: &ServerState,
    offer: &ClientView,
    conversation: &Conversation,
    tool: Tool,
    arguments: &str,
) -> Option<Bytes> {
    let remembered = offer.answers.get(tool, arguments)?;
    if let Some(loaded) = &remembered.loaded {
        if !shared.skills.is_current(&loaded.made_of) {
            return None;
        }
        conversation.record_cached_load(&shared.skills, &offer.policy, loaded);
        add(&shared.metrics.loaded_tokens, loaded.tokens);
    }
    Some(remembered.json.clone())
}

/// Returns an answer as JSON, and remembers it where it can be given again.
fn remember(offer: &ClientView, tool: Tool, arguments: &str, answer: Answer) -> Bytes {
    let json = Bytes::from(answer.json());
    if answer.is_lasting() {
        let remembered = Remembered {
            json: json.clone(),
            loaded: answer.loaded(),
        };
        offer.answers.put(tool, arguments, remembered);
    }
    json
}

/// Returns the response to a call.
fn written(id: &Value, within: Within<'_>, result: &[u8]) -> Response {
    let (id, rest) = (
        id.to_string(),
        result.strip_prefix(b"{").unwrap_or_default(),
    );
    let kind = match within {
        Within::Session(_) => "",
        // Protocols without sessions know results that are not the last.
        Within::Nothing => "\"resultType\":\"complete\",",
    };
    let parts: [&[u8]; 6] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":",
        id.as_bytes(),
        b",\"result\":{",
        kind.as_bytes(),
        rest,
        b"}",
    ];
    let mut response = Response::new(Body::from(parts.concat()));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
