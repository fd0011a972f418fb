//! Limits of an HTTP server.

use std::time::Duration;

/// Limits of an HTTP server, per request and for all clients together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Maximum size of a request body in bytes; a larger one is answered with 413.
    pub body_bytes: usize,
    /// Maximum number of admitted concurrent connections; a request on one more is answered with 503.
    pub connections: usize,
    /// Maximum number of concurrent connections without an accepted request; one more closes the oldest.
    pub unadmitted_connections: usize,
    /// How long a connection may stay open without an accepted request.
    pub admission_timeout: Duration,
    /// Maximum number of concurrent sessions, for clients that use them; one more is answered with 503.
    pub sessions: usize,
    /// How long a session may be idle.
    pub session_idle_timeout: Duration,
    /// How long a connection may take to send the complete headers of its next request.
    pub header_timeout: Duration,
    /// How long a request body may take; after that, 408.
    pub body_timeout: Duration,
    /// How long a response may take to start; after that, 503.
    pub response_timeout: Duration,
    /// How long the response to a tool call may take to start; after that the call is cancelled and answered with 504,
    /// without `Retry-After`: a script may have had an effect.
    pub call_timeout: Duration,
    /// Maximum size of all unsent responses in bytes. A long response beyond that is answered with 503, or its stream
    /// is cut.
    pub response_bytes: usize,
    /// How long a client may take to read 64 KiB of a response before the connection is closed.
    pub write_timeout: Duration,
    /// How long to wait for open responses when the server stops.
    pub shutdown_grace: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            connections: 4096,
            // Clients send their first request right away; these two limits are for those that do not.
            unadmitted_connections: 256,
            admission_timeout: Duration::from_secs(5),
            sessions: 4096,
            // Agents wait for users, and some clients do not reconnect on their own.
            session_idle_timeout: Duration::from_secs(30 * 60),
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(10),
            response_timeout: Duration::from_secs(30),
            // A script runs for at most 60 seconds, and may have to wait for others first.
            call_timeout: Duration::from_secs(5 * 60),
            // The largest responses have about 40 MiB. The process uses more than this: responses being built, and what
            // the C allocator keeps for reuse.
            response_bytes: 96 * 1024 * 1024,
            write_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(3),
        }
    }
}
