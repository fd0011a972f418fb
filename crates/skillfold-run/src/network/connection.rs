//! What a run did with the network.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

#[cfg(target_os = "linux")]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of connections of a run that are kept and reported; more are counted.
#[cfg(target_os = "linux")]
const MAX_CONNECTIONS: usize = 1_000;

/// A connection that a run made or tried to make.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// The time from when the program asked for it until it ended or was refused.
    pub duration: Duration,
    /// The host as the program named it; empty if the request was not understood.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address that was connected to, or because of which it was refused.
    pub address: Option<IpAddr>,
    /// Why there was no connection; `None` if there was.
    pub refusal: Option<Refusal>,
    /// Bytes from the run to the host.
    pub sent: u64,
    /// Bytes from the host to the run.
    pub received: u64,
}

/// Why a connection was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// No rule names this host and port.
    NotAllowed,
    /// The name resolves to an address in a private network, and its rule is not private.
    PrivateAddress,
    /// The name resolves to this machine, and its rule does not name this machine.
    ThisMachine,
    /// The name resolves to an address that nothing connects to, such as `0.0.0.0`.
    UnusableAddress,
    /// The name does not resolve.
    NotResolved,
    /// The host did not answer.
    Unreachable,
    /// The program sent something that the proxy does not understand or does not do.
    InvalidRequest,
}

impl Refusal {
    /// Returns the code, such as `not_allowed`, stable across releases.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::PrivateAddress => "private_address",
            Self::ThisMachine => "this_machine",
            Self::UnusableAddress => "unusable_address",
            Self::NotResolved => "not_resolved",
            Self::Unreachable => "unreachable",
            Self::InvalidRequest => "invalid_request",
        }
    }

    /// Returns whether a rule forbids the connection, as opposed to one that failed.
    pub const fn is_forbidden(self) -> bool {
        matches!(
            self,
            Self::NotAllowed | Self::PrivateAddress | Self::ThisMachine | Self::UnusableAddress
        )
    }
}

/// Receives each connection when it ends, and each one that is refused: the first 1,000 of a process.
#[derive(Clone)]
pub struct ConnectionObserver(Arc<Observe>);

type Observe = dyn Fn(&Connection) + Send + Sync;

impl ConnectionObserver {
    /// Creates an observer from a function. It is called from the proxy's threads, several at a time.
    pub fn new(observe: impl Fn(&Connection) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the proxy is on Linux alone")
    )]
    fn observe(&self, connection: &Connection) {
        (self.0)(connection);
    }
}

impl fmt::Debug for ConnectionObserver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ConnectionObserver")
    }
}

/// The connections of a run, up to the limit.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct ConnectionLog {
    kept: Mutex<(Vec<Connection>, u64)>,
    observer: Option<ConnectionObserver>,
}

#[cfg(target_os = "linux")]
impl ConnectionLog {
    pub(crate) fn new(observer: Option<ConnectionObserver>) -> Self {
        Self {
            kept: Mutex::default(),
            observer,
        }
    }

    /// A panic elsewhere cannot corrupt them.
    fn kept(&self) -> MutexGuard<'_, (Vec<Connection>, u64)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, connection: &Connection) {
        let mut kept = self.kept();
        let (connections, left_out) = &mut *kept;
        if connections.len() >= MAX_CONNECTIONS {
            *left_out = left_out.saturating_add(1);
            return;
        }
        connections.push(connection.clone());
        drop(kept);
        if let Some(observer) = &self.observer {
            observer.observe(connection);
        }
    }

    /// Takes the connections, and how many more there were.
    pub(super) fn take(&self) -> (Vec<Connection>, u64) {
        std::mem::take(&mut *self.kept())
    }
}
