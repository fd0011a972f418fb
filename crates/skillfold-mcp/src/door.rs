//! Who is let in by HTTP, and with how much: the token, one `Host`, a body of its size in its time.

use std::cell::Cell;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Frame, SizeHint};
use serde_json::json;
use tokio::time::timeout;

use crate::direct;
use crate::http::Access;
use crate::limits::HttpLimits;
use crate::metrics::add;
use crate::offer::Shared;
use crate::sessions::NO_ROOM;

/// Seconds after which a client for whom there was no room may try again.
const AGAIN: HeaderValue = HeaderValue::from_static("5");

/// What is asked of every request.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) access: Access,
    pub(crate) limits: HttpLimits,
    /// Names that the server answers to.
    pub(crate) hosts: Vec<String>,
    pub(crate) shared: Arc<Shared>,
}

/// Lets a request in that shows the token; nothing of any other is read.
pub(crate) async fn admit(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let response = match door.refusal(&request) {
        Some(refusal) => refusal,
        None => door.within_limits(request, next).await,
    };
    door.shared.metrics.responded(response.status().as_u16());
    response
}

impl Door {
    /// Returns why a request is not let in.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        if let Access::Token(token) = &self.access {
            let is_shown = |shown: &HeaderValue| token.is_shown(shown.as_bytes());
            if !only(headers, &AUTHORIZATION).is_some_and(is_shown) {
                let challenge = HeaderValue::from_static("Bearer realm=\"skillfold\"");
                let mut refusal = refuse(
                    StatusCode::UNAUTHORIZED,
                    "The token is missing or is another; the server said it when it started",
                );
                refusal.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                return Some(refusal);
            }
        }
        // Which of two a proxy in front has looked at, nobody knows.
        let Some(host) = only(headers, &HOST).and_then(authority) else {
            let reason = "The header `Host` is missing, is there twice, or is no host";
            return Some(refuse(StatusCode::BAD_REQUEST, reason));
        };
        let target = request.uri().authority();
        if !self.answers_to(&host) || target.is_some_and(|target| *target != host) {
            let reason = "The server does not answer to this host; `--allow-host` names another";
            return Some(refuse(StatusCode::FORBIDDEN, reason));
        }
        if headers.get_all(ORIGIN).iter().nth(1).is_some() {
            return Some(refuse(StatusCode::FORBIDDEN, "There are two origins"));
        }
        None
    }

    /// Returns whether the server answers to a host, by name or by name and port.
    fn answers_to(&self, host: &Authority) -> bool {
        let bare = |name: &str| name.trim_matches(['[', ']']).to_ascii_lowercase();
        let name = bare(host.host());
        self.hosts.iter().any(|allowed| {
            let allowed = allowed.trim();
            match allowed.parse::<Authority>() {
                Ok(allowed) => {
                    let is_port = |port| host.port_u16() == Some(port);
                    bare(allowed.host()) == name && allowed.port_u16().is_none_or(is_port)
                }
                // An IPv6 address without brackets.
                Err(_) => bare(allowed) == name,
            }
        })
    }

    /// Hands a request on, its body read whole, and waits for the answer, each for its time.
    async fn within_limits(self: &Arc<Self>, request: Request, next: Next) -> Response {
        let in_flight = InFlight::new(&self.shared);
        let is_stream = request.method() == Method::GET;
        let (parts, body) = request.into_parts();
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
        let answer = NO_ROOM.scope(Cell::new(false), async {
            if let Some(answer) = direct::answer(&self.shared, &parts, &body).await {
                return (answer, false);
            }
            let request = Request::from_parts(parts, Body::from(body));
            let answer = next.run(request).await;
            (answer, NO_ROOM.with(Cell::get))
        });
        let Ok((answer, no_room)) = timeout(self.limits.answer, answer).await else {
            return busy("The answer took too long");
        };
        if no_room {
            add(&self.shared.metrics.sessions_refused, 1);
            tracing::warn!(limit = self.limits.sessions, "no room for another session");
            return busy("There are as many sessions as there may be");
        }
        // The SDK says so of what is JSON and is no message too.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return no_message(&sent);
        }
        // A stream that tells of changes has no end.
        if is_stream {
            return answer;
        }
        answer.map(|body| {
            Body::new(Sending {
                body,
                _in_flight: in_flight,
            })
        })
    }
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
        Err(_) => Err(refuse(StatusCode::BAD_REQUEST, "The body is not whole")),
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

/// Returns the host of a header. Names of users have no place in it.
fn authority(header: &HeaderValue) -> Option<Authority> {
    let authority = Authority::try_from(header.as_bytes()).ok()?;
    (!authority.as_str().contains('@')).then_some(authority)
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
        Ok(_) => (-32600, "The body is no message of the protocol".to_owned()),
        Err(error) => (-32700, format!("The body is not JSON: {error}")),
    };
    let message =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": reason } });
    let kind = [(CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, kind, message.to_string()).into_response()
}

/// A request that is being answered, until its answer is sent.
struct InFlight(Arc<Shared>);

impl InFlight {
    fn new(shared: &Arc<Shared>) -> Self {
        add(&shared.metrics.in_flight, 1);
        Self(Arc::clone(shared))
    }
}

/// A body on its way, of the length that it has.
struct Sending {
    body: Body,
    _in_flight: InFlight,
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
