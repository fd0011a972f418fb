//! Decides which HTTP requests are accepted: checks who asks, the `Host`, and the body's size and time.

use std::borrow::Cow;
use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, ORIGIN, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::json;
use skillfold_http::{Denied, Identities, Identity, TokenScope, TokenScopes};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::http::access::HttpAccess;
use crate::http::connections::{ConnectionSlot, ThrottledWarning};
use crate::http::host_name::HostName;
use crate::http::limits::HttpLimits;
use crate::http::listen::MAX_HEADER_BYTES;
use crate::http::origin::{Origins, allow_origin, is_preflight, preflight};
use crate::http::send_budget::{InFlight, SendBudget};
use crate::http::sessions::{Full, STARTING, Sessions, Starting};
use crate::metrics::add;
use crate::read_permit::ReadPermit;
use crate::request_head::single_header;
use crate::state::ServerState;

/// Seconds after which a refused client may retry.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// How long to wait before asking for another session.
const SESSION_WAIT: Duration = Duration::from_secs(5);

/// Names the session of a request.
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A client that retries automatically would repeat what the call has done.
const ENDED_CALL: &str = "The call took too long and was stopped; a script may have had an effect, so check before you call again";

/// The checks on every request.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) access: HttpAccess,
    pub(crate) limits: HttpLimits,
    /// Host names the server answers to.
    pub(crate) hosts: Vec<HostName>,
    /// Origins of web pages that may send requests.
    pub(crate) origins: Origins,
    /// Limits the bytes of unsent responses.
    pub(crate) budget: SendBudget,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) file_permits: Arc<Semaphore>,
    pub(crate) session_warning: Arc<ThrottledWarning>,
    pub(crate) slow_clients_warning: Arc<ThrottledWarning>,
    pub(crate) shared: Arc<ServerState>,
}

/// Accepts a request with a valid token. Reads only the head of any other.
pub(crate) async fn admit(
    State(admission): State<Arc<Admission>>,
    mut request: Request,
    next: Next,
) -> Response {
    let origin = admission.origins.allowed(request.headers());
    let mut response = match admission.refusal(&mut request).await {
        Some(refusal) => refusal,
        None if is_preflight(request.method(), request.headers()) => preflight(request.headers()),
        None => admission.handle_within_limits(request, next).await,
    };
    // Without these headers a web page could not read why it was refused.
    if let Some(origin) = origin {
        allow_origin(origin, response.headers_mut());
    }
    admission
        .shared
        .metrics
        .count_response(response.status().as_u16());
    response
}

impl Admission {
    /// Returns the error response for a request that is not accepted. Writes into one that is who sent it.
    async fn refusal(&self, request: &mut Request) -> Option<Response> {
        if head_bytes(request) > MAX_HEADER_BYTES {
            let reason = format!("The headers have more than {MAX_HEADER_BYTES} bytes");
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Some(refuse(status, &reason));
        }
        // A browser sends its preflight without the token, and the response only names the headers to send.
        let is_preflight = is_preflight(request.method(), request.headers());
        if !is_preflight {
            match self.identify(request.headers()).await {
                Ok(Some(identity)) => drop(request.extensions_mut().insert(identity)),
                Ok(None) => {}
                Err(refusal) => return Some(refusal),
            }
        }
        let headers = request.headers();
        // With two values, we cannot know which one a proxy in front checked.
        let host =
            single_header(headers, &HOST).and_then(|host| HostName::parse(host.to_str().ok()?));
        let Some(host) = host else {
            let reason = "The header `Host` is missing, appears twice, or is no host";
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
        let slot = request.extensions().get::<Arc<ConnectionSlot>>();
        if !is_preflight && slot.is_some_and(|slot| !slot.admit()) {
            let mut response = busy("Too many connections");
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
            return Some(response);
        }
        None
    }

    /// Returns who sends a request, if the server knows its users, or the error response.
    async fn identify(&self, headers: &HeaderMap) -> Result<Option<Arc<Identity>>, Response> {
        let header = single_header(headers, &AUTHORIZATION).map(HeaderValue::as_bytes);
        match &self.access {
            HttpAccess::Open => Ok(None),
            HttpAccess::Token(token) if header.is_some_and(|it| token.matches_header(it)) => {
                Ok(None)
            }
            HttpAccess::Token(_) => Err(challenge(
                StatusCode::UNAUTHORIZED,
                "The token is missing or wrong; send `Authorization: Bearer TOKEN` with the token from \
                 `SKILLFOLD_HTTP_TOKEN`, or the one that the server printed at its start if that was not set",
                "Bearer realm=\"skillfold\"",
            )),
            HttpAccess::Identities(identities) => {
                let read = TokenScopes::default().with(TokenScope::Read);
                let identity = match identities.identify(header).await {
                    Ok(identity) => identity,
                    Err(denied) => return Err(self.deny(identities, denied, read)),
                };
                match identities.count(&identity) {
                    Ok(()) => Ok(Some(identity)),
                    Err(wait) => Err(too_many("You send too many requests", wait)),
                }
            }
        }
    }

    /// Returns the error response for a request whose token is not accepted, or does not have these scopes.
    fn deny(&self, identities: &Identities, denied: Denied, scopes: TokenScopes) -> Response {
        self.shared.metrics.count_denied(denied);
        let status = match denied {
            Denied::Scope | Denied::NoRole => StatusCode::FORBIDDEN,
            Denied::Unavailable => return busy("The identity provider does not answer"),
            _ => StatusCode::UNAUTHORIZED,
        };
        challenge(
            status,
            &denied.to_string(),
            &identities.challenge(denied, scopes),
        )
    }

    /// Returns the error response for a call that the token may not be used for.
    fn scope_refusal(&self, call: &RpcCall<'_>, identity: Option<&Identity>) -> Option<Response> {
        let (HttpAccess::Identities(identities), Some(identity)) = (&self.access, identity) else {
            return None;
        };
        let scope = call.tool().map(|tool| self.shared.scope_of(tool))?;
        let lacks = !identity.scopes().has(scope);
        lacks.then(|| self.deny(identities, Denied::Scope, identity.scopes().with(scope)))
    }

    /// Returns the error response for a request in a session of somebody else.
    fn session_refusal(&self, headers: &HeaderMap, caller: Option<&Identity>) -> Option<Response> {
        let ids = headers.get_all(SESSION_ID).iter();
        let ids = ids.map(|id| std::str::from_utf8(id.as_bytes()).unwrap_or_default());
        let mut others = ids.filter(|id| self.sessions.is_of_another(id, caller));
        let refused = || refuse(StatusCode::NOT_FOUND, "There is no such session");
        others.next().map(|_| refused())
    }

    /// Reads the full body, passes the request on and waits for the response, each with its timeout.
    async fn handle_within_limits(self: &Arc<Self>, request: Request, next: Next) -> Response {
        let in_flight = InFlight::new(&self.shared);
        let method = request.method().clone();
        let (mut parts, body) = request.into_parts();
        let is_json = parts
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let body = match timeout(
            self.limits.body_timeout,
            read_body(body, self.limits.body_bytes),
        )
        .await
        {
            Ok(Ok(body)) => body,
            Ok(Err(refusal)) => return refusal,
            Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "The body took too long"),
        };
        let raw_body = body.clone();
        let call = RpcCall::parse(&raw_body).unwrap_or_default();
        let identity = parts.extensions.get::<Arc<Identity>>().cloned();
        if let Some(refusal) = self.scope_refusal(&call, identity.as_deref()) {
            return refusal;
        }
        if let Some(refusal) = self.session_refusal(&parts.headers, identity.as_deref()) {
            return refusal;
        }
        let is_whole_file = matches!(&*call.method, "resources/read" | "prompts/get");
        let starting = Starting {
            owner: identity,
            full: Cell::default(),
        };
        let response = STARTING.scope(starting, async {
            let mut permit = None;
            // In a session the file is read after the SDK has answered with a stream.
            if is_whole_file && let Some(acquired) = ReadPermit::acquire(&self.file_permits).await {
                parts.extensions.insert(acquired.clone());
                permit = Some(acquired);
            }
            let request = Request::from_parts(parts, Body::from(body));
            let response = next.run(request).await;
            (response, permit, STARTING.with(|it| it.full.get()))
        });
        let is_call = call.method == "tools/call";
        let patience = if is_call {
            self.limits.call_timeout
        } else {
            self.limits.response_timeout
        };
        let Ok((response, permit, full)) = timeout(patience, response).await else {
            return if is_call {
                refuse(StatusCode::GATEWAY_TIMEOUT, ENDED_CALL)
            } else {
                busy("The answer took too long")
            };
        };
        if let Some(full) = full {
            add(&self.shared.metrics.sessions_refused, 1);
            self.session_warning.warn("no room for another session");
            return full.response();
        }
        // The SDK also answers 415 for JSON that is not a valid message.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return invalid_message(&raw_body);
        }
        // Official clients treat 202 as a failure.
        if method == Method::DELETE && response.status() == StatusCode::ACCEPTED {
            return StatusCode::NO_CONTENT.into_response();
        }
        // A stream of change notifications never ends, so shutdown does not wait for it.
        let is_subscription = call.method == "subscriptions/listen";
        let is_endless = method == Method::GET || (is_stream(&response) && is_subscription);
        let in_flight = (!is_endless).then_some(in_flight);
        let (parts, body) = response.into_parts();
        let Some(body) = self.budget.track(body, permit, in_flight) else {
            self.slow_clients_warning
                .warn("an answer was refused, as too much data is queued for slow clients");
            return busy("Too much data is queued for slow clients");
        };
        Response::from_parts(parts, body)
    }
}

impl Full {
    fn response(self) -> Response {
        match self {
            Self::Server => busy("Too many sessions"),
            Self::Identity => too_many("You have too many sessions; end some", SESSION_WAIT),
        }
    }
}

/// Returns the size in bytes of a request before its body, as it arrived.
fn head_bytes(request: &Request) -> usize {
    let target = request
        .uri()
        .path_and_query()
        .map_or(0, |it| it.as_str().len());
    let headers = request.headers().iter();
    let sizes = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    target + sizes.sum::<usize>()
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The method of a JSON-RPC message, and the tool that it calls.
#[derive(Default, serde::Deserialize)]
struct RpcCall<'m> {
    #[serde(borrow)]
    method: Cow<'m, str>,
    #[serde(borrow, default)]
    params: Option<RpcParams<'m>>,
}

#[derive(serde::Deserialize)]
struct RpcParams<'m> {
    #[serde(borrow, default)]
    name: Option<Cow<'m, str>>,
}

impl<'m> RpcCall<'m> {
    fn parse(body: &'m [u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// Returns the name of the tool that it calls.
    fn tool(&self) -> Option<&str> {
        let is_call = self.method == "tools/call";
        let params = self.params.as_ref().filter(|_| is_call)?;
        Some(params.name.as_deref().unwrap_or_default())
    }
}

/// Returns the full body, unless it exceeds `limit` bytes.
async fn read_body(body: Body, limit: usize) -> Result<Bytes, Response> {
    let too_long = || {
        let reason = format!("The body has more than {limit} bytes");
        refuse(StatusCode::PAYLOAD_TOO_LARGE, &reason)
    };
    // A body that declares too large a size is not read at all.
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

fn refuse(status: StatusCode, reason: &str) -> Response {
    tracing::debug!(status = status.as_u16(), reason, "a request was refused");
    (status, format!("{reason}\n")).into_response()
}

/// Refuses a request, and says which token would be accepted.
fn challenge(status: StatusCode, reason: &str, challenge: &str) -> Response {
    let mut response = refuse(status, reason);
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

fn busy(reason: &str) -> Response {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, reason);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
    response
}

/// Refuses what is too much for one identity, for a while.
fn too_many(reason: &str, wait: Duration) -> Response {
    let mut response = refuse(StatusCode::TOO_MANY_REQUESTS, reason);
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Explains why a body is not a valid JSON-RPC message.
fn invalid_message(body: &[u8]) -> Response {
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
