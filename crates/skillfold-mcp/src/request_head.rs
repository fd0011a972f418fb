//! The head of an HTTP request: its path and headers.

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, HeaderValue};

/// The MCP endpoint's path.
pub(crate) const MCP_PATH: &str = "/mcp";

/// Returns the value of a header that occurs exactly once.
pub(crate) fn single_header<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
