//! Cross-origin requests: which web pages may send them, and the CORS headers their browsers need.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderName, HeaderValue, ORIGIN, VARY,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;

use crate::http::host_name::HostName;
use crate::request_head::single_header;

const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
);
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate");
/// How long a browser may cache the preflight, in seconds.
const MAX_AGE_SECONDS: HeaderValue = HeaderValue::from_static("600");
/// Browsers send it before a page from the internet may reach the loopback interface.
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// The origins of web pages that may send requests.
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
    /// The given port, or the scheme's default; `None` if the scheme has no default.
    Exact(Option<u16>),
}

impl Origins {
    /// Parses origins. The error is the string that is not an origin.
    pub(crate) fn new<'t>(origins: impl IntoIterator<Item = &'t str>) -> Result<Self, &'t str> {
        let parse = |text: &'t str| Origin::parse(text.trim()).ok_or(text);
        origins
            .into_iter()
            .map(parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Adds the server's own origins.
    pub(crate) fn with_server_origins(mut self, port: u16) -> Self {
        let origins = ["localhost", "127.0.0.1", "::1"].map(|name| Origin {
            scheme: "http".to_owned(),
            name: name.to_owned(),
            port: Port::Exact(Some(port)),
        });
        self.0.extend(origins);
        self
    }

    /// Returns a page's origin if it is allowed.
    pub(crate) fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = single_header(headers, &ORIGIN)?;
        let origin = Origin::parse(value.to_str().ok()?)?;
        let allows = |allowed: &Origin| {
            allowed.scheme == origin.scheme
                && allowed.name == origin.name
                && (allowed.port == Port::Any || allowed.port == origin.port)
        };
        // A page has exactly one port.
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
            (false, Some(port)) => Port::Exact(Some(port)),
            (false, None) => Port::Exact(match &*scheme {
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

/// Returns whether a request is a CORS preflight. Browsers send no token with it.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the response to a preflight.
pub(crate) fn preflight(request: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
    if request.contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}

/// Lets a page with this origin read the response, whatever its status.
pub(crate) fn allow_origin(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
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
    fn invalid_origin_is_rejected() {
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
