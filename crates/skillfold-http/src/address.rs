//! Addresses that tokens and keys may be sent to.

use ureq::http::Uri;

/// Returns whether what is sent to an address stays private: it is encrypted, or stays on this machine.
pub(crate) fn is_safe(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let is_loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    match uri.scheme_str() {
        Some("https") => !host.is_empty(),
        Some("http") => is_loopback,
        _ => false,
    }
}
