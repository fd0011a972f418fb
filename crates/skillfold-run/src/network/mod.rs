//! Network by host: the rules that a user allows, and the proxy that enforces them.
//!
//! A run with [rules](HostRule) has a network namespace with nothing but a loopback. The proxy listens there, runs in the
//! host's process, and speaks HTTP (`CONNECT` and plain requests) and SOCKS5 on one port. It resolves names itself, checks
//! each address, and connects to the addresses that it checked.

mod reach;

mod rule;

mod resolver;

mod connection;

#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
mod gate;

#[cfg(target_os = "linux")]
mod http;

#[cfg(target_os = "linux")]
mod socks;

#[cfg(target_os = "linux")]
mod relay;

#[cfg(target_os = "linux")]
mod proxy;

#[cfg(target_os = "linux")]
pub(crate) use connection::ConnectionLog;
pub use connection::{Connection, ConnectionObserver, Refusal};
#[cfg(target_os = "linux")]
pub(crate) use gate::Gate;
#[cfg(target_os = "linux")]
pub(crate) use proxy::Proxy;
pub use resolver::Resolver;
pub use rule::HostRule;

/// The proxy's port. Each run has its own loopback, so it is always free.
pub(crate) const PROXY_PORT: u16 = 3128;

/// Variables that tell programs to use the proxy, in both spellings: `curl` only reads `http_proxy`.
const PROXY_VARIABLES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Variables that would exempt hosts from the proxy.
const EXEMPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Makes Node read the variables above: since 22.21 and 24.5.
const NODE: &str = "NODE_USE_ENV_PROXY";

/// Returns the environment of a run with rules.
///
/// `ALL_PROXY` is the HTTP proxy too: Python's `httpx` and `requests` fail at the start if it says SOCKS and the package for
/// SOCKS is missing.
pub(crate) fn proxy_environment() -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let proxies = PROXY_VARIABLES.map(|name| (name, &*proxy));
    let exemptions = EXEMPTIONS.map(|name| (name, ""));
    let all = proxies.into_iter().chain(exemptions).chain([(NODE, "1")]);
    all.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Returns whether a variable is one that a run with rules gets from the sandbox.
pub(crate) fn is_proxy_variable(name: &str) -> bool {
    let all = PROXY_VARIABLES.into_iter().chain(EXEMPTIONS).chain([NODE]);
    all.into_iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}
