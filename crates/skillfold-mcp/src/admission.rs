//! Who is let in by HTTP, and with how much: the token, one `Host`, a body of its size in its time.

use std::borrow::Cow;
use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::client_view::ServerState;
use crate::connections::{ConnectionSlot, ThrottledWarning};
use crate::direct;
use crate::host_name::HostName;
use crate::http::Access;
use crate::limits::HttpLimits;
use crate::listen::HEADER_BYTES;
use crate::metrics::add;
use crate::origin::{Origins, is_preflight, open_to, preflight};
use crate::send_budget::{InFlight, ReadPermit, SendBudget};
use crate::sessions::NO_ROOM;

/// Seconds after which a client for whom there was no room may try again.
const AGAIN: HeaderValue = HeaderValue::from_static("5");

/// Requests for whole files that are answered at once. Each takes several times the size of its file until its answer is
/// counted.
pub(crate) const WHOLE_FILES: usize = 4;

/// What is asked of every request.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) access: Access,
    pub(crate) limits: HttpLimits,
    /// Names that the server answers to.
    pub(crate) hosts: Vec<HostName>,
    /// Pages that it answers to.
    pub(crate) origins: Origins,
    /// What answers may hold until they are sent.
    pub(crate) budget: SendBudget,
    pub(crate) whole_files: Arc<Semaphore>,
    pub(crate) no_session: Arc<ThrottledWarning>,
    pub(crate) too_slow: Arc<ThrottledWarning>,
    pub(crate) shared: Arc<ServerState>,
}

/// Lets a request in that shows the token; nothing of any other is read.
pub(crate) async fn admit(
    State(door): State<Arc<Admission>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = door.origins.allowed(request.headers());
    let mut response = match door.refusal(&request) {
        Some(refusal) => refusal,
        None if is_preflight(request.method(), request.headers()) => preflight(request.headers()),
        None => door.within_limits(request, next).await,
    };
    // A page could not read why it was refused.
    if let Some(origin) = origin {
        open_to(origin, response.headers_mut());
    }
    door.shared.metrics.responded(response.status().as_u16());
    response
}

impl Admission {
    /// Returns why a request is not let in.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        if size(request) > HEADER_BYTES {
            let reason = format!("The headers have more than {HEADER_BYTES} bytes");
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Some(refuse(status, &reason));
        }
        // A browser that asks for a page shows no token, and is told nothing but which headers to send.
        let is_preflight = is_preflight(request.method(), headers);
        if let Access::Token(token) = &self.access
            && !is_preflight
        {
            let is_shown = |shown: &HeaderValue| token.is_shown(shown.as_bytes());
            if !only(headers, &AUTHORIZATION).is_some_and(is_shown) {
                let challenge = HeaderValue::from_static("Bearer realm=\"skillfold\"");
                let mut refusal = refuse(
                    StatusCode::UNAUTHORIZED,
                    "The token is missing or wrong; send `Authorization: Bearer TOKEN` with the token from \
                     `SKILLFOLD_HTTP_TOKEN`, or the one that the server printed at its start if that was not set",
                );
                refusal.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                return Some(refusal);
            }
        }
        // Which of two a proxy in front has looked at, nobody knows.
        let host = only(headers, &HOST).and_then(|host| HostName::parse(host.to_str().ok()?));
        let Some(host) = host else {
            let reason = "The header `Host` is missing, is there twice, or is no host";
            return Some(refuse(StatusCode::BAD_REQUEST, reason));
        };
        let target = request.uri().authority();
        let is_other =
            target.is_some_and(|it| HostName::parse(it.as_str()).as_ref() != Some(&host));
        if is_other || !self.hosts.iter().any(|allowed| allowed.allows(&host)) {
            let reason = "The server does not answer to this host; `--allow-host` names another";
            return Some(refuse(StatusCode::FORBIDDEN, reason));
        }
        if headers.contains_key(ORIGIN) && self.origins.allowed(headers).is_none() {
            let reason = "Pages of this origin may not ask; `--allow-origin` names others that may";
            return Some(refuse(StatusCode::FORBIDDEN, reason));
        }
        let place = request.extensions().get::<Arc<ConnectionSlot>>();
        if !is_preflight && place.is_some_and(|place| !place.let_in()) {
            let mut response = busy("Too many connections");
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
            return Some(response);
        }
        None
    }

    /// Hands a request on, its body read whole, and waits for the answer, each for its time.
    async fn within_limits(self: &Arc<Self>, request: Request, next: Next) -> Response {
        let in_flight = InFlight::new(&self.shared);
        let method = request.method().clone();
        let (mut parts, body) = request.into_parts();
        let is_json = parts
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let body = match timeout(self.limits.body, whole(body, self.limits.body_bytes)).await {
            Ok(Ok(body)) => body,
            Ok(Err(refusal)) => return refusal,
            Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "The body took too long"),
        };
        let sent = body.clone();
        let asked = method_of(&sent);
        let is_whole_file = matches!(asked.as_deref(), Some("resources/read" | "prompts/get"));
        let answer = NO_ROOM.scope(Cell::new(false), async {
            if let Some(answer) = direct::answer(&self.shared, &parts, &body).await {
                return (answer, None, false);
            }
            let mut turn = None;
            // In a session the file is read after the SDK has answered with a stream.
            if is_whole_file && let Some(own) = ReadPermit::wait(&self.whole_files).await {
                parts.extensions.insert(own.clone());
                turn = Some(own);
            }
            let request = Request::from_parts(parts, Body::from(body));
            let answer = next.run(request).await;
            (answer, turn, NO_ROOM.with(Cell::get))
        });
        let Ok((answer, turn, no_room)) = timeout(self.limits.answer, answer).await else {
            return busy("The answer took too long");
        };
        if no_room {
            add(&self.shared.metrics.sessions_refused, 1);
            self.no_session.warn("no room for another session");
            return busy("Too many sessions");
        }
        // The SDK says so of what is JSON and is no message too.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return no_message(&sent);
        }
        // Official clients take 202 for a failure.
        if method == Method::DELETE && answer.status() == StatusCode::ACCEPTED {
            return StatusCode::NO_CONTENT.into_response();
        }
        // A stream that tells of changes has no end; whoever stops the server does not wait for it.
        let is_subscription = asked.as_deref() == Some("subscriptions/listen");
        let is_endless = method == Method::GET || (is_stream(&answer) && is_subscription);
        let in_flight = (!is_endless).then_some(in_flight);
        let (parts, body) = answer.into_parts();
        let Some(body) = self.budget.send(body, turn, in_flight) else {
            self.too_slow
                .warn("an answer was refused, as too much data is queued for slow clients");
            return busy("Too much data is queued for slow clients");
        };
        Response::from_parts(parts, body)
    }
}

/// Returns the bytes of a request before its body, as they came.
fn size(request: &Request) -> usize {
    let target = request
        .uri()
        .path_and_query()
        .map_or(0, |it| it.as_str().len());
    let headers = request.headers().iter();
    let each = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    target + each.sum::<usize>()
}

fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Returns the method of a message.
fn method_of(body: &[u8]) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct MethodOnly<'m> {
        #[serde(borrow)]
        method: Cow<'m, str>,
    }
    let message = serde_json::from_slice::<MethodOnly<'_>>(body).ok()?;
    Some(message.method)
}

/// Returns a body that is not too long, and whole.
async fn whole(body: Body, limit: usize) -> Result<Bytes, Response> {
    let too_long = || {
        let reason = format!("The body has more than {limit} bytes");
        refuse(StatusCode::PAYLOAD_TOO_LARGE, &reason)
    };
    // What says that it is too long is not read at all.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_long());
    }
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_too_long(&*error) => Err(too_long()),
        Err(_) => Err(refuse(StatusCode::BAD_REQUEST, "The body is incomplete")),
    }
}

fn is_too_long(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_too_long)
}

/// Returns the value of a header that is there once.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

fn refuse(status: StatusCode, reason: &str) -> Response {
    tracing::debug!(status = status.as_u16(), reason, "a request was refused");
    (status, format!("{reason}\n")).into_response()
}

fn busy(reason: &str) -> Response {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, reason);
    response.headers_mut().insert(RETRY_AFTER, AGAIN);
    response
}

/// Returns why a body is no message of the protocol.
fn no_message(body: &[u8]) -> Response {
    let (code, reason) = match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Ok(_) => (
            -32600,
            "The body is not a message of the protocol".to_owned(),
        ),
        Err(error) => (-32700, format!("The body is not JSON: {error}")),
    };
    let message =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": reason } });
    let kind = [(CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, kind, message.to_string()).into_response()
}
