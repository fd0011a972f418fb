//! Looks up names, outside the sandbox.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

/// Looks up the addresses of the names that a run connects to. By default with the system's resolver.
#[derive(Clone)]
pub struct Resolver(Arc<Lookup>);

type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

impl Resolver {
    /// Creates a resolver from a function. It is called from threads of its own, and may take its time.
    pub fn new(lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the proxy is on Linux alone")
    )]
    pub(crate) fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name)
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(|name| {
            let found = (name, 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Resolver")
    }
}
