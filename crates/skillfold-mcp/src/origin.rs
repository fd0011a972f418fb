//! Pages of other origins: which may ask, and what their browsers have to be told so that they can.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderName, HeaderValue, ORIGIN, VARY,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;

use crate::host_name::HostName;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const SENT: HeaderValue = HeaderValue::from_static(
    "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
);
const READ: HeaderValue =
    HeaderValue::from_static("MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate");
/// Seconds for which a browser need not ask again.
const AGE: HeaderValue = HeaderValue::from_static("600");
/// Browsers ask so before a page of the internet may reach the loopback.
const ASKS_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins of pages that may ask.
#[derive(Debug)]
pub(crate) struct Origins(Vec<Origin>);

#[derive(Debug)]
struct Origin {
    scheme: String,
    name: String,
    port: Port,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    /// Written `*`.
    Any,
    /// The one of the scheme, where none is written.
    Of(Option<u16>),
}

impl Origins {
    /// Reads origins; the error is the one that is none.
    pub(crate) fn new<'t>(origins: impl IntoIterator<Item = &'t str>) -> Result<Self, &'t str> {
        let read = |text: &'t str| Origin::parse(text.trim()).ok_or(text);
        origins
            .into_iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Adds those of the server itself.
    pub(crate) fn with_own(mut self, port: u16) -> Self {
        let own = ["localhost", "127.0.0.1", "::1"].map(|name| Origin {
            scheme: "http".to_owned(),
            name: name.to_owned(),
            port: Port::Of(Some(port)),
        });
        self.0.extend(own);
        self
    }

    /// Returns the origin of a page that may ask.
    pub(crate) fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = crate::admission::only(headers, &ORIGIN)?;
        let origin = Origin::parse(value.to_str().ok()?)?;
        let allows = |allowed: &Origin| {
            allowed.scheme == origin.scheme
                && allowed.name == origin.name
                && (allowed.port == Port::Any || allowed.port == origin.port)
        };
        // A page has one port.
        let is_page = origin.port != Port::Any;
        (is_page && self.0.iter().any(allows)).then(|| value.clone())
    }
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        if scheme.is_empty() || !scheme.bytes().all(is_plain) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let (rest, is_any) = match rest.strip_suffix(":*") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let host = HostName::parse(rest)?;
        let port = match (is_any, host.port()) {
            (true, Some(_)) => return None,
            (true, None) => Port::Any,
            (false, Some(port)) => Port::Of(Some(port)),
            (false, None) => Port::Of(match &*scheme {
                "http" => Some(80),
                "https" => Some(443),
                _ => None,
            }),
        };
        Some(Self {
            scheme,
            name: host.name().to_owned(),
            port,
        })
    }
}

/// Returns whether a browser asks what a page may do, before the page does it. It sends no token with that.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns what a page may do.
pub(crate) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
    headers.insert(ACCESS_CONTROL_MAX_AGE, AGE);
    if asked.contains_key(ASKS_PRIVATE) {
        headers.insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
    }
    response
}

/// Lets a page of an origin read an answer, whatever it is.
pub(crate) fn open_to(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, READ);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::http::header::{HeaderValue, ORIGIN};

    use super::Origins;

    fn allows(allowed: &str, origin: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        Origins::new([allowed]).unwrap().allowed(&headers).is_some()
    }

    #[test]
    fn origin_is_a_scheme_a_host_and_a_port() {
        let own = "https://app.example";
        assert!(allows(own, "https://app.example"));
        assert!(allows(own, "https://app.example:443"));
        assert!(!allows(own, "https://app.example:444"));
        assert!(!allows(own, "http://app.example:443"));
        assert!(!allows(own, "https://app.example.evil"));
        assert!(allows("http://localhost:*", "http://localhost:3000"));
        assert!(!allows("http://localhost:*", "http://localhost:*"));
        assert!(allows("http://[::1]:1", "http://[::1]:1"));
        assert!(!allows(own, "null"));
    }

    #[test]
    fn what_is_no_origin_is_not_taken() {
        for text in [
            "*",
            "null",
            "app.example",
            "https://",
            "https://a/b",
            "https://*",
            "https://a:1:*",
        ] {
            assert_eq!(Origins::new([text]).unwrap_err(), text);
        }
    }
}
