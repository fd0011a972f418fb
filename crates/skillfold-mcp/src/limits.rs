//! How much a server over HTTP takes of all clients together.

use std::time::Duration;

/// How much a server over HTTP takes: of a request, and of all clients together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Bytes of a request's body; more is answered with 413.
    pub body_bytes: usize,
    /// Connections at once; one more is answered with 503 and closed.
    pub connections: usize,
    /// Sessions at once, of clients that have them; one more is answered with 503.
    pub sessions: usize,
    /// How long a session lives that nothing is asked in.
    pub session_idle: Duration,
    /// How long a connection waits for the next request, its headers whole.
    pub headers: Duration,
    /// How long the body of a request may take; after it comes 408.
    pub body: Duration,
    /// How long an answer may take until it begins; after it comes 503.
    pub answer: Duration,
    /// How long a client may take nothing of an answer, before the connection is closed.
    pub write: Duration,
    /// How long open answers are waited for when the server stops.
    pub farewell: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            connections: 4096,
            sessions: 4096,
            // Agents wait for people, and some clients do not begin anew by themselves.
            session_idle: Duration::from_secs(30 * 60),
            headers: Duration::from_secs(30),
            body: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            write: Duration::from_secs(30),
            farewell: Duration::from_secs(3),
        }
    }
}
