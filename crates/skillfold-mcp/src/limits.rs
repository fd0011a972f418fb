//! Limits of a server over HTTP.

use std::time::Duration;

/// Limits of a server over HTTP, per request and for all clients together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Maximum bytes of a request body; more is answered with 413.
    pub body_bytes: usize,
    /// Maximum concurrent connections of admitted clients; a request on one more is answered with 503.
    pub connections: usize,
    /// Maximum concurrent connections without an accepted request; one more closes the oldest.
    pub strangers: usize,
    /// How long a connection may stay open without an accepted request.
    pub stranger: Duration,
    /// Maximum concurrent sessions, for clients that use them; one more is answered with 503.
    pub sessions: usize,
    /// How long a session may be idle.
    pub session_idle: Duration,
    /// How long a connection may take for the complete headers of the next request.
    pub headers: Duration,
    /// How long the body of a request may take; after that, 408.
    pub body: Duration,
    /// How long a response may take to start; after that, 503.
    pub answer: Duration,
    /// Maximum bytes of all unsent responses. A long response beyond that is answered with 503, or its stream is cut.
    pub answer_bytes: usize,
    /// How long a client may take to read 64 KiB of a response before the connection is closed.
    pub write: Duration,
    /// How long to wait for open responses when the server stops.
    pub farewell: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            connections: 4096,
            // A client sends its first request at once; these two limits are for those that do not.
            strangers: 256,
            stranger: Duration::from_secs(5),
            sessions: 4096,
            // Agents wait for users, and some clients do not reconnect on their own.
            session_idle: Duration::from_secs(30 * 60),
            headers: Duration::from_secs(30),
            body: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            // The largest responses have about 40 MiB.
            answer_bytes: 256 * 1024 * 1024,
            write: Duration::from_secs(30),
            farewell: Duration::from_secs(3),
        }
    }
}
